//! Which models a program trains, what they are made of, and on which others, whose weights each rank draws for itself, the training
//! rests.

use rustc_hash::FxHashSet;

use super::job::Job;
use super::obstacles::layer_code::is_of_layer;
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Caller, LoopKind, Object, ObjectId, Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// A call by which training rests on what a model computes that is not trained, with weights that are drawn.
pub(super) struct Untrained {
    pub(super) file: FileId,
    pub(super) call: CallId,
    /// The calls that make the model.
    pub(super) makers: Vec<Place>,
    /// The calls of trained models in the same code, beside which it can be broadcast.
    pub(super) beside: Vec<CallId>,
}

impl Untrained {
    /// All of a program.
    pub(super) fn all(job: &Job<'_>) -> Vec<Self> {
        let facts = job.facts;
        let trained = makers(job, &trained_models(job));
        // What layers call are their parts.
        let is_outside = |&(file, call): &(FileId, CallId)| !is_of_layer(job, job.facts.spot((file, call)).0);
        let asked = job.calls().filter(is_outside);
        let asked = asked.filter_map(|(file, call)| Some((file, call, model_of(job, file, call)?)));
        let asked = asked.map(|(file, call, model)| (file, call, makers(job, &[(file, model)])));
        let (untrained, others): (Vec<_>, Vec<_>) =
            asked.partition(|(_, _, made)| !made.is_empty() && made.is_disjoint(&trained));
        if untrained.is_empty() {
            return Vec::new();
        }
        let behind = facts.influence().backwards(&learnt_from(job), |_| false);
        let shared = shared_layers(job, &trained);
        let found = untrained.into_iter().filter(|(file, call, made)| {
            behind.contains(&(*file, facts.module(*file).call(*call).result))
                && made.iter().all(|&own| is_random(job, own, &shared))
        });
        let own = |(file, call, made): (FileId, CallId, FxHashSet<Place>)| {
            let scope = |call| facts.module(file).call(call).scope;
            let is_beside = |&&(of, other, _): &&(FileId, CallId, _)| {
                of == file
                    && scope(other) == scope(call)
                    && [call, other].into_iter().all(|own| is_of_model(job, file, own))
            };
            let beside = others.iter().filter(is_beside).map(|own| own.1).collect();
            let mut makers: Vec<Place> = made.into_iter().collect();
            makers.sort_unstable();
            Self { file, call, makers, beside }
        };
        found.map(own).collect()
    }
}

/// What training learns from: the losses that tapes take the gradients of, and what `fit` is given.
fn learnt_from(job: &Job<'_>) -> Vec<Place> {
    let facts = job.facts;
    let (fits, others): (Vec<_>, Vec<_>) =
        job.program.loops.iter().partition(|own| own.kind == LoopKind::KerasFit);
    let given = fits.into_iter().flat_map(|own| {
        let file = own.caller.file;
        let call = facts.module(file).call(own.call);
        let aside: Vec<ValueId> = facts
            .called_symbols(file, own.call)
            .flat_map(|symbol| ASIDE.iter().filter_map(|name| facts.argument(file, call, symbol, name)))
            .map(|own| own.value)
            .collect();
        let given = call.arguments.iter().map(|own| own.value).filter(move |own| !aside.contains(own));
        given.map(move |value| (file, value))
    });
    given.chain(others.into_iter().flat_map(|own| of_gradients(job, own, "target"))).collect()
}

/// What `fit` is given and does not learn from.
const ASIDE: [&str; 2] = ["callbacks", "validation_data"];

/// The model that a call asks for what it computes: `model(x)`, `model.predict(x)`.
fn model_of(job: &Job<'_>, file: FileId, call: CallId) -> Option<ValueId> {
    let data = job.facts.module(file).call(call);
    if is_of_model(job, file, call) {
        return Some(data.callee);
    }
    let predicts = job.facts.called_symbols(file, call).any(|own| own.has(Effect::Predicts));
    job.facts.receiver(file, data).filter(|&own| predicts && job.facts.may_be(file, own, Kind::Model))
}

/// The models that `fit` trains, and what the gradients of other loops are taken for.
pub(super) fn trained_models(job: &Job<'_>) -> Vec<Place> {
    let facts = job.facts;
    let (fits, others): (Vec<_>, Vec<_>) =
        job.program.loops.iter().partition(|own| own.kind == LoopKind::KerasFit);
    let fitted = fits.into_iter().filter_map(|own| {
        let file = own.caller.file;
        Some((file, facts.receiver(file, facts.module(file).call(own.call))?))
    });
    fitted.chain(others.into_iter().flat_map(|own| of_gradients(job, own, "sources"))).collect()
}

/// Whether it is seen for each loop which models it trains: what a graph or a list of all variables trains nobody knows.
pub(super) fn all_trained_are_seen(job: &Job<'_>) -> bool {
    job.program.loops.iter().all(|own| match own.kind {
        LoopKind::KerasFit => true,
        LoopKind::GradientTape => {
            let sources = of_gradients(job, own, "sources");
            !sources.is_empty() && sources.iter().all(|&source| !makers(job, &[source]).is_empty())
        }
        LoopKind::Minimize | LoopKind::Session | LoopKind::MonitoredSession => false,
    })
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

/// All that models are made of, also by layers that are called, `Model(x, layer(x))`, or added, `model.add(layer)`.
pub(super) fn ingredients(job: &Job<'_>, models: &[Place]) -> FxHashSet<Place> {
    let facts = job.facts;
    let added = added_layers(job);
    let mut found = FxHashSet::default();
    let mut objects: FxHashSet<ObjectId> = FxHashSet::default();
    let mut news = models.to_vec();
    while !news.is_empty() {
        let behind = facts.influence().backwards(&news, |place| found.contains(&place));
        news.clear();
        for &(file, value) in behind.iter().filter(|place| !found.contains(*place)) {
            if is_part(job, (file, value)) {
                objects.extend(facts.objects(file, value).map(|(id, _)| id));
            }
            if let Value::Call(call) = facts.module(file).value(value).value {
                let callee = (file, facts.module(file).call(call).callee);
                news.extend(Some(callee).filter(|&callee| is_part(job, callee)));
            }
        }
        news.extend(added.iter().filter(|(model, _)| objects.contains(model)).map(|&(_, layer)| layer));
        found.extend(behind);
        news.retain(|place| !found.contains(place));
    }
    found
}

/// The layers that are added to models one by one.
fn added_layers(job: &Job<'_>) -> Vec<(ObjectId, Place)> {
    let facts = job.facts;
    let add = facts.library.lookup(ADD);
    let adds =
        job.calls().filter(|&(file, call)| facts.called_symbols(file, call).any(|own| Some(own) == add));
    let added = adds.flat_map(|(file, call)| {
        let call = facts.module(file).call(call);
        let models = facts.receiver(file, call).into_iter().flat_map(move |own| facts.objects(file, own));
        let layer = call.arguments.first().map(|own| (file, own.value));
        models.filter_map(move |(model, _)| Some((model, layer?)))
    });
    added.collect()
}

/// What adds a layer to a model.
const ADD: &str = "tensorflow.keras.Sequential.add";

fn is_part(job: &Job<'_>, (file, value): Place) -> bool {
    job.facts.may_be(file, value, Kind::Layer) || job.facts.may_be(file, value, Kind::Model)
}

/// The layers and models that trained models are made of.
fn shared_layers(job: &Job<'_>, trained: &FxHashSet<Place>) -> FxHashSet<Place> {
    let trained: Vec<Place> = trained.iter().copied().collect();
    let mut found = ingredients(job, &trained);
    found.retain(|&place| is_part(job, place));
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
    let loads = |file: FileId, call: CallId, own: &Symbol| {
        let given = || facts.argument(file, facts.module(file).call(call), own, WEIGHTS);
        own.has(Effect::LoadsModel)
            || own.has(Effect::LoadsWeights)
            || own.parameter(WEIGHTS).is_some()
                && given().is_none_or(|given| !facts.is_none(file, given.value))
    };
    let behind = ingredients(job, &[(file, value)]);
    let is_loaded = behind.iter().any(|&(file, value)| match facts.module(file).value(value).value {
        Value::Call(call) => facts.called_symbols(file, call).any(|own| loads(file, call, own)),
        _ => false,
    });
    let own_code = code_of(job, (file, value));
    let mut kept = behind.iter().filter(|&&place| !own_code.contains(&code_around(job, place)));
    !is_loaded
        && !has_no_weights(job, &behind)
        && !kept.any(|place| shared.contains(place))
        && !gets_weights(job, (file, value))
        && !is_of_layer(job, code_around(job, (file, value)))
        && made.all(|made| made.is_some_and(|made| !is_of_layer(job, facts.spot(made).0)))
}

/// Whether all layers that a model is made of are of a library's classes that begin with nothing drawn: `Rescaling(1 / 255)`,
/// `RandomFlip()`.
fn has_no_weights(job: &Job<'_>, ingredients: &FxHashSet<Place>) -> bool {
    let facts = job.facts;
    let layers =
        ingredients.iter().filter_map(|&(file, value)| match facts.module(file).value(value).value {
            Value::Call(call) if facts.may_be(file, value, Kind::Layer) => Some((file, call)),
            _ => None,
        });
    let mut layers = layers.peekable();
    layers.peek().is_some()
        && layers.all(|(file, call)| {
            let mut symbols = facts.called_symbols(file, call).peekable();
            facts.called_functions(file, call).next().is_none()
                && symbols.peek().is_some()
                && symbols.all(|own| !own.draws_weights())
        })
}

/// The code that a value stands in.
fn code_around(job: &Job<'_>, (file, value): Place) -> Caller {
    let module = job.facts.module(file);
    Caller { file, scope: module.code_scope(module.value(value).scope) }
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

/// Whether the program gives a model other weights than those it begins with, itself, by one of its layers or variables, or by
/// a checkpoint.
fn gets_weights(job: &Job<'_>, model: Place) -> bool {
    let facts = job.facts;
    job.calls().any(|(file, call)| {
        let Some(receiver) = facts.receiver(file, facts.module(file).call(call)) else { return false };
        let sets = |own: &Symbol| {
            SETTING.iter().any(|&effect| own.has(effect))
                || own.has(Effect::UpdatesState) && facts.may_be(file, receiver, Kind::Variable)
        };
        facts.called_symbols(file, call).any(sets) && makers(job, &[(file, receiver)]).contains(&model)
    })
}

/// What gives a model weights.
const SETTING: [Effect; 4] =
    [Effect::LoadsWeights, Effect::SetsWeights, Effect::Trains, Effect::AppliesGradients];
