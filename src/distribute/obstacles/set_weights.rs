//! Weights that are set to what each rank has for itself: to what is computed from gradients which no optimizer applies, as
//! quasi-Newton methods do behind a loop that trains, `layer.set_weights(unpack(weights - rate * gradient))`, or to what is drawn.
//! Nothing averages either.

use rustc_hash::FxHashSet;

use super::super::data::draws::draws_unseeded;
use super::super::job::Job;
use super::super::step::Step;
use super::{obstacle, set_between_steps};
use crate::api::{Effect, Symbol};
use crate::finding::Rule;
use crate::program::{Place, influenced_through_contents};
use crate::project::FileId;
use crate::semantic::CallId;

/// The first call that sets weights so, and the first that sets them to what each rank draws, or has for itself in another way.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let mut found = set_by_gradients(job, rule);
    found.extend(set_by_draws(job, rule).or_else(|| set_between_steps::step(job, rule)));
    found
}

/// The first call that sets weights to what is computed from what each rank draws, as a search by chance does.
fn set_by_draws(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let facts = job.facts;
    let setting: Vec<(FileId, CallId)> =
        job.calls().filter(|&(file, call)| sets_weights(job, file, call)).collect();
    if setting.is_empty() {
        return None;
    }
    let draws = job.calls().filter(|&(file, call)| draws_unseeded(job, file, call));
    let drawn = facts.influence().forwards(&results(job, draws), |_| false);
    let (file, call) = setting.into_iter().find(|&own| is_given_one_of(job, own, &drawn))?;
    let message = "weights are set to what each rank draws for itself";
    Some(own_weights(job, rule, (file, call), message))
}

/// What is said of a call that sets weights to what is a rank's own.
pub(super) fn own_weights(
    job: &Job<'_>,
    rule: &'static Rule,
    (file, call): (FileId, CallId),
    message: &str,
) -> Step {
    let finding = obstacle(rule, job.at_call(file, call), message)
        .help("let rank 0 decide, and tell the others: `hvd.broadcast_variables`")
        .in_scope(job.scope_of(file, call));
    Step::blocked(finding, "Nothing makes the weights equal again, and the ranks drift apart.")
}

/// What calls give.
pub(super) fn results(job: &Job<'_>, calls: impl Iterator<Item = (FileId, CallId)>) -> Vec<Place> {
    calls.map(|(file, call)| (file, job.facts.module(file).call(call).result)).collect()
}

/// Whether a call is given one of some values.
pub(super) fn is_given_one_of(
    job: &Job<'_>,
    (file, call): (FileId, CallId),
    values: &FxHashSet<Place>,
) -> bool {
    job.facts.module(file).call(call).arguments.iter().any(|own| values.contains(&(file, own.value)))
}

fn set_by_gradients(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let applied: FxHashSet<(FileId, CallId)> =
        job.tape_loops().flat_map(|own| own.gradients.iter().copied()).collect();
    let takes = |own: &Symbol| own.has(Effect::TakesGradients) && !own.has(Effect::AppliesGradients);
    let others: Vec<Place> = job
        .calls()
        .filter(|own| !applied.contains(own))
        .filter(|&(file, call)| facts.called_symbols(file, call).any(takes))
        .map(|(file, call)| (file, facts.module(file).call(call).result))
        .collect();
    if others.is_empty() {
        return Vec::new();
    }
    let computed = influenced_through_contents(facts, &others, |_| false);
    let is_set = |&(file, call): &(FileId, CallId)| {
        let mut given = facts.module(file).call(call).arguments.iter();
        sets_weights(job, file, call) && given.any(|own| computed.contains(&(file, own.value)))
    };
    let step = |(file, call)| {
        let message = "weights are set to what is computed from gradients that no optimizer applies";
        let finding = obstacle(rule, job.at_call(file, call), message)
            .help("average the gradients and the loss over the ranks: `hvd.allreduce`")
            .in_scope(job.scope_of(file, call));
        let reason = "Horovod averages what optimizers apply; with its own gradients each rank would train another model.";
        Step::blocked(finding, reason)
    };
    job.calls().find(is_set).map(step).into_iter().collect()
}

/// Whether a call sets the weights of a layer or a model, or a variable by `K.set_value`, or is a method of that name of an object
/// that nobody knows: `model.layers[0].set_weights(weights)`.
pub(super) fn sets_weights(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let library = job.facts.library;
    let sets = |own: &Symbol| {
        own.has(Effect::SetsWeights) || SETTING.iter().any(|&name| library.lookup(name) == Some(own))
    };
    job.facts.may_call(file, id, LAYER, sets)
}

/// The functions that set variables, those of an optimizer too.
const SETTING: [&str; 5] = [
    "tensorflow.keras.backend.batch_set_value",
    "tensorflow.keras.backend.set_value",
    "tensorflow.keras.backend.update",
    "tensorflow.keras.backend.update_add",
    "tensorflow.keras.backend.update_sub",
];

/// The class of layers.
const LAYER: &str = "tensorflow.keras.layers.Layer";
