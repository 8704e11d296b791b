//! What a rank's own results decide about the steps that a session runs: which of them, at what rate, or, in the graph, whether at
//! all.

use super::super::job::Job;
use super::super::learning_rate::rates;
use super::super::session::fed::{fed, fed_at};
use super::super::session::is_session;
use super::super::session::runs::steps as makes_step;
use super::super::step::Step;
use super::choices::{is_chosen, rests_on_own_results};
use super::obstacle;
use crate::api::{Effect, Symbol};
use crate::finding::{Location, Rule};
use crate::program::{Caller, Facts, Place};
use crate::project::FileId;
use crate::semantic::{Argument, Call, CallId, Element, Value, ValueId};

/// What builds only a part of a graph, of which a condition in it decides whether it is run.
const CONDITIONS: [&str; 4] =
    ["tensorflow.case", "tensorflow.compat.v1.case", "tensorflow.compat.v1.cond", "tensorflow.cond"];

/// What makes the value that is fed.
const PLACEHOLDER: &str = "tensorflow.compat.v1.placeholder";

/// Such decisions.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if !job.program.loops.iter().any(is_session) {
        return Vec::new();
    }
    let step = |(location, message): (Location, &str)| {
        let finding = obstacle(rule, location, message)
            .help("decide by something that is equal on all ranks, such as the number of the step");
        let reason = "The ranks would make different steps, and drift apart or wait for each other for ever.";
        Step::blocked(finding, reason)
    };
    let mut found = in_graphs(job);
    let rates = rates_fed(job);
    for (file, id) in job.calls().filter(|&(file, id)| makes_step(job, file, id)) {
        let call = job.facts.module(file).call(id);
        let at = |own: &Argument| job.facts.location(file, own.range);
        let fetched = call.arguments.first().filter(|own| has_chosen_step(job, file, call, own.value));
        found.extend(fetched.map(|own| (at(own), "this rank's own results choose which step is made")));
        let is_rate = |&(key, value): &(ValueId, ValueId)| {
            rates.contains(&(file, key)) && rests_on_own_results(job, (file, value))
        };
        let rate = fed_at(job, file, id).filter(|_| fed(job, file, id).iter().any(is_rate));
        found.extend(rate.map(|own| (at(own), "this rank's own results choose the learning rate")));
    }
    found.into_iter().map(step).collect()
}

/// Whether a rank's own results choose what a session runs: `d_step if loss > limit else g_step`, also by statements and among
/// others.
fn has_chosen_step(job: &Job<'_>, file: FileId, call: &Call, fetched: ValueId) -> bool {
    let module = job.facts.module(file);
    let parts: Vec<ValueId> = match &module.value(fetched).value {
        Value::Display(_, elements) => {
            let parts = elements.iter().filter_map(|own| match *own {
                Element::At(_, own) | Element::Any(own) | Element::Key(_, own) => Some(own),
                Element::Spread(_) | Element::Merge(_) => None,
            });
            parts.collect()
        }
        _ => vec![fetched],
    };
    let caller = Caller { file, scope: call.scope };
    let may_step = |part: &ValueId| job.facts.may_be_of_step((file, *part));
    parts.into_iter().filter(may_step).any(|part| is_chosen(job, caller, part, call.range))
}

/// Whether a call chooses in the graph which of its parts is run: `tf.cond(condition, one, other)`.
pub(super) fn is_condition(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let is_one =
        |symbol: &Symbol| CONDITIONS.iter().any(|&name| job.facts.library.lookup(name) == Some(symbol));
    job.facts.called_symbols(file, id).any(is_one)
}

/// The steps that are made in a function which a condition of a graph calls: `tf.cond(loss > limit, lambda: optimizer.minimize(loss),
/// tf.no_op)`.
fn in_graphs(job: &Job<'_>) -> Vec<(Location, &'static str)> {
    let facts = job.facts;
    let effects = [Effect::AppliesGradients, Effect::Minimizes];
    let makes = |&(file, call): &(FileId, CallId)| {
        facts.called_symbols(file, call).any(|own| effects.iter().any(|&effect| own.has(effect)))
    };
    let is_within = |&(file, call): &(FileId, CallId)| {
        let caller = Caller { file, scope: facts.module(file).call(call).scope };
        let function = facts.function_of(caller);
        function.is_some_and(|function| {
            facts
                .incoming(function)
                .iter()
                .filter(|edge| Facts::is_call_back(edge))
                .any(|edge| edge.call.is_some_and(|call| is_condition(job, edge.caller.file, call)))
        })
    };
    let steps = job.calls().filter(makes).filter(is_within);
    steps
        .map(|(file, call)| {
            (job.at_call(file, call), "a condition in the graph decides whether this step is made")
        })
        .collect()
}

/// Where placeholders are known by which optimizers are told their rates.
fn rates_fed(job: &Job<'_>) -> Vec<Place> {
    let facts = job.facts;
    let placeholder = facts.library.lookup(PLACEHOLDER);
    let told = rates::stepping(job).into_iter().flat_map(|own| {
        let given =
            rates::scaled(own.class).filter_map(move |name| rates::given(job, own.made, own.class, name));
        given.map(move |rate| (own.made.file, rate.value)).collect::<Vec<Place>>()
    });
    let told: Vec<Place> = told.collect();
    let behind = facts.influence().list_backwards(&told, |_| false).into_iter();
    let is_placeholder = |&(file, value): &Place| match facts.module(file).value(value).value {
        Value::Call(call) => facts.called_symbols(file, call).any(|symbol| Some(symbol) == placeholder),
        _ => false,
    };
    let made: Vec<Place> = behind.filter(is_placeholder).collect();
    facts.influence().list_forwards(&made, |_| false)
}
