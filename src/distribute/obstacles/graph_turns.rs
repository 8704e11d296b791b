//! Steps that the graph makes as a tensor says: `tf.while_loop(lambda loss: loss > 0.1, step, [loss])`, `tf.cond(loss > 0.1, step,
//! skip)`. How many turns each rank makes of such a loop can't be seen.

use super::super::job::Job;
use super::super::step::Step;
use super::choices::rests_on_own_results;
use super::obstacle;
use crate::api::Symbol;
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::CallId;

/// The functions that make loops.
const LOOPS: [&str; 3] =
    ["tensorflow.while_loop", "tensorflow.compat.v1.while_loop", "tensorflow.keras.ops.while_loop"];

/// The functions that call one of several, as their first argument says.
const CHOICES: [&str; 6] = [
    "tensorflow.case",
    "tensorflow.cond",
    "tensorflow.switch_case",
    "tensorflow.compat.v1.case",
    "tensorflow.compat.v1.cond",
    "tensorflow.keras.ops.cond",
];

/// The calls by which the graph decides about steps.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let library = job.facts.library;
    let loops: Vec<&Symbol> = LOOPS.iter().filter_map(|name| library.lookup(name)).collect();
    let choices: Vec<&Symbol> = CHOICES.iter().filter_map(|name| library.lookup(name)).collect();
    let is_one =
        |file, call, of: &[&Symbol]| job.facts.called_symbols(file, call).any(|own| of.contains(&own));
    let decides = |&(file, call): &(FileId, CallId)| {
        is_one(file, call, &loops) || is_one(file, call, &choices) && is_own_choice(job, file, call)
    };
    let made = job.calls().filter(decides).filter(|&(file, call)| job.comes_to_step(file, call));
    let step = |(file, call)| {
        let message = "the graph decides how many steps each rank makes";
        let finding = obstacle(rule, job.at_call(file, call), message)
            .help("make them in a loop of Python, or decide by something that is equal on all ranks")
            .in_scope(job.scope_of(file, call));
        let reason =
            "It can't be seen that all ranks make as many: else they would wait for each other for ever.";
        Step::blocked(finding, reason)
    };
    made.map(step).collect()
}

fn is_own_choice(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let condition = job.facts.module(file).call(call).arguments.first();
    condition.is_some_and(|own| rests_on_own_results(job, (file, own.value)))
}
