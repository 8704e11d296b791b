//! Weights that are set to what each rank has for itself: to what is computed from gradients which no optimizer applies, as
//! quasi-Newton methods do behind a loop that trains, `layer.set_weights(unpack(weights - rate * gradient))`, or to what is drawn.
//! Nothing averages either.

use rustc_hash::FxHashSet;

use super::super::broadcast::kept_copies::{trains_behind, variables_of};
use super::super::data::draws::{draws_unseeded, is_seeded};
use super::super::job::Job;
use super::super::layer_variables::{SINGLE, is_of_layer};
use super::super::learning_rate::rate_changes::assigns;
use super::super::step::Step;
use super::obstacle;
use crate::api::{Effect, Symbol};
use crate::finding::Rule;
use crate::program::{CallEdge, Caller, Object, Place, TrainingLoop, influenced_through_contents};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// The first call that sets weights so, and the first that sets them to what is each rank's own in another way.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let mut found = set_by_gradients(job, rule);
    found.extend(set_by_draws(job, rule).or_else(|| set_while_training(job, rule)));
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

/// The first call between two steps that sets weights to what each rank has for itself: to what it has drawn or chosen by its own
/// results, or has read before they were broadcast.
fn set_while_training(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let facts = job.facts;
    let loops = job.program.loops.iter().filter(|own| !job.is_fit(own)).chain(&job.program.steps_of_fit);
    let loops: Vec<&TrainingLoop> = loops.collect();
    if loops.is_empty() {
        return None;
    }
    let variables = variables_of(job, loops.into_iter());
    let variables = facts.influence().forwards(&variables, |place| !lists(job, place));
    let is_variable = |file: FileId, value: ValueId| {
        variables.contains(&(file, value)) || is_of_layer(facts, file, value, &SINGLE)
    };
    let setting = job.calls().filter(|&(file, id)| {
        let receiver = facts.receiver(file, facts.module(file).call(id));
        sets_weights(job, file, id)
            || receiver.is_some_and(|own| is_variable(file, own)) && assigns(job, file, id)
    });
    // What is set in front of the first step is broadcast behind it.
    let is_between = |file: FileId, id: CallId| {
        let caller = Caller { file, scope: facts.module(file).call(id).scope };
        job.program.steps_of_fit.iter().any(|own| own.caller == caller)
            || trains_behind(job, file, id) && !comes_before_steps(job, file, id)
    };
    let setting: Vec<(FileId, CallId)> = setting.filter(|&(file, id)| is_between(file, id)).collect();
    if setting.is_empty() {
        return None;
    }
    let is_own = job.chosen_by_own_results();
    if let Some(&call) = setting.iter().find(|&&own| is_given_one_of(job, own, is_own)) {
        let message = "weights are set to what each rank has chosen or drawn by itself";
        return Some(own_weights(job, rule, call, message));
    }
    let made = job.calls().filter(|&(file, id)| begins_anew(job, file, id));
    let anew = facts.influence().forwards(&results(job, made), |_| false);
    if let Some(&call) = setting.iter().find(|&&own| is_given_one_of(job, own, &anew)) {
        let message = "weights are set to new ones, which each rank draws for itself";
        return Some(own_weights(job, rule, call, message));
    }
    let reads = job.calls().filter(|&(file, id)| {
        let reads_all = facts.called_symbols(file, id).any(|own| own.has(Effect::CopiesWeights));
        let call = facts.module(file).call(id);
        let given = call.arguments.iter().map(|own| own.value).chain(facts.receiver(file, call));
        let reads_one = || given.into_iter().any(|own| variables.contains(&(file, own)));
        (reads_all || !lists(job, (file, call.result)) && reads_one()) && comes_before_steps(job, file, id)
    });
    let first = facts.influence().forwards(&results(job, reads), |_| false);
    let call = setting.into_iter().find(|&own| is_given_one_of(job, own, &first))?;
    let message = "weights are set to what was read of them before they were broadcast";
    Some(own_weights(job, rule, call, message))
}

fn own_weights(job: &Job<'_>, rule: &'static Rule, (file, call): (FileId, CallId), message: &str) -> Step {
    let finding = obstacle(rule, job.at_call(file, call), message)
        .help("let rank 0 decide, and tell the others: `hvd.broadcast_variables`")
        .in_scope(job.scope_of(file, call));
    Step::blocked(finding, "Nothing makes the weights equal again, and the ranks drift apart.")
}

fn results(job: &Job<'_>, calls: impl Iterator<Item = (FileId, CallId)>) -> Vec<Place> {
    calls.map(|(file, call)| (file, job.facts.module(file).call(call).result)).collect()
}

fn is_given_one_of(job: &Job<'_>, (file, call): (FileId, CallId), values: &FxHashSet<Place>) -> bool {
    job.facts.module(file).call(call).arguments.iter().any(|own| values.contains(&(file, own.value)))
}

/// Whether a call makes weights anew that nobody seeds: a copy of a model's form, or an initializer that is called.
fn begins_anew(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let clones = facts.library.lookup(CLONES);
    if is_seeded(job, TENSORFLOW) {
        return false;
    }
    if facts.called_symbols(file, id).any(|own| Some(own) == clones) {
        return true;
    }
    let Some(initializer) = facts.library.lookup(INITIALIZER) else { return false };
    facts.objects(file, facts.module(file).call(id).callee).any(|(object, own)| {
        let class = facts.symbol(own).filter(|_| matches!(own, Object::Created(..)));
        let class = class.filter(|class| facts.library.is_subclass(class, initializer));
        class.zip(facts.made_at(object)).is_some_and(|(class, (file, made))| {
            let call = facts.module(file).call(made);
            class.parameter(SEED).is_some() && facts.argument(file, call, class, SEED).is_none()
        })
    })
}

/// The package that draws them, what copies a model without its weights, the class of initializers, and the parameter of those that draw.
const TENSORFLOW: &str = "tensorflow";
const CLONES: &str = "tensorflow.keras.models.clone_model";
const INITIALIZER: &str = "tensorflow.keras.initializers.Initializer";
const SEED: &str = "seed";

/// Whether no step of training may come before a call.
fn comes_before_steps(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let mut steps = job.leading_to_steps().calls.iter();
    !steps.any(|&step| job.facts.may_follow(job.program, step, (file, call)))
}

/// Whether a value is no call, or one that only puts variables into a list: `zip(model.trainable_variables, masks)`.
fn lists(job: &Job<'_>, (file, value): Place) -> bool {
    let Value::Call(call) = job.facts.module(file).value(value).value else { return true };
    let callees = job.facts.callees(file, call);
    let is_of_python = |edge: &CallEdge| matches!(job.facts.solution.object(edge.callee), Object::Builtin(_));
    !callees.is_empty() && callees.iter().all(is_of_python)
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

/// Whether a call sets the weights of a layer or a model, or is a method of that name of an object that nobody knows:
/// `model.layers[0].set_weights(weights)`.
fn sets_weights(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    job.facts.may_call(file, id, LAYER, |own| own.has(Effect::SetsWeights))
}

/// The class of layers.
const LAYER: &str = "tensorflow.keras.layers.Layer";
