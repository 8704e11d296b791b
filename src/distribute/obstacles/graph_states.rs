//! Numbers that a session's graph keeps, sets by the rank's own batch, and computes its losses with: the balance between two losses,
//! `tf.assign(k, k + 0.001 * (gamma * real - fake))`. Nothing averages them. A variable with an element for each example is none:
//! the state of a recurrent layer goes on with the rank's own batch.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::session::sessions;
use super::super::step::Step;
use super::graph_draws::{assigns, is_state};
use super::obstacle;
use crate::api::{Effect, Symbol};
use crate::finding::Rule;
use crate::program::{Literal, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{BuiltinType, CallId, Container, Value, ValueId};

/// The calls that set such numbers.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if sessions(job).next().is_none() {
        return Vec::new();
    }
    let facts = job.facts;
    let takes = |own: &Symbol| own.has(Effect::TakesGradients);
    let losses: Vec<Place> = job
        .calls()
        .filter(|&(file, call)| facts.called_symbols(file, call).any(takes))
        .filter_map(|(file, call)| Some((file, facts.module(file).call(call).arguments.first()?.value)))
        .collect();
    let computing = facts.influence().backwards(&losses, |_| false);
    let batches: FxHashSet<Place> = facts
        .influence()
        .backwards(&losses, |place| is_state(job, place))
        .into_iter()
        .filter(|&place| is_batch(job, place))
        .collect();
    let is_set_by_batch = |&(file, id): &(FileId, CallId)| {
        let call = facts.module(file).call(id);
        let given = call.arguments.iter().map(|own| own.value).chain(facts.receiver(file, call));
        let (states, values): (Vec<Place>, Vec<Place>) =
            given.map(|value| (file, value)).partition(|&place| is_state(job, place));
        let objects = states.iter().flat_map(|&(file, state)| facts.solution.values(file, state));
        let computes = |object: ObjectId| {
            let made = facts.made_at(object).filter(|&(of, made)| is_number(job, of, made));
            made.is_some_and(|(of, made)| computing.contains(&(of, facts.module(of).call(made).result)))
        };
        objects.copied().any(computes)
            && facts
                .influence()
                .backwards(&values, |place| is_state(job, place))
                .iter()
                .any(|place| batches.contains(place))
    };
    let step = |(file, call): (FileId, CallId)| {
        let message = "each rank sets a variable by its own batch, with which the model computes";
        let finding = obstacle(rule, job.at_call(file, call), message)
            .help("average what is assigned over the ranks: `hvd.allreduce(value)`")
            .in_scope(job.scope_of(file, call));
        Step::blocked(finding, "No gradient brings it together, and each rank would train by another loss.")
    };
    let setting = job.calls().filter(|&(file, call)| assigns(job, file, call));
    setting.filter(is_set_by_batch).map(step).collect()
}

/// Whether a value is what a session is fed with, or what an iterator gives it.
fn is_batch(job: &Job<'_>, (file, value): Place) -> bool {
    let facts = job.facts;
    let Value::Call(call) = facts.module(file).value(value).value else { return false };
    let placeholder = facts.library.lookup("tensorflow.compat.v1.placeholder");
    facts.called_symbols(file, call).any(|own| Some(own) == placeholder || own.has(Effect::ConsumesIterator))
}

/// Whether a call makes a variable that is one number: `tf.Variable(0.0)`, `tf.get_variable("k", shape=[])`.
fn is_number(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let given = |name| {
        let mut symbols = facts.called_symbols(file, id);
        symbols.find_map(|own| facts.argument(file, call, own, name)).map(|own| own.value)
    };
    let is_one = |value: ValueId| {
        let mut objects = facts.objects(file, value).peekable();
        objects.peek().is_some()
            && objects.all(|(_, own)| {
                matches!(own, Object::Literal(Literal::Int(_)) | Object::Type(BuiltinType::Float))
            })
    };
    let is_empty = |value: ValueId| match &facts.module(file).value(value).value {
        Value::Display(Container::List | Container::Tuple, elements) => elements.is_empty(),
        _ => false,
    };
    given("shape").is_some_and(is_empty)
        || ["initial_value", "initializer"].into_iter().filter_map(given).any(is_one)
}
