//! `dataset.shard(n, rank)` as a statement of its own: a dataset is not changed, and the part is lost.

use super::super::job::Job;
use super::super::step::{Outcome, Step};
use crate::api::Effect;
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::{CallId, Role};

/// The parts that a program takes of its data and does not use.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    job.calls().filter(|&own| is_lost(job, own)).map(|own| told(job, rule, own)).collect()
}

fn is_lost(job: &Job<'_>, (file, id): (FileId, CallId)) -> bool {
    let is_statement = job.facts.module(file).call(id).role == Role::Statement;
    is_statement && job.facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::Shards))
}

fn told(job: &Job<'_>, rule: &'static Rule, (file, id): (FileId, CallId)) -> Step {
    let finding =
        Step::missing(rule, job.at_call(file, id), "the part that each rank takes of the data is not used")
            .here("returns another dataset, and leaves this one as it is")
            .help("keep what it returns: `dataset = dataset.shard(..)`")
            .in_scope(job.scope_of(file, id));
    Step { finding, outcome: Outcome::ByHand, everywhere: Vec::new() }
}
