//! What each rank draws or computes for itself and a session's graph sets variables by, though not by learning from it: noise that
//! is added to averaged gradients, and weights that are assigned behind the broadcast.

use super::super::data::draws::draws_unseeded;
use super::super::job::Job;
use super::super::session::fed::fed;
use super::super::session::{runs, sessions};
use super::super::step::Step;
use super::choices::rests_on_own_results;
use super::obstacle;
use super::session_choices::is_condition;
use crate::api::{Effect, Kind, Symbol};
use crate::finding::{Location, Rule};
use crate::program::{Place, influenced_through_contents};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// The calls by which the ranks' variables drift apart so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if sessions(job).next().is_none() {
        return Vec::new();
    }
    let draws: Vec<Place> = job
        .calls()
        .filter(|&(file, call)| draws_unseeded(job, file, call))
        .map(|(file, call)| (file, job.facts.module(file).call(call).result))
        .collect();
    let step = |(location, message): (Location, &str)| {
        let finding = obstacle(rule, location, message)
            .help("draw it with a constant seed, or give all ranks what rank 0 has drawn or computed");
        Step::blocked(finding, "Nothing makes the variables equal again, and the ranks drift apart.")
    };
    let mut found = mixed_into_gradients(job, &draws);
    found.extend(assigned(job, &draws));
    found.into_iter().map(step).collect()
}

/// The steps for which something that was drawn, or a loss, is mixed into the gradients behind the average: `(gradient + noise,
/// variable)`, `tf.cond(loss > limit, ..)`.
fn mixed_into_gradients(job: &Job<'_>, draws: &[Place]) -> Vec<(Location, &'static str)> {
    let facts = job.facts;
    let does = |effect| move |symbol: &Symbol| symbol.has(effect);
    let applies = |&(file, call): &(FileId, CallId)| {
        facts.called_symbols(file, call).any(does(Effect::AppliesGradients))
            && !facts.called_symbols(file, call).any(does(Effect::Minimizes))
    };
    let stops = |place| facts.gives(place, &[Effect::TakesGradients]) || is_state(job, place);
    let takes =
        |&(file, call): &(FileId, CallId)| facts.called_symbols(file, call).any(does(Effect::TakesGradients));
    let losses = job.calls().filter(takes).filter_map(|(file, call)| {
        let loss = facts.module(file).call(call).arguments.first()?;
        Some((file, loss.value))
    });
    let own: Vec<Place> = draws.iter().copied().chain(losses).collect();
    let mut own = facts.influence().forwards(&own, stops);
    let is_chosen = |&(file, call): &(FileId, CallId)| {
        let condition = facts.module(file).call(call).arguments.first();
        is_condition(job, file, call) && condition.is_some_and(|given| own.contains(&(file, given.value)))
    };
    let chosen =
        job.calls().filter(is_chosen).map(|(file, call)| (file, facts.module(file).call(call).result));
    let chosen: Vec<Place> = chosen.collect();
    own.extend(facts.influence().forwards(&chosen, stops));
    // The gradients themselves are averaged.
    own.retain(|&place| !stops(place));
    let is_mixed = |&(file, call): &(FileId, CallId)| {
        let mut given = facts.module(file).call(call).arguments.iter();
        given.any(|given| own.contains(&(file, given.value)))
    };
    let steps = job.calls().filter(applies).filter(is_mixed);
    let told = |(file, call)| {
        (
            job.at_call(file, call),
            "each rank applies gradients into which it mixed what it drew or computed by itself",
        )
    };
    steps.map(told).collect()
}

/// The runs of a session that assign what each rank drew, or what rests on its own results: `session.run(weights.assign(new))`,
/// and with `new` fed.
fn assigned(job: &Job<'_>, draws: &[Place]) -> Vec<(Location, &'static str)> {
    let facts = job.facts;
    let stops = |place| is_state(job, place) || is_run(job, place);
    let assigning = job.calls().filter(|&(file, call)| assigns(job, file, call));
    let assigning: Vec<Place> =
        assigning.map(|(file, call)| (file, facts.module(file).call(call).result)).collect();
    if assigning.is_empty() {
        return Vec::new();
    }
    let assigning = facts.influence().forwards(&assigning, |place| is_run(job, place));
    let drawn = influenced_through_contents(facts, draws, stops);
    let is_own = |place: Place| drawn.contains(&place) || rests_on_own_results(job, place);
    let mut found = Vec::new();
    for (file, id) in job.calls().filter(|&(file, call)| runs(job, file, call)) {
        let fetched = facts.fetched(file, id).filter(|&own| assigning.contains(&(file, own)));
        let Some(fetched) = fetched else { continue };
        let values = values_assigned(job, (file, fetched));
        let behind = facts.influence().backwards(&values, |place| is_state(job, place));
        // What is fed only goes into what rests on its placeholder.
        let is_fed = |&(key, value): &(ValueId, ValueId)| {
            let origins = facts.influence().backwards(&[(file, key)], |_| false);
            is_own((file, value)) && origins.iter().any(|own| behind.contains(own))
        };
        if values.iter().any(|&own| is_own(own)) || fed(job, file, id).iter().any(is_fed) {
            found.push((
                job.at_call(file, id),
                "each rank assigns a variable what it drew or computed by itself",
            ));
        }
    }
    found
}

/// What a run of what is fetched assigns to variables.
fn values_assigned(job: &Job<'_>, fetched: Place) -> Vec<Place> {
    let facts = job.facts;
    let behind = facts.influence().list_backwards(&[fetched], |place| is_state(job, place));
    let mut found = Vec::new();
    for (file, value) in behind {
        let Value::Call(call) = facts.module(file).value(value).value else { continue };
        if assigns(job, file, call) {
            let given = facts.module(file).call(call).arguments.iter().map(|own| (file, own.value));
            found.extend(given.filter(|&own| !is_state(job, own)));
        }
    }
    found
}

/// Whether a call assigns a variable, or is a method of that name of an object that nobody knows:
/// `tf.trainable_variables()[0].assign(value)`.
pub(super) fn assigns(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let library = job.facts.library;
    let is_one = |own: &Symbol| ASSIGNING.iter().any(|&name| library.lookup(name) == Some(own));
    job.facts.may_call(file, id, VARIABLE, is_one)
}

/// The class of variables, and what changes them as a whole.
const VARIABLE: &str = "tensorflow.Variable";
const ASSIGNING: [&str; 6] = [
    "tensorflow.Variable.assign",
    "tensorflow.Variable.assign_add",
    "tensorflow.Variable.assign_sub",
    "tensorflow.compat.v1.assign",
    "tensorflow.compat.v1.assign_add",
    "tensorflow.compat.v1.assign_sub",
];

/// Whether a value is a variable or holds some, which the broadcast makes equal however they begin.
pub(super) fn is_state(job: &Job<'_>, (file, value): Place) -> bool {
    let kinds = [Kind::Variable, Kind::Layer, Kind::Model, Kind::Optimizer];
    kinds.into_iter().any(|kind| job.facts.may_be(file, value, kind))
}

/// Whether a value is what a session gives back.
fn is_run(job: &Job<'_>, (file, value): Place) -> bool {
    matches!(job.facts.module(file).value(value).value, Value::Call(call) if runs(job, file, call))
}
