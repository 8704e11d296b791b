//! Weights that are set to what is computed from gradients which no optimizer applies, as quasi-Newton methods do behind a loop
//! that trains: `layer.set_weights(unpack(weights - rate * gradient))`. Nothing averages those gradients.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::api::{Effect, Symbol};
use crate::finding::Rule;
use crate::program::{Place, influenced_through_contents};
use crate::project::FileId;
use crate::semantic::CallId;

/// The first call that sets weights so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
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

/// Whether a call sets the weights of a layer or a model, or is a method of that name of an object that nobody knows:
/// `model.layers[0].set_weights(weights)`.
fn sets_weights(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    job.facts.may_call(file, id, LAYER, |own| own.has(Effect::SetsWeights))
}

/// The class of layers.
const LAYER: &str = "tensorflow.keras.layers.Layer";
