//! Checkpoints are saved by one rank, and the callbacks that write files belong to one rank.
//!
//! The seed's rule for `checkpoint.save` (section 2.4). Where the path of the checkpoint is used later, the other
//! ranks get `None`.

use super::distribution_rule;
use super::job::Job;
use super::output::evaluation_callbacks;
use super::output::guarded;
use super::output::inputs::{arguments, loads};
use super::output::writes::{self, Run, Sort};
use super::output::writing_callbacks;
use super::session;
use super::step::Step;
use crate::api::Kind;
use crate::finding::Finding;
use crate::program::Place;
use crate::project::FileId;
use crate::semantic::{CallId, Value};

distribution_rule!("HVD209", "checkpoint-on-every-rank", steps);

fn steps(job: &Job<'_>) -> Vec<Step> {
    let runs = writes::runs(job).into_iter().filter(|run| run.sort == Sort::Checkpoint);
    let step = |run: Run| {
        let finding = finding(job, &run);
        match run.calls.iter().find_map(|&call| loaded_by_manager(job, run.file, call)) {
            Some((file, load)) => {
                let finding = finding.label(job.at_call(file, load), "each rank asks its own manager");
                Some(Step::blocked(finding, OF_RANK_0))
            }
            None => guarded(job, &run, finding),
        }
    };
    let mut found: Vec<Step> = runs.filter_map(step).collect();
    found.extend(writing_callbacks::steps(job, &RULE.rule));
    found.extend(evaluation_callbacks::steps(job, &RULE.rule));
    found.extend(session::folders(job, &RULE.rule));
    found.extend(session::writing_hooks(job, &RULE.rule));
    found
}

/// Why what a manager has saved can't be loaded by all.
const OF_RANK_0: &str = "Rank 0 alone saves, and the managers of the other ranks don't know what: load from \
                         `tf.train.latest_checkpoint(folder)`.";

/// The call that loads, later, what a manager says that it has saved: `restore(manager.latest_checkpoint)`.
fn loaded_by_manager(job: &Job<'_>, file: FileId, save: CallId) -> Option<(FileId, CallId)> {
    let facts = job.facts;
    let receiver = facts.receiver(file, facts.module(file).call(save))?;
    let managers = facts.of_kind(file, receiver, Kind::CheckpointManager);
    let is_asked = |(file, value): Place| match facts.module(file).value(value).value {
        Value::Attribute { base, .. } => {
            facts.of_kind(file, base, Kind::CheckpointManager).iter().any(|own| managers.contains(own))
        }
        _ => false,
    };
    let is_later = |&load: &(FileId, CallId)| facts.may_follow(job.program, (file, save), load);
    let asks = |&(file, call): &(FileId, CallId)| {
        let module = facts.module(file);
        let mut given = arguments(job, file, call);
        // `manager.restore_or_initialize()`
        given.push((file, module.call(call).callee));
        facts.influence().backwards(&given, is_asked).into_iter().any(is_asked)
    };
    let mut loads = job.calls().filter(|&(file, call)| loads(job, file, call));
    if managers.is_empty() { None } else { loads.find(|load| asks(load) && is_later(load)) }
}

fn finding(job: &Job<'_>, run: &Run) -> Finding {
    Step::missing(&RULE.rule, job.at_call(run.file, run.calls[0]), "every rank saves the same checkpoint")
        .here("saved by each rank")
        .help("let rank 0 save it: `if hvd.rank() == 0:`")
        .in_scope(job.scope_of(run.file, run.calls[0]))
}
