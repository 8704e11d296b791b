//! Columns of the data that each rank draws, once and for all: `x = x[:, np.random.permutation(x.shape[1])]`. What the model learns
//! on one rank of a column would be learnt on another of a different one.

use super::super::data::draws::draws_unseeded;
use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::api::Effect;
use crate::finding::Rule;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{Container, Value, ValueId};

/// The arrays whose columns are drawn so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let orders = job.calls().filter(|&(file, call)| {
        draws_unseeded(job, file, call)
            && facts.called_symbols(file, call).any(|own| own.has(Effect::Reorders))
    });
    let orders: Vec<Place> =
        orders.map(|(file, call)| (file, facts.module(file).call(call).result)).collect();
    if orders.is_empty() {
        return Vec::new();
    }
    let drawn = facts.influence().forwards(&orders, |(file, value)| takes(job, file, value).is_some());
    let mut found = Vec::new();
    for file in job.program.files() {
        for index in 0..facts.module(file).values.len() {
            let value = ValueId::new(index);
            let columns = takes(job, file, value).unwrap_or_default();
            if columns.iter().any(|&own| drawn.contains(&(file, own))) && is_once(job, file, value) {
                let range = facts.module(file).value(value).range;
                let message = "each rank draws the columns of its data by itself";
                let finding = obstacle(rule, facts.location(file, range), message)
                    .help("draw them with a constant seed, or let rank 0 tell the others");
                found.push(Step::blocked(
                    finding,
                    "The ranks would learn of different columns with the same weights.",
                ));
            }
        }
    }
    found
}

/// What says which columns an expression takes: `order` in `x[:, order]`.
fn takes(job: &Job<'_>, file: FileId, value: ValueId) -> Option<Vec<ValueId>> {
    let module = job.facts.module(file);
    let Value::Item { key, .. } = module.value(value).value else { return None };
    let Value::Display(Container::Tuple, elements) = &module.value(key).value else { return None };
    let taken = elements.iter().skip(1).filter_map(|own| own.written_out());
    Some(taken.collect())
}

/// Whether code is run once, and not for each example.
fn is_once(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let own = module.value(value);
    let caller = Caller { file, scope: module.code_scope(own.scope) };
    let Some(statement) = module.statement_around(own.range) else { return false };
    let block = module.statement(statement).block;
    let flow = &module.scope(caller.scope).flow;
    job.program.reached.contains(&caller)
        && !flow.leads(block, block)
        && facts.function_of(caller).is_none_or(|function| facts.incoming(function).len() == 1)
}
