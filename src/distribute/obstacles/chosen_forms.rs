//! Models whose form, and training whose length, a rank's own results choose: `build(best_units)`,
//! `fit(x, y, epochs=best_epoch)`, `if random.random() < 0.5: x = self.block(x)`. The ranks would train different models, or
//! make different numbers of steps.

use rustc_hash::FxHashSet;

use super::super::data::draws::draws_unseeded;
use super::super::job::Job;
use super::super::step::Step;
use super::choices::rests_on_own_results;
use super::layer_code::is_of_layer;
use super::own_lengths::{comprehension_tests, is_as_long_as_own_results};
use super::{obstacle, turns_differ};
use crate::api::{Effect, Kind, Symbol};
use crate::finding::Rule;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{Argument, BlockId, CallId, Element, ScopeId, StatementId, StoreKey, Value, ValueId};
use crate::syntax::TextRange;

/// The calls that make such models, or train so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let mut found = chosen_layers(job, rule);
    found.extend(frozen_layers(job, rule));
    let mut told: FxHashSet<(FileId, StatementId)> = FxHashSet::default();
    for (file, id) in job.calls() {
        let call = facts.module(file).call(id);
        let symbols = || facts.called_symbols(file, id);
        let makes_layer =
            symbols().any(|own| own.is_class() && facts.library.kind_of_class(own) == Kind::Layer);
        let trains = symbols().any(|own| own.has(Effect::Trains));
        if !makes_layer && !trains {
            continue;
        }
        // What a layer is called on is data; what `fit` gets beside its data says how long it takes.
        let is_long = |argument: &Argument| trains && is_as_long_as_own_results(job, (file, argument.value));
        let decides = |argument: &&Argument| {
            let is_for = |parameters: &[&str]| {
                let of = |name: &&str| {
                    let mut given = symbols().filter_map(|own| facts.argument(file, call, own, name));
                    given.any(|own| own.value == argument.value)
                };
                parameters.iter().any(of)
            };
            // One constant stands for all that are written alike.
            let is_constant = matches!(facts.module(file).value(argument.value).value, Value::Constant(_));
            let decides = if makes_layer { !is_for(&INITIAL_VALUES) } else { is_for(&LENGTHS) };
            decides && !is_constant && rests_on_own_results(job, (file, argument.value)) || is_long(argument)
        };
        // Layers of one statement are one model.
        let chosen = call.arguments.iter().find(decides).map(|argument| argument.range);
        let is_made_by_some = makes_layer && is_under_choice(job, file, call.scope, call.block);
        let chosen = chosen.or(is_made_by_some.then_some(call.range));
        if let Some(range) = chosen
            && told.insert((file, call.statement))
        {
            let message = if makes_layer {
                "this rank's own results choose what model it trains"
            } else {
                "how many steps are made depends on this rank's own results"
            };
            let finding = obstacle(rule, facts.location(file, range), message)
                .help("choose by something that is equal on all ranks, or let rank 0 tell the others its choice")
                .in_scope(job.scope_of(file, id));
            found.push(Step::blocked(
                finding,
                "The ranks would train different models, or wait for each other for ever.",
            ));
        }
    }
    found
}

/// Whether a rank's own results, or what it draws, decide whether a block of code runs, or how often. What a function is given,
/// and what one of the project's gives back, may be another caller's.
fn is_under_choice(job: &Job<'_>, file: FileId, scope: ScopeId, block: BlockId) -> bool {
    let caller = Caller { file, scope };
    let conditions = job.facts.conditions(caller, block);
    conditions
        .iter()
        .filter(|own| turns_differ(job, caller, &own.branch))
        .any(|own| own.branch.condition.is_none_or(|condition| decides_here(job, (file, condition))))
}

/// Whether a condition is computed from results of the rank's own, or from draws, of the same code.
fn decides_here(job: &Job<'_>, condition: Place) -> bool {
    let facts = job.facts;
    let comes_from_elsewhere = |(file, value): Place| match facts.module(file).value(value).value {
        Value::Parameter(..) => true,
        Value::Call(call) => facts.called_functions(file, call).next().is_some(),
        _ => false,
    };
    let behind = facts.influence().backwards(&[condition], comes_from_elsewhere);
    behind.into_iter().any(|(file, value)| match facts.module(file).value(value).value {
        Value::Call(call) => {
            let is_result = |own: &Symbol| own.has(Effect::Trains) || own.has(Effect::Evaluates);
            draws_unseeded(job, file, call) || facts.called_symbols(file, call).any(is_result)
        }
        _ => false,
    })
}

/// Layers that are trained or not by a rank's own results, or by what it draws: `layer.trainable = random.random() < 0.5`.
fn frozen_layers(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let mut found = Vec::new();
    for file in job.program.files() {
        let module = facts.module(file);
        let is_layer = |value| {
            facts.may_be(file, value, Kind::Layer)
                || facts.may_be(file, value, Kind::Model)
                || facts.is_unknown(file, value)
        };
        let freezing = module.stores.iter().filter(|own| match own.key {
            StoreKey::Attribute(name) => module.names.text(name) == TRAINABLE && is_layer(own.base),
            StoreKey::Item(_) | StoreKey::Slice => false,
        });
        for store in freezing {
            let caller = Caller { file, scope: module.code_scope(store.scope) };
            let statement = module.statement(store.statement);
            let is_chosen = |value| rests_on_own_results(job, (file, value));
            if job.program.reached.contains(&caller)
                && (is_chosen(store.value)
                    || is_picked(job, file, store.base, DEPTH)
                    || is_chosen(store.base)
                    || is_under_choice(job, file, caller.scope, statement.block))
            {
                let message = "this rank's own results choose which layers it trains";
                let finding = obstacle(rule, facts.location(file, statement.range), message)
                    .help("choose by something that is equal on all ranks, or let rank 0 tell the others its choice")
                    .in_scope(facts.scope_name(caller));
                let reason =
                    "The ranks would have gradients for other variables, and wait for each other for ever.";
                found.push(Step::blocked(finding, reason));
            }
        }
    }
    found
}

/// The attribute of layers that says whether they are trained.
const TRAINABLE: &str = "trainable";

/// Steps of which a rank's own results, or what it draws, choose the layers or the variables: there are gradients for others on
/// each rank, which wait for each other for ever.
fn chosen_layers(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let mut found = Vec::new();
    let mut blocked = |file: FileId, id: CallId, range: TextRange| {
        let message = "this rank's own results choose what a step trains";
        let finding = obstacle(rule, facts.location(file, range), message)
            .help("choose by something that is equal on all ranks, such as a generator with a constant seed")
            .in_scope(job.scope_of(file, id));
        let reason = "The ranks would have gradients for other variables, and wait for each other for ever.";
        found.push(Step::blocked(finding, reason));
    };
    for &(file, id) in job.tape_loops().flat_map(|own| &own.gradients) {
        let call = facts.module(file).call(id);
        let mut symbols = facts.called_symbols(file, id);
        let sources = symbols.find_map(|own| facts.argument(file, call, own, "sources"));
        if let Some(sources) = sources.filter(|own| is_picked(job, file, own.value, DEPTH)) {
            blocked(file, id, sources.range);
        }
    }
    for (file, id) in job.calls() {
        let call = facts.module(file).call(id);
        let is_layer = |kind| facts.may_be(file, call.callee, kind);
        if !is_layer(Kind::Layer) && !is_layer(Kind::Model) {
            continue;
        }
        let caller = Caller { file, scope: call.scope };
        // In a graph both arms of a tensor's condition have gradients.
        let tensor = facts.library.lookup("tensorflow.Tensor");
        let is_of_graph = |condition: ValueId| {
            job.traced.contains(&caller)
                && facts
                    .objects(file, condition)
                    .any(|(_, own)| facts.symbol(own).is_some_and(|own| Some(own) == tensor))
        };
        let is_chosen = facts.conditions(caller, call.block).iter().any(|own| {
            turns_differ(job, caller, &own.branch) && !own.branch.condition.is_some_and(is_of_graph)
        });
        if is_chosen && is_of_layer(job, caller) {
            blocked(file, id, call.range);
        }
    }
    found
}

/// How deep the parts of a list of variables may lie.
const DEPTH: u32 = 8;

/// Whether variables, or the model that has them, are picked by a rank's own results: `heads[random.choice(names)].variables`.
fn is_picked(job: &Job<'_>, file: FileId, value: ValueId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let is_picked = |own: ValueId| is_picked(job, file, own, depth);
    match &job.facts.module(file).value(value).value {
        Value::Item { base, key, .. } => rests_on_own_results(job, (file, *key)) || is_picked(*base),
        Value::Attribute { base, .. } => is_picked(*base),
        Value::Operator { left, right, .. } => is_picked(*left) || is_picked(*right),
        Value::Display(_, elements) => {
            let mut tests = comprehension_tests(job.facts.module(file), value);
            tests.any(|test| rests_on_own_results(job, (file, test)))
                || elements.iter().any(|element| match *element {
                    Element::At(_, own) | Element::Any(own) | Element::Spread(own) => is_picked(own),
                    _ => false,
                })
        }
        _ => false,
    }
}

/// The parameters of layers for what their variables begin with, which the broadcast makes equal.
const INITIAL_VALUES: [&str; 12] = [
    "weights",
    "alpha_initializer",
    "beta_initializer",
    "bias_initializer",
    "depthwise_initializer",
    "embeddings_initializer",
    "gamma_initializer",
    "kernel_initializer",
    "moving_mean_initializer",
    "moving_variance_initializer",
    "pointwise_initializer",
    "recurrent_initializer",
];

/// The parameters of `fit` that say how many steps it makes.
const LENGTHS: [&str; 4] = ["epochs", "initial_epoch", "steps_per_epoch", "batch_size"];
