//! Models that are pickled, by themselves or in what `fit` returns, with their optimizer. Pickles keep Keras' own archive of them,
//! and Keras does not find the class of a distributed optimizer again by its name.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::keras::StepOf;
use super::super::step::Step;
use crate::api::Kind;
use crate::finding::Rule;
use crate::program::{LoopKind, Place, influenced_through_contents};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// The functions that pickle their first argument.
const PICKLING: [&str; 3] = ["pickle.dump", "pickle.dumps", "joblib.dump"];

/// What `fit` returns, which knows its model.
const HISTORY: &str = "tensorflow.keras.callbacks.History";

/// Python's own classes that hold others: `runs = dict()`.
const CONTAINERS: [&str; 3] = ["dict", "list", "tuple"];

const REASON: &str = "The pickle holds the model with its optimizer, whose distributed class can't be found when it is read again: pickle \
                      what is needed of it, such as `history.history`.";

/// The steps for such models, which are refused.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let mut loops = job.program.loops.iter();
    let by_optimizer =
        loops.any(|own| own.kind == LoopKind::KerasFit && StepOf::of(job, own) != StepOf::Tape);
    if job.program.already_distributed || !by_optimizer {
        return Vec::new();
    }
    let pickling = PICKLING.map(|name| job.facts.library.lookup(name));
    let pickles = |&(file, id): &(FileId, CallId)| {
        job.facts.called_symbols(file, id).any(|own| pickling.contains(&Some(own)))
    };
    let calls: Vec<(FileId, CallId)> = job.calls().filter(pickles).collect();
    if calls.is_empty() {
        return Vec::new();
    }
    let models = models(job);
    let holds_model = |&(file, id): &(FileId, CallId)| {
        let first = job.facts.module(file).call(id).arguments.first();
        first.is_some_and(|own| models.contains(&(file, own.value)))
    };
    let blocked = |(file, id): (FileId, CallId)| {
        let finding = Step::missing(rule, job.at_call(file, id), "a model with its optimizer is pickled")
            .here("pickled here")
            .help("save the model by `model.save`, and pickle `history.history`")
            .in_scope(job.scope_of(file, id));
        Step::blocked(finding, REASON)
    };
    calls.into_iter().filter(holds_model).map(blocked).collect()
}

/// The values that models come to, and what `fit` returns: by names, functions and containers. What is read of them, or computed by
/// a library, is no model.
fn models(job: &Job<'_>) -> FxHashSet<Place> {
    let facts = job.facts;
    let history = facts.library.lookup(HISTORY);
    let knows_model = |file: FileId, value: ValueId| {
        facts.may_be(file, value, Kind::Model)
            || history.is_some()
                && facts.objects(file, value).any(|(_, object)| facts.symbol(object) == history)
    };
    let makes_container = |file: FileId, call: CallId| {
        let data = facts.module(file).call(call);
        let mut objects = facts.objects(file, data.result);
        facts.receiver(file, data).is_none()
            && objects.any(|(id, _)| facts.builtin_class(id).is_some_and(|own| CONTAINERS.contains(&own)))
    };
    let results = job.calls().map(|(file, id)| (file, facts.module(file).call(id).result));
    let made: Vec<Place> = results.filter(|&(file, value)| knows_model(file, value)).collect();
    let is_other = |(file, value): Place| match facts.module(file).value(value).value {
        Value::Attribute { .. } => true,
        Value::Call(call) => {
            facts.called_functions(file, call).next().is_none()
                && !knows_model(file, value)
                && !makes_container(file, call)
        }
        _ => false,
    };
    let mut found = influenced_through_contents(facts, &made, is_other);
    found.retain(|&place| !is_other(place));
    found
}
