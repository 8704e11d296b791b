//! Datasets of which each rank has another number of elements.

use super::super::job::Job;
use super::super::step::Step;
use super::choices::rests_on_own_results;
use super::obstacle;
use crate::api::{Effect, Kind};
use crate::finding::Rule;
use crate::program::{Literal, Object, code};

/// Datasets whose number of elements is drawn: `dataset.filter(lambda x: random() < 0.5)`.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let mut found = Vec::new();
    for (file, id) in job.calls() {
        let call = facts.module(file).call(id);
        if !facts.may_be(file, call.result, Kind::Dataset) {
            continue;
        }
        let given = |name: &str| {
            facts.called_symbols(file, id).find_map(|symbol| facts.argument(file, call, symbol, name))
        };
        let draws = given("predicate").is_some_and(|predicate| {
            facts.objects(file, predicate.value).filter_map(|(_, object)| code(object)).any(|function| {
                let effects = facts.effects().of_scope(facts.code_of(function)).effects;
                effects.contains(Effect::DrawsRandom) || effects.contains(Effect::Varies)
            })
        });
        // Which dataset is empty first is drawn.
        let ends_by_chance = given("stop_on_empty_dataset").is_some_and(|stops| {
            let is_on = |(_, own)| own == Object::Literal(Literal::Bool(true));
            facts.objects(file, stops.value).any(is_on)
                && facts.called_symbols(file, id).any(|own| own.has(Effect::DrawsRandom))
        });
        // `Dataset.range(drawn)`, `data.take(drawn)`
        let is_counted = facts
            .called_symbols(file, id)
            .any(|own| COUNTED.iter().any(|name| facts.library.lookup(name) == Some(own)))
            && call.arguments.iter().any(|own| rests_on_own_results(job, (file, own.value)));
        if draws || ends_by_chance || is_counted {
            let finding = obstacle(
                rule,
                job.at_call(file, id),
                "each rank keeps other examples, and another number of them",
            )
            .help("choose the examples in a way that is the same on every rank")
            .in_scope(job.scope_of(file, id));
            let reason = "The ranks would make different numbers of steps, and wait for each other for ever.";
            found.push(Step::blocked(finding, reason));
        }
    }
    found
}

/// The methods of datasets that are told how many elements there are to be.
const COUNTED: [&str; 4] = [
    "tensorflow.data.Dataset.range",
    "tensorflow.data.Dataset.repeat",
    "tensorflow.data.Dataset.skip",
    "tensorflow.data.Dataset.take",
];
