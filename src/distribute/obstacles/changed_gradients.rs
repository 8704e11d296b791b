//! Gradients that a `train_step` changes by the rank's own loss behind the tape, which averages them: `gradients = [own * scale for own
//! in gradients]` with `scale = tf.where(loss < limit, 1.0, 0.0)`.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::step::Step;
use super::alike::is_common;
use super::obstacle;
use crate::finding::Rule;
use crate::program::{Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::CallId;

/// The first steps that apply such gradients.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let changed = job.program.steps_of_fit.iter().filter_map(|own| changed(job, own));
    let step = |(file, call): (FileId, CallId)| {
        let message = "gradients are changed by this rank's own results behind their average";
        let finding = obstacle(rule, job.at_call(file, call), message)
            .help("decide by what is equal on all ranks: `hvd.allreduce(loss)`")
            .in_scope(job.scope_of(file, call));
        Step::blocked(finding, "Each rank would make another step, and the ranks drift apart.")
    };
    changed.map(step).collect()
}

/// The first step of a model that gets gradients into which something else of the batch than they themselves has gone.
fn changed(job: &Job<'_>, own: &TrainingLoop) -> Option<(FileId, CallId)> {
    let facts = job.facts;
    let gradients: FxHashSet<Place> =
        own.gradients.iter().map(|&(file, call)| (file, facts.module(file).call(call).result)).collect();
    let losses: Vec<Place> = losses(job, own).collect();
    let ends = |place: Place| gradients.contains(&place) || is_common(job, place);
    let mut made = facts.influence().forwards(&losses, ends);
    made.retain(|place| !ends(*place));
    own.steps.iter().copied().find(|&(file, call)| {
        facts.module(file).call(call).arguments.iter().any(|own| made.contains(&(file, own.value)))
    })
}

/// The losses of which the tapes of a loop take gradients.
pub(super) fn losses<'j>(job: &'j Job<'_>, own: &'j TrainingLoop) -> impl Iterator<Item = Place> + 'j {
    let facts = job.facts;
    own.gradients.iter().filter_map(move |&(file, call)| {
        let data = facts.module(file).call(call);
        let target = facts.called_symbols(file, call).find_map(|own| facts.argument(file, data, own, TARGET));
        Some((file, target?.value))
    })
}

/// The parameter of a tape's `gradient` for the loss.
const TARGET: &str = "target";
