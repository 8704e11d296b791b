//! Layers of a model that look words up in a table which they learn, `StringLookup().adapt(words)`: among the variables of the
//! model stands the table then, which is none, and which no broadcast can send.

use super::super::job::Job;
use super::super::step::Step;
use super::super::untrained::trained_models;
use super::layer_code::is_of_layer;
use super::obstacle;
use crate::api::{Effect, Kind, Symbol};
use crate::finding::Rule;
use crate::program::{Caller, Creation, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// The layers that learn what they look up, if it is not given.
const LOOKUPS: [&str; 3] = [
    "tensorflow.keras.layers.StringLookup",
    "tensorflow.keras.layers.IntegerLookup",
    "tensorflow.keras.layers.TextVectorization",
];

/// The parameter by which it is given.
const GIVEN: &str = "vocabulary";

/// The layers of trained models that learn what they look up.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let layers: Vec<&Symbol> = LOOKUPS.iter().filter_map(|name| facts.library.lookup(name)).collect();
    let made: Vec<&Creation> = facts.creations.iter().filter(|own| learns(job, &layers, own)).collect();
    if made.is_empty() {
        return Vec::new();
    }
    let is_made = |file: FileId, value| {
        facts.objects(file, value).any(|(object, _)| made.iter().any(|own| own.object == object))
    };
    // What a method returns, `lookup.get_vocabulary()`, is no layer, nor how many words there are, nor the data.
    let is_told = |(file, value): Place| {
        let module = facts.module(file);
        if [Kind::Dataset, Kind::Callback].into_iter().any(|kind| facts.may_be(file, value, kind)) {
            return true;
        }
        let Value::Call(call) = module.value(value).value else { return false };
        match module.value(module.call(call).callee).value {
            Value::Attribute { base, .. } => is_made(file, base),
            _ => facts.called_symbols(file, call).any(|own| own.has(Effect::Measures)),
        }
    };
    // Training changes a model by its data; what it is made of are the arguments of its making.
    let trained = facts.influence().backwards(&trained_models(job), is_told);
    let models = facts.creations.iter().filter(|own| own.kind == Kind::Model && job.runs(own.file, own.call));
    let parts = models.flat_map(|own| {
        let call = facts.module(own.file).call(own.call);
        let arguments = call.arguments.iter().filter(|_| trained.contains(&(own.file, call.result)));
        arguments.map(|argument| (own.file, argument.value))
    });
    let parts = facts.influence().backwards(&parts.collect::<Vec<Place>>(), is_told);
    let in_model = |file: FileId, call: CallId| {
        let data = facts.module(file).call(call);
        parts.contains(&(file, data.result)) && is_of_input(job, file, call)
            || is_of_layer(job, Caller { file, scope: data.scope })
    };
    let called: Vec<Place> = job
        .calls()
        .filter(|&(file, call)| in_model(file, call))
        .map(|(file, call)| (file, facts.module(file).call(call).callee))
        .collect();
    let is_in_model = |own: &&Creation| {
        let is_own =
            |&(file, value): &Place| facts.objects(file, value).any(|(object, _)| object == own.object);
        parts.contains(&(own.file, facts.module(own.file).call(own.call).result)) || called.iter().any(is_own)
    };
    let step = |own: &Creation| {
        let message = "a layer of the model learns the table that it looks words up in";
        let finding = obstacle(rule, job.at_call(own.file, own.call), message)
            .help("look up in front of the model, in the dataset, or give the layer its `vocabulary`")
            .in_scope(job.scope_of(own.file, own.call));
        Step::blocked(
            finding,
            "Keras counts the table among the variables of the model, and no broadcast can send it.",
        )
    };
    made.into_iter().filter(is_in_model).map(step).collect()
}

/// Whether a call is given what a model is given, and no data.
fn is_of_input(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let input = facts.library.lookup(INPUT);
    let given: Vec<Place> =
        facts.module(file).call(call).arguments.iter().map(|own| (file, own.value)).collect();
    let behind = facts.influence().backwards(&given, |_| false);
    behind.into_iter().any(|(file, value)| match facts.module(file).value(value).value {
        Value::Call(call) => facts.called_symbols(file, call).any(|own| Some(own) == input),
        _ => false,
    })
}

/// What stands for what a model is given.
const INPUT: &str = "tensorflow.keras.Input";

/// Whether a call makes one of these layers, without what it looks up.
fn learns(job: &Job<'_>, layers: &[&Symbol], own: &Creation) -> bool {
    let facts = job.facts;
    let call = facts.module(own.file).call(own.call);
    let is_given = |symbol: &Symbol| {
        facts
            .argument(own.file, call, symbol, GIVEN)
            .is_some_and(|given| !facts.is_none(own.file, given.value))
    };
    job.runs(own.file, own.call)
        && facts
            .called_symbols(own.file, own.call)
            .any(|symbol| layers.contains(&symbol) && !is_given(symbol))
}
