//! What differs between ranks: values that depend on the rank's number, and code that only some ranks execute.

use rustc_hash::FxHashSet;

use super::job::Job;
use crate::api::{Effect, Symbol};
use crate::program::{Caller, FunctionRef, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, CallId, Value, ValueId};

/// Whether a value depends on the number of ranks.
pub(super) fn reads_size(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    knows_size(job, &[(file, value)])
}

/// Whether one of several values depends on the number of ranks.
pub(super) fn knows_size(job: &Job<'_>, places: &[Place]) -> bool {
    let known = job.common.size.get_or_init(|| computed_from(job, &[Effect::ReadsSize]));
    places.iter().any(|place| known.contains(place))
}

/// Whether a value depends on the rank's number: it is computed from it, or is one of several between which it
/// decides.
pub(super) fn reads_rank(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    knows_rank(job, (file, value)) || is_chosen_by_rank(job, file, value)
}

fn asks_for_rank(symbol: &Symbol) -> bool {
    symbol.has(Effect::ReadsRank) || symbol.has(Effect::ReadsLocalRank)
}

/// Whether a value is computed from the rank's number.
fn knows_rank(job: &Job<'_>, place: Place) -> bool {
    computed_from_rank(job).contains(&place)
}

fn computed_from_rank<'j>(job: &'j Job<'_>) -> &'j FxHashSet<Place> {
    job.common.rank.get_or_init(|| computed_from(job, &[Effect::ReadsRank, Effect::ReadsLocalRank]))
}

/// All that is computed from what calls with these effects return.
fn computed_from(job: &Job<'_>, effects: &[Effect]) -> FxHashSet<Place> {
    let facts = job.facts;
    let calls = effects.iter().flat_map(|&effect| facts.calls_with(effect));
    let sources: Vec<Place> =
        calls.map(|(file, call)| (file, facts.module(file).call(call).result)).collect();
    facts.influence().forwards(&sources, |_| false)
}

fn is_chosen_by_rank(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let facts = job.facts;
    if computed_from_rank(job).is_empty() {
        return false;
    }
    let behind = facts.influence().backwards(&[(file, value)], |_| false);
    behind.into_iter().any(|(file, value)| {
        let module = facts.module(file);
        let Value::Phi(parts) = &module.value(value).value else { return false };
        let range = module.value(value).range;
        // `1 if hvd.rank() == 0 else 0`
        let mut asks = module.calls.iter().enumerate().any(|(index, call)| {
            range.contains_range(call.range)
                && facts.called_symbols(file, CallId::new(index)).any(asks_for_rank)
        });
        // `1 if is_first else 0`
        asks = asks
            || module
                .uses
                .iter()
                .any(|reading| range.contains_range(reading.range) && knows_rank(job, (file, reading.value)));
        // `if hvd.rank() == 0: verbose = 1`
        asks || module.definitions.iter().any(|definition| {
            let caller = Caller { file, scope: definition.scope };
            parts.contains(&definition.value) && is_block_for_some(job, caller, definition.block)
        })
    })
}

/// Whether only some ranks make a call: a condition on the way to it depends on the rank.
pub(super) fn is_for_one_rank(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let data = job.facts.module(file).call(call);
    is_for_some(job, Caller { file, scope: data.scope }, data.block, &mut FxHashSet::default())
}

/// Whether only some ranks execute a block; `seen` has the functions that were asked about.
pub(super) fn is_for_some(
    job: &Job<'_>,
    caller: Caller,
    block: BlockId,
    seen: &mut FxHashSet<FunctionRef>,
) -> bool {
    if is_block_for_some(job, caller, block) {
        return true;
    }
    let facts = job.facts;
    let Some(function) = facts.function_of(caller) else { return false };
    if !seen.insert(function) {
        return true;
    }
    let mut calls = facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge)).peekable();
    calls.peek().is_some()
        && calls.all(|edge| {
            edge.call.is_some_and(|call| {
                let block = facts.module(edge.caller.file).call(call).block;
                is_for_some(job, edge.caller, block, seen)
            })
        })
}

/// Whether a condition of its own scope keeps a block from some ranks. A loop over data of the rank's own does not:
/// every rank has some.
fn is_block_for_some(job: &Job<'_>, caller: Caller, block: BlockId) -> bool {
    let conditions = job.facts.conditions(caller, block);
    conditions
        .into_iter()
        .filter(|condition| condition.branch.kind != BranchKind::For)
        .filter_map(|condition| condition.branch.condition)
        .any(|value| knows_rank(job, (caller.file, value)))
}
