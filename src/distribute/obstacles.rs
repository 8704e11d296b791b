//! What keeps a program from being distributed, whatever is done about its steps: the ranks would make different
//! numbers of steps and wait for each other, or another library distributes it already.

mod active_runs;
pub(super) mod alike;
mod batch_states;
mod changed_gradients;
pub(super) mod choices;
mod chosen_forms;
mod converted_steps;
pub(super) mod counted;
mod cut_short;
mod dataset_lengths;
mod drawn_columns;
mod drawn_constants;
mod drawn_rates;
mod ended_kernels;
mod file_waits;
mod form_questions;
mod graph_draws;
mod graph_states;
mod graph_turns;
pub(super) mod handlers;
mod hidden_members;
mod later_layers;
pub(super) mod layer_code;
mod lookups;
mod loss_terms;
mod new_keras;
pub(super) mod old_graphs;
pub(super) mod old_keras;
mod other_backends;
mod other_fits;
mod own_databases;
pub(super) mod own_lengths;
mod own_processes;
pub(super) mod own_results;
mod own_updates;
mod raised;
mod serving;
mod session_choices;
mod set_between_steps;
mod set_weights;
mod step_threads;
mod survived_errors;
pub(super) mod traced_choices;
mod typed_input;
mod unseen_training;
mod untrained_models;

use rustc_hash::FxHashSet;

use super::data::draws::draws_unseeded;
use super::job::Job;
use super::session::decisions::decisions;
use super::session::raced_steps;
use super::step::Step;
use crate::api::{Effect, Kind};
use crate::finding::{Confidence, Finding, Location, Rule};
use crate::program::{Caller, Literal, Object, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, Branch, BranchKind, CallId, Value, ValueId};
use choices::{is_chosen, rests_on_own_results};
use counted::is_range;
use own_lengths::is_as_long_as_own_results;

/// The obstacles of a program that is not distributed yet.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if job.program.already_distributed {
        return Vec::new();
    }
    let mut found = strategies(job, rule);
    found.extend(compiled_by_xla(job, rule));
    found.extend(new_keras::steps(job, rule));
    found.extend(other_backends::steps(job, rule));
    found.extend(converted_steps::steps(job, rule));
    found.extend(ended_kernels::steps(job, rule));
    found.extend(dataset_lengths::steps(job, rule));
    found.extend(ends_by_own_data(job, rule));
    found.extend(raced_steps::steps(job, rule));
    found.extend(raised::steps(job, rule));
    found.extend(survived_errors::steps(job, rule));
    found.extend(cut_short::steps(job, rule));
    let chosen = chosen_forms::steps(job, rule);
    // Who leaves a layer out leaves its term out of the loss.
    if chosen.is_empty() {
        found.extend(loss_terms::steps(job, rule));
    }
    found.extend(chosen);
    found.extend(drawn_columns::steps(job, rule));
    found.extend(drawn_constants::steps(job, rule));
    found.extend(drawn_rates::steps(job, rule));
    found.extend(traced_choices::steps(job, rule));
    found.extend(batch_states::steps(job, rule));
    found.extend(changed_gradients::steps(job, rule));
    found.extend(lookups::steps(job, rule));
    found.extend(set_weights::steps(job, rule));
    found.extend(old_graphs::steps(job, rule));
    found.extend(old_keras::steps(job, rule));
    found.extend(unseen_training::steps(job, rule));
    found.extend(trains_by_itself(job, rule));
    found.extend(hidden_members::steps(job, rule));
    found.extend(session_choices::steps(job, rule));
    found.extend(graph_draws::steps(job, rule));
    found.extend(graph_states::steps(job, rule));
    found.extend(step_threads::steps(job, rule));
    found.extend(own_processes::steps(job, rule));
    found.extend(serving::steps(job, rule));
    found.extend(other_fits::steps(job, rule));
    found.extend(driven_callbacks(job, rule));
    found.extend(file_waits::steps(job, rule));
    found.extend(typed_input::steps(job, rule));
    found.extend(own_updates::steps(job, rule));
    found.extend(own_databases::steps(job, rule));
    found.extend(graph_turns::steps(job, rule));
    found.extend(active_runs::steps(job, rule));
    found.extend(later_layers::steps(job, rule));
    found.extend(untrained_models::steps(job, rule));
    found
}

pub(super) fn obstacle(rule: &'static Rule, location: Location, message: &str) -> Finding {
    Step::missing(rule, location, message).here("stands in the way")
}

/// `tf.distribute` strategies.
fn strategies(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let made = job
        .facts
        .creations
        .iter()
        .filter(|made| made.kind == Kind::Strategy && !made.derived && job.runs(made.file, made.call));
    let step = |location| {
        let finding = obstacle(rule, location, "the program is distributed with a strategy of TensorFlow")
            .help("take the strategy out: each rank trains on one GPU");
        Step::blocked(finding, "A strategy and Horovod would both share out the work.")
    };
    let of_strategy = made.take(1).map(|made| step(job.at_call(made.file, made.call)));
    of_strategy.chain(server(job, rule)).chain(by_tape(job, rule)).collect()
}

/// Models of Keras whose step takes gradients by a tape: Horovod's optimizer averages only what it computes itself.
fn by_tape(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let (file, call) = first_call(job, BY_TAPE)?;
    let finding = obstacle(rule, job.at_call(file, call), "Keras trains this model by a tape of its own")
        .help("train it in a loop of the program's own, whose tape can be distributed");
    Some(Step::blocked(
        finding,
        "Horovod's optimizer does not average the gradients that the tape of a library takes.",
    ))
}

/// The classes of such models.
const BY_TAPE: [&str; 2] = [
    "tensorflow.keras.experimental.WideDeepModel",
    "tensorflow.keras.models.experimental.SharpnessAwareMinimization",
];

/// `tf.train.Server(cluster)`: parameter servers and workers.
fn server(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let (file, call) = first_call(job, SERVERS)?;
    let message = "the program is distributed with servers and workers of TensorFlow";
    let finding = obstacle(rule, job.at_call(file, call), message)
        .help("take the servers out: each rank trains on one GPU");
    Some(Step::blocked(finding, "Servers and Horovod would both share out the work."))
}

/// What starts them.
const SERVERS: [&str; 1] = ["tensorflow.distribute.Server"];

/// `jit_compile=True` for a model or a function: XLA has no kernels for collectives.
fn compiled_by_xla(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let mut found = Vec::new();
    for (file, id) in job.calls() {
        let call = facts.module(file).call(id);
        let argument = facts
            .called_symbols(file, id)
            .filter(|symbol| symbol.has(Effect::Compiles) || symbol.has(Effect::Traces))
            .find_map(|symbol| BY_XLA.iter().find_map(|name| facts.argument(file, call, symbol, name)));
        let Some(argument) = argument else { continue };
        let is_on = facts
            .objects(file, argument.value)
            .any(|(_, object)| matches!(object, Object::Literal(Literal::Bool(true))));
        if is_on {
            let location = facts.location(file, argument.range);
            let finding = obstacle(rule, location, "a training step is compiled by XLA")
                .help("leave that out")
                .in_scope(job.scope_of(file, id));
            found.push(Step::blocked(finding, "XLA has no kernels for the collectives of Horovod."));
        }
    }
    found
}

/// The parameter that says so, and what it was called before.
const BY_XLA: [&str; 2] = ["jit_compile", "experimental_compile"];

/// What trains in threads, or by an algorithm, of its own: a supervisor saves and initialises what it wants.
fn trains_by_itself(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let (file, call) = first_call(job, BY_ITSELF)?;
    let finding = obstacle(rule, job.at_call(file, call), "this has a way of its own to train")
        .help("train in `tf.Session` or `tf.train.MonitoredTrainingSession`, with an optimizer of TensorFlow")
        .in_scope(job.scope_of(file, call));
    Some(Step::blocked(finding, "It can't be told to broadcast, to average or to leave writing to rank 0."))
}

/// Those.
const BY_ITSELF: [&str; 3] = [
    "tensorflow.compat.v1.train.Supervisor",
    "tensorflow.contrib.opt.ScipyOptimizerInterface",
    "tensorflow.contrib.slim.learning.train",
];

/// `callbacks = CallbackList([...]); callbacks.on_epoch_end(epoch)`: hooks that a loop of the program's own calls.
fn driven_callbacks(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    // What `fit` gets is another rule's.
    if job.program.loops.iter().all(|own| job.is_fit(own)) {
        return Vec::new();
    }
    let step = |(file, call)| {
        let finding = obstacle(
            rule,
            job.at_call(file, call),
            "the program calls the hooks of callbacks itself",
        )
        .help("give the callbacks to `fit`, or call what rank 0 alone should do under `if hvd.rank() == 0:`")
        .in_scope(job.scope_of(file, call));
        Step::blocked(
            finding,
            "Some of them may write, which one rank should do, and some act on the training of all.",
        )
    };
    first_call(job, [LIST_OF_CALLBACKS]).map(step).into_iter().collect()
}

/// The first call of one of these symbols that the program makes.
pub(super) fn first_call<const N: usize>(job: &Job<'_>, names: [&str; N]) -> Option<(FileId, CallId)> {
    let wanted = names.map(|name| job.facts.library.lookup(name));
    job.calls()
        .find(|&(file, call)| job.facts.called_symbols(file, call).any(|own| wanted.contains(&Some(own))))
}

/// The class of lists of callbacks.
const LIST_OF_CALLBACKS: &str = "tensorflow.keras.callbacks.CallbackList";

/// Loops that end, or steps that are left out, because of what this rank's own examples gave.
fn ends_by_own_data(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let decided = |sureness| decisions(job, sureness, |caller, branch| turns_differ(job, caller, branch));
    let (sure, all) = (decided(Confidence::Certain), decided(Confidence::Possible));
    let mut found = Vec::new();
    let mut reported = FxHashSet::default();
    let ways = [(sure, Confidence::Certain), (all, Confidence::Possible)];
    for (location, sureness) in
        ways.into_iter().flat_map(|(found, sureness)| found.into_iter().map(move |at| (at, sureness)))
    {
        if reported.insert(location) {
            let message = "whether the program goes on training depends on this rank's own results";
            let finding = obstacle(rule, location, message)
                .confidence(sureness)
                .help("decide by something that is equal on all ranks, such as the number of the step");
            let reason = "The ranks would make different numbers of steps, and wait for each other for ever.";
            found.push(Step::blocked(finding, reason));
        }
    }
    found
}

/// Whether it depends on this rank's own results that a block runs: then not all ranks may come to it.
pub(super) fn is_conditional(job: &Job<'_>, caller: Caller, block: BlockId) -> bool {
    job.facts.conditions(caller, block).iter().any(|condition| turns_differ(job, caller, &condition.branch))
}

/// Whether it depends on this rank's own results which way a branch goes.
pub(super) fn decides(job: &Job<'_>, caller: Caller, branch: &Branch) -> bool {
    branch.condition.is_some_and(|value| rests_on_own_results(job, (caller.file, value)))
}

/// The same; how many turns a `for` makes is a matter of shapes, not of results, unless it counts them.
pub(super) fn turns_differ(job: &Job<'_>, caller: Caller, branch: &Branch) -> bool {
    let file = caller.file;
    match (branch.kind, branch.condition) {
        (BranchKind::For, Some(value)) => {
            counts_own_results(job, file, value) || is_as_long_as_own_results(job, (file, value))
        }
        _ => decides(job, caller, branch),
    }
}

/// Whether a value is `range(...)` of the length of a list that grows by results of this rank's own, or of a number that they
/// choose or that each rank draws.
fn counts_own_results(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let module = job.facts.module(file);
    let Value::Call(range) = module.value(value).value else { return false };
    is_range(job, file, range) && {
        let call = module.call(range);
        let caller = Caller { file, scope: call.scope };
        let is_long = |place| job.padded().contains(&place) && rests_on_own_results(job, place);
        call.arguments.iter().any(|own| is_drawn(job, (file, own.value)) || is_long((file, own.value)))
            || call.arguments.iter().any(|own| is_chosen(job, caller, own.value, call.range))
            || job
                .own_lengths()
                .iter()
                .any(|&(own, length)| own == file && call.range.contains_range(module.value(length).range))
    }
}

/// Whether a value is a number that each rank draws for itself.
fn is_drawn(job: &Job<'_>, (file, value): Place) -> bool {
    let Value::Call(call) = job.facts.module(file).value(value).value else { return false };
    draws_unseeded(job, file, call)
}
