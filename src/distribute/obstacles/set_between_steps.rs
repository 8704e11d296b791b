//! Weights that are set between two steps to what each rank has for itself: to what it draws, to the best ones by its own results, to
//! those of a new copy of the model, or to what was read of them before they were broadcast. Nothing makes them equal again.

use rustc_hash::FxHashSet;

use super::super::broadcast::kept_copies::{trains_behind, variables_of};
use super::super::data::draws::is_seeded;
use super::super::job::Job;
use super::super::layer_variables::{SINGLE, is_of_layer};
use super::super::learning_rate::rate_changes::assigns;
use super::super::step::Step;
use super::set_weights::{is_given_one_of, own_weights, results, sets_weights};
use crate::api::Effect;
use crate::finding::Rule;
use crate::program::{CallEdge, Caller, Object, Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// The first call that does so.
pub(super) fn step(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
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
    let is_seeded = is_seeded(job, TENSORFLOW);
    let made = job.calls().filter(|&(file, id)| !is_seeded && begins_anew(job, file, id));
    let anew = facts.influence().forwards(&results(job, made), |_| false);
    if let Some(&call) = setting.iter().find(|&&own| is_given_one_of(job, own, &anew)) {
        let message = "weights are set to new ones, which each rank draws for itself";
        return Some(own_weights(job, rule, call, message));
    }
    let read =
        job.calls().filter(|&own| reads(job, own, &variables) && comes_before_steps(job, own.0, own.1));
    let first = facts.influence().forwards(&results(job, read), |_| false);
    let call = setting.into_iter().find(|&own| is_given_one_of(job, own, &first))?;
    let message = "weights are set to what was read of them before they were broadcast";
    Some(own_weights(job, rule, call, message))
}

/// Whether a call makes weights anew: a copy of a model's form, or an initializer that is called.
fn begins_anew(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let clones = facts.library.lookup(CLONES);
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

/// Whether a call reads what variables hold: `variable.numpy()`, `model.get_weights()`.
fn reads(job: &Job<'_>, (file, id): (FileId, CallId), variables: &FxHashSet<Place>) -> bool {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let mut given = call.arguments.iter().map(|own| own.value).chain(facts.receiver(file, call));
    facts.called_symbols(file, id).any(|own| own.has(Effect::CopiesWeights))
        || !lists(job, (file, call.result)) && given.any(|own| variables.contains(&(file, own)))
}
