//! Models that a loop computes its losses with and does not train: `tf.square(target(x) - predictor(x))`. Their random weights
//! are each rank's own, so that they are broadcast with the models that are trained.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::obstacles::layer_code::is_of_layer;
use super::copied::broadcast_beside;
use super::site::Site;
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Caller, Object, Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// Adds models that are not trained to the broadcasts of those that are, as far as code that calls both names them.
pub(super) fn add(job: &Job<'_>, sites: &mut [Site]) {
    let facts = job.facts;
    let loops = || job.program.loops.iter().filter(|own| !job.is_fit(own));
    let losses: Vec<Place> = loops().flat_map(|own| of_gradients(job, own, "target")).collect();
    if losses.is_empty() {
        return;
    }
    let calls: Vec<(FileId, CallId)> =
        job.calls().filter(|&(file, call)| is_of_model(job, file, call)).collect();
    let trained = makers(job, &trained_models(job));
    let callee = |(file, call): (FileId, CallId)| (file, facts.module(file).call(call).callee);
    let (computing, others): (Vec<_>, Vec<_>) = calls.into_iter().partition(|&call| {
        let made = makers(job, &[callee(call)]);
        !made.is_empty() && made.is_disjoint(&trained)
    });
    if computing.is_empty() {
        return;
    }
    let behind = facts.influence().backwards(&losses, |_| false);
    let shared = shared_layers(job, &trained);
    for (file, call) in computing {
        let module = facts.module(file);
        let is_random =
            || makers(job, &[callee((file, call))]).iter().all(|&own| is_random(job, own, &shared));
        if !behind.contains(&(file, module.call(call).result)) || !is_random() {
            continue;
        }
        let Some(text) = job.text(file) else { continue };
        for &(of, other) in others.iter().filter(|&&(of, _)| of == file) {
            let (model, own) = (facts.module(of).call(other), module.call(call));
            if model.scope == own.scope {
                broadcast_beside(sites, |spoken| spoken.beside_called(text, model, own));
            }
        }
    }
}

/// The models that `fit` trains, and what the gradients of other loops are taken for.
pub(in crate::distribute) fn trained_models(job: &Job<'_>) -> Vec<Place> {
    let facts = job.facts;
    let (fits, others): (Vec<_>, Vec<_>) = job.program.loops.iter().partition(|own| job.is_fit(own));
    let fitted = fits.into_iter().filter_map(|own| {
        let file = own.caller.file;
        Some((file, facts.receiver(file, facts.module(file).call(own.call))?))
    });
    fitted.chain(others.into_iter().flat_map(|own| of_gradients(job, own, "sources"))).collect()
}

/// What the gradients of a loop are taken of.
fn of_gradients(job: &Job<'_>, own: &TrainingLoop, parameter: &str) -> Vec<Place> {
    let facts = job.facts;
    let of = |&(file, call): &(FileId, CallId)| {
        let data = facts.module(file).call(call);
        let mut symbols = facts.called_symbols(file, call);
        symbols.find_map(|own| facts.argument(file, data, own, parameter)).map(|own| (file, own.value))
    };
    own.gradients.iter().filter_map(of).collect()
}

/// Whether a call is that of a model, which computes.
fn is_of_model(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    job.facts.may_be(file, job.facts.module(file).call(call).callee, Kind::Model)
}

/// The calls that models come from: `build()` in `model = build()`.
fn makers(job: &Job<'_>, places: &[Place]) -> FxHashSet<Place> {
    let facts = job.facts;
    let makes = |(file, value): Place| {
        matches!(facts.module(file).value(value).value, Value::Call(_))
            && facts.may_be(file, value, Kind::Model)
    };
    let mut found = facts.influence().backwards(places, makes);
    found.retain(|&place| makes(place));
    found
}

/// The layers and models that trained models are made of.
fn shared_layers(job: &Job<'_>, trained: &FxHashSet<Place>) -> FxHashSet<Place> {
    let facts = job.facts;
    let trained: Vec<Place> = trained.iter().copied().collect();
    let mut found = facts.influence().backwards(&trained, |_| false);
    found.retain(|&(file, value)| {
        facts.may_be(file, value, Kind::Layer) || facts.may_be(file, value, Kind::Model)
    });
    found
}

/// Whether a call makes a model that has weights of its own, which are drawn: not one that is loaded, that shares layers with
/// those that are trained, or that is a part of another.
fn is_random(job: &Job<'_>, (file, value): Place, shared: &FxHashSet<Place>) -> bool {
    let facts = job.facts;
    let mut made = facts.objects(file, value).filter_map(|(id, object)| match object {
        Object::Created(..) | Object::Instance(..) => Some(facts.made_at(id)),
        _ => None,
    });
    let loads = |own: &Symbol| {
        own.has(Effect::LoadsModel) || own.has(Effect::LoadsWeights) || own.parameter(WEIGHTS).is_some()
    };
    let behind = facts.influence().backwards(&[(file, value)], |_| false);
    let is_loaded = behind.iter().any(|&(file, value)| match facts.module(file).value(value).value {
        Value::Call(call) => facts.called_symbols(file, call).any(loads),
        _ => false,
    });
    let own_code = code_of(job, (file, value));
    let mut kept = behind.iter().filter(|&&(file, value)| {
        let module = facts.module(file);
        !own_code.contains(&Caller { file, scope: module.code_scope(module.value(value).scope) })
    });
    !is_loaded
        && !kept.any(|place| shared.contains(place))
        && !gets_weights(job, (file, value))
        && made.all(|made| made.is_some_and(|made| !is_of_layer(job, facts.spot(made).0)))
}

/// The code that a call runs: what it makes is new each time.
fn code_of(job: &Job<'_>, (file, value): Place) -> FxHashSet<Caller> {
    let facts = job.facts;
    let Value::Call(call) = facts.module(file).value(value).value else { return FxHashSet::default() };
    let mut found: FxHashSet<Caller> = FxHashSet::default();
    let mut work: Vec<Caller> = facts.called_functions(file, call).map(|own| facts.code_of(own)).collect();
    while let Some(code) = work.pop() {
        if found.insert(code) {
            work.extend(facts.reached_functions(code).map(|(_, function)| facts.code_of(function)));
        }
    }
    found
}

/// The parameter of functions that make models with weights which are downloaded.
const WEIGHTS: &str = "weights";

/// Whether the program gives a model other weights than those it begins with.
fn gets_weights(job: &Job<'_>, model: Place) -> bool {
    let facts = job.facts;
    job.calls().any(|(file, call)| {
        let data = facts.module(file).call(call);
        let loads = |own: &Symbol| own.has(Effect::LoadsWeights) || own.has(Effect::UpdatesState);
        facts.called_symbols(file, call).any(loads)
            && facts.receiver(file, data).is_some_and(|own| {
                facts.may_be(file, own, Kind::Model) && makers(job, &[(file, own)]).contains(&model)
            })
    })
}
