//! What differs between ranks because their examples do, and all that is computed from it.

use rustc_hash::FxHashSet;

use super::super::callback::hook_parameters;
use super::super::callbacks::unaveraged_metrics;
use super::super::data::draws::draws_alike;
use super::super::data::moved_seeds::is_order;
use super::super::job::Job;
use super::super::session;
use super::super::session::fetched;
use super::alike::{counts_memory, is_common};
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Literal, Object, Place, influenced_through_contents};
use crate::project::FileId;
use crate::semantic::{CallId, Passing, Value, ValueId};

/// All that differs between ranks because it is computed from their examples.
pub(in crate::distribute) fn of_own_results(job: &Job<'_>) -> FxHashSet<Place> {
    let own: Vec<Place> = own_results(job).into_iter().collect();
    computed_from(job, &own)
}

/// The values that differ between ranks because their examples do: losses, and what training and evaluating return;
/// what is drawn, and what a clock says.
fn own_results(job: &Job<'_>) -> FxHashSet<Place> {
    let facts = job.facts;
    let mut own = FxHashSet::default();
    for training_loop in job.tape_loops() {
        for &(file, call) in &training_loop.gradients {
            let data = facts.module(file).call(call);
            let targets = facts.called_symbols(file, call).filter_map(|symbol| {
                facts.argument(file, data, symbol, "target").map(|argument| (file, argument.value))
            });
            own.extend(targets);
            own.insert((file, data.result));
        }
    }
    for (kind, attribute) in OWN_ATTRIBUTES {
        own.extend(read_of(job, kind, attribute));
    }
    own.extend(job.program.files().into_iter().flat_map(|file| hook_parameters(job, file, 2)));
    own.extend(unaveraged_metrics(job));
    let normalises = normalises(job);
    for (file, id) in job.calls() {
        let call = facts.module(file).call(id);
        // The seed of an order of examples is moved by the rank.
        let trains = facts.called_symbols(file, id).any(|symbol| {
            symbol.has(Effect::Trains)
                || symbol.has(Effect::Evaluates)
                || normalises && symbol.has(Effect::Predicts)
                || differs(job, symbol)
                    && (is_order(job, file, id) || !draws_alike(job, file, id))
                    && !job.draws_together(file, id)
        });
        let is_metric =
            facts.receiver(file, call).is_some_and(|receiver| facts.may_be(file, receiver, Kind::Metric));
        let runs = || {
            session::runs(job, file, id)
                && !fetched::is_step(job, (file, call.result))
                && !fetches_variable(job, file, id)
        };
        let is_model = || facts.may_be(file, call.callee, Kind::Model);
        let predicts = || (normalises || computes_as_in_training(job, file, id)) && is_model();
        if trains || is_metric || counts_memory(job, file, id) || runs() || predicts() {
            own.insert((file, call.result));
        }
    }
    own
}

/// Whether a program has layers that keep the means of a rank's own batches, so that models with equal weights predict differently; a
/// model that comes from elsewhere may have them.
fn normalises(job: &Job<'_>) -> bool {
    let library = job.facts.library;
    let layer = library.lookup("tensorflow.keras.layers.BatchNormalization");
    let may_have = |own: &Symbol| {
        let (module, name) = own.name().rsplit_once('.').unwrap_or_default();
        Some(own) == layer
            || module.starts_with(APPLICATIONS) && !WITHOUT_MEANS.contains(&name)
            || FROM_ELSEWHERE.contains(&own.name())
    };
    job.calls().any(|(file, call)| job.facts.called_symbols(file, call).any(may_have))
}

/// The modules of models that are ready to be used, most of which have such layers, and those that have none.
const APPLICATIONS: &str = "tensorflow.keras.applications";
const WITHOUT_MEANS: [&str; 8] = [
    "VGG16",
    "VGG19",
    "ConvNeXtBase",
    "ConvNeXtLarge",
    "ConvNeXtSmall",
    "ConvNeXtTiny",
    "ConvNeXtXLarge",
    "preprocess_input",
];

/// What makes a model that a file describes.
const FROM_ELSEWHERE: [&str; 4] = [
    "tensorflow.keras.models.load_model",
    "tensorflow.keras.models.model_from_config",
    "tensorflow.keras.models.model_from_json",
    "tensorflow.keras.models.model_from_yaml",
];

/// Whether a model is called as in training, `model(x, training=True)`, where its layers may draw.
fn computes_as_in_training(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let module = job.facts.module(file);
    module.call(id).arguments.iter().any(|own| match own.passing {
        Passing::Keyword(name) if module.names.text(name) == TRAINING => {
            job.facts.objects(file, own.value).any(|(_, own)| own == Object::Literal(Literal::Bool(true)))
        }
        _ => false,
    })
}

/// The parameter of models for that.
const TRAINING: &str = "training";

/// Whether a session gives a variable by itself: it is broadcast, and changed in steps that all ranks make.
fn fetches_variable(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let fetched = job.facts.module(file).call(id).arguments.first();
    fetched.is_some_and(|own| {
        let mut objects = job.facts.solution.values(file, own.value).iter().peekable();
        objects.peek().is_some() && objects.all(|&own| job.facts.kind(own) == Some(Kind::Variable))
    })
}

/// Attributes that each rank has for itself: how often a checkpoint was saved, which rank 0 alone does, and what the last `fit` of a
/// model gave.
const OWN_ATTRIBUTES: [(Kind, &str); 2] = [(Kind::Checkpoint, "save_counter"), (Kind::Model, "history")];

/// Where an attribute is read of objects of a kind.
fn read_of(job: &Job<'_>, kind: Kind, attribute: &str) -> Vec<Place> {
    let facts = job.facts;
    let files = job.program.files().into_iter();
    let files = files.filter(|&file| facts.has_any(file, |own| own == kind));
    let reads = files.flat_map(|file| {
        let values = (0..facts.module(file).values.len()).map(ValueId::new);
        values.map(move |value| (file, value)).filter(|&(file, value)| {
            match facts.module(file).value(value).value {
                Value::Attribute { base, name, .. } => {
                    facts.module(file).names.text(name) == attribute && facts.may_be(file, base, kind)
                }
                _ => false,
            }
        })
    });
    reads.collect()
}

/// Whether a symbol draws something, or reads a clock.
fn differs(job: &Job<'_>, symbol: &Symbol) -> bool {
    let library = job.facts.library;
    let is_clock = symbol.has(Effect::Varies)
        && !symbol.has(Effect::ReadsFile)
        && library
            .lookup("builtins.float")
            .is_some_and(|float| library.returned_class(symbol) == Some(float));
    symbol.has(Effect::DrawsRandom) || is_clock
}

/// Whether a value is computed from results of this rank's own that are not averaged.
pub(in crate::distribute) fn depends(job: &Job<'_>, place: Place) -> bool {
    job.of_own_results().contains(&place)
}

/// Whether a value is a model that is made of its inputs and outputs, which stand for tensors and are none yet: `keras.Model(x, y)`.
fn is_functional_model(job: &Job<'_>, (file, value): Place) -> bool {
    let facts = job.facts;
    let Value::Call(call) = facts.module(file).value(value).value else { return false };
    let mut symbols = facts.called_symbols(file, call).peekable();
    let model = facts.library.lookup(MODEL);
    symbols.peek().is_some()
        && symbols.all(|own| Some(own) == model)
        && facts.called_functions(file, call).next().is_none()
        && !facts.module(file).call(call).arguments.is_empty()
}

/// The class of such models.
const MODEL: &str = "tensorflow.keras.Model";

/// All that the program computes from values, themselves included, and that is not the same on all ranks.
pub(super) fn computed_from(job: &Job<'_>, places: &[Place]) -> FxHashSet<Place> {
    let stops = |place| !job.evaluates(place) || is_common(job, place) || is_functional_model(job, place);
    let mut found = influenced_through_contents(job.facts, places, stops);
    found.retain(|&place| !stops(place));
    found.extend(places);
    found
}
