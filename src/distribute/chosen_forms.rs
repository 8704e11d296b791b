//! Models whose form, and training whose length, a rank's own results choose: `build(best_units)`,
//! `fit(x, y, epochs=best_epoch)`. The ranks would train different models, or make different numbers of steps.

use rustc_hash::FxHashSet;

use super::choices::rests_on_own_results;
use super::job::Job;
use super::obstacles::obstacle;
use super::own_lengths::is_as_long_as_own_results;
use super::step::Step;
use crate::api::{Effect, Kind};
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::{Argument, StatementId, Value};

/// The calls that make such models, or train so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let mut found = Vec::new();
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
            let is_of_length = || {
                let of = |name: &&str| {
                    let mut given = symbols().filter_map(|own| facts.argument(file, call, own, name));
                    given.any(|own| own.value == argument.value)
                };
                LENGTHS.iter().any(of)
            };
            // One constant stands for all that are written alike.
            let is_constant = matches!(facts.module(file).value(argument.value).value, Value::Constant(_));
            let decides = makes_layer || is_of_length();
            decides && !is_constant && rests_on_own_results(job, (file, argument.value)) || is_long(argument)
        };
        // Layers of one statement are one model.
        if let Some(argument) = call.arguments.iter().find(decides)
            && told.insert((file, call.statement))
        {
            let message = if makes_layer {
                "this rank's own results choose what model it trains"
            } else {
                "how many steps are made depends on this rank's own results"
            };
            let finding = obstacle(rule, facts.location(file, argument.range), message)
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

/// The parameters of `fit` that say how many steps it makes.
const LENGTHS: [&str; 4] = ["epochs", "initial_epoch", "steps_per_epoch", "batch_size"];
