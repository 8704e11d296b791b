//! Learning rates that a schedule draws: `LearningRateScheduler(lambda epoch: 0.01 * random.uniform(0.5, 1.5))`.

use super::super::data::draws::drawn_in;
use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::CallId;

/// The callback that asks a function for the rate.
const SCHEDULER: &str = "tensorflow.keras.callbacks.LearningRateScheduler";

/// The draws of such functions.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let scheduler = facts.library.lookup(SCHEDULER);
    let is_scheduler =
        |&(file, call): &(FileId, CallId)| facts.called_symbols(file, call).any(|own| Some(own) == scheduler);
    let asked = job.calls().filter(is_scheduler).flat_map(|(file, call)| facts.called_functions(file, call));
    let step = |(file, call): (FileId, CallId)| {
        let finding = obstacle(rule, job.at_call(file, call), "each rank draws a learning rate by itself")
            .help("draw it with a constant seed")
            .in_scope(job.scope_of(file, call));
        Step::blocked(finding, "Each rank would make another step, and the ranks drift apart.")
    };
    drawn_in(job, asked.map(|own| facts.code_of(own)).collect()).into_iter().map(step).collect()
}
