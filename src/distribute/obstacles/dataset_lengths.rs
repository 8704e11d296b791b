//! Datasets of which each rank has another number of elements.

use super::super::data::draws::draws_alike;
use super::super::data::moved_seeds::is_order;
use super::super::job::Job;
use super::super::step::Step;
use super::choices::rests_on_own_results;
use super::obstacle;
use crate::api::{Effect, Kind};
use crate::finding::Rule;
use crate::program::{Literal, Object, Place, code};
use crate::project::FileId;
use crate::semantic::{BranchKind, CallId, Value, ValueId};

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
        let drops = || given("generator").is_some_and(|own| drops_by_chance(job, file, own.value));
        if draws
            || ends_by_chance
            || is_counted
            || drops() && !is_endless(job, file, id)
            || selects_by_own_order(job, file, id)
        {
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

/// Whether a call keeps elements of a dataset by what each rank has in an order, or with numbers, of its own, in a dataset that has an
/// end: whole batches behind a shuffle, `shuffle(64).batch(8).filter(..)`, or all up to the first that is not wanted.
fn selects_by_own_order(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let named = |file: FileId, id: CallId, name: &str| {
        let wanted = facts.library.lookup(name);
        facts.called_symbols(file, id).any(|own| Some(own) == wanted)
    };
    let [filters, takes, resamples] = SELECTING.map(|name| named(file, id, name));
    if !filters && !takes && !resamples {
        return false;
    }
    let (mut is_batched, mut is_own) = (false, resamples);
    for (file, id) in before(job, (file, id)) {
        if named(file, id, REPEAT) {
            return false;
        }
        is_batched |= BATCHING.iter().any(|name| named(file, id, name));
        let call = facts.module(file).call(id);
        let mut functions = call.arguments.iter().flat_map(|own| facts.objects(file, own.value));
        is_own |= (takes || is_batched) && is_order(job, file, id) && !draws_alike(job, file, id)
            || named(file, id, MAP) && functions.any(|(_, own)| draws(job, own));
    }
    is_own && !is_endless(job, file, id)
}

/// Whether the dataset that a call makes is repeated without end later on.
fn is_endless(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let repeat = facts.library.lookup(REPEAT);
    let result = (file, facts.module(file).call(id).result);
    let behind = facts.influence().forwards(&[result], |_| false);
    job.calls().any(|(file, id)| {
        let receiver = facts.receiver(file, facts.module(file).call(id));
        receiver.is_some_and(|own| behind.contains(&(file, own)))
            && facts.called_symbols(file, id).any(|own| Some(own) == repeat)
    })
}

/// Whether a generator that comes to an end leaves out what a draw decides: `if random() < 0.5: yield example`.
fn drops_by_chance(job: &Job<'_>, file: FileId, generator: ValueId) -> bool {
    let facts = job.facts;
    let is_drawn = |condition: Place| {
        let behind = facts.influence().backwards(&[condition], |_| false);
        behind.into_iter().any(|(file, value)| match facts.module(file).value(value).value {
            Value::Call(call) => {
                let mut symbols = facts.called_symbols(file, call);
                symbols.any(|own| own.has(Effect::DrawsRandom) && !own.has(Effect::Reorders))
                    && !draws_alike(job, file, call)
            }
            _ => false,
        })
    };
    facts.objects(file, generator).filter_map(|(_, object)| code(object)).any(|function| {
        let caller = facts.code_of(function);
        let module = facts.module(caller.file);
        let flow = &module.scope(caller.scope).flow;
        module.function(function.function).yields.iter().any(|&value| {
            let around = module.statement_around(module.value(value).range);
            let block = around.map(|own| module.statement(own).block);
            block.filter(|&block| flow.comes_to_end(block)).is_some_and(|block| {
                let branches = facts.conditions(caller, block).into_iter().map(|own| own.branch);
                let tests = branches.filter(|own| own.kind == BranchKind::If).filter_map(|own| own.condition);
                tests.into_iter().any(|test| is_drawn((caller.file, test)))
            })
        })
    })
}

/// The calls that make the dataset on which a method is called, from the last to the first.
fn before<'j>(job: &'j Job<'_>, method: (FileId, CallId)) -> impl Iterator<Item = (FileId, CallId)> + 'j {
    let receiver = |&(file, id): &(FileId, CallId)| {
        let module = job.facts.module(file);
        match module.value(job.facts.receiver(file, module.call(id))?).value {
            Value::Call(call) => Some((file, call)),
            _ => None,
        }
    };
    std::iter::successors(receiver(&method), receiver)
}

/// Whether an object is a function of the program's that draws.
pub(super) fn draws(job: &Job<'_>, object: Object) -> bool {
    code(object).is_some_and(|function| {
        job.facts.effects().of_scope(job.facts.code_of(function)).effects.contains(Effect::DrawsRandom)
    })
}

/// The methods of datasets that keep some elements.
const SELECTING: [&str; 3] = [
    "tensorflow.data.Dataset.filter",
    "tensorflow.data.Dataset.take_while",
    "tensorflow.data.Dataset.rejection_resample",
];

/// Those that make batches, that compute each element anew, and that go on without end.
const BATCHING: [&str; 2] = ["tensorflow.data.Dataset.batch", "tensorflow.data.Dataset.padded_batch"];
const MAP: &str = "tensorflow.data.Dataset.map";
const REPEAT: &str = "tensorflow.data.Dataset.repeat";
