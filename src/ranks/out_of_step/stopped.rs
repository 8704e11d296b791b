//! Loops that all ranks leave after the same number of turns, though some could go on:
//! `for step, batch in enumerate(shard): if step == steps: break`.

use super::super::lengths::{self, Left};
use super::super::model::Model;
use super::super::values::{Cause, Difference};
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, Operator, Value, ValueId};

/// Why the ranks make different numbers of turns in a loop over a value.
pub(in crate::ranks) fn turns_differ(
    model: &Model<'_>,
    caller: Caller,
    head: BlockId,
    iterated: ValueId,
) -> Option<Difference> {
    let own = model.values.length((caller.file, iterated))?;
    match left(model, caller, head, iterated) {
        Left::All => Some(own),
        Left::Perhaps => Some(Difference { cause: Cause::Cut, ..own }),
        Left::Nothing => None,
    }
}

/// What the tests of a loop's counter leave of a difference between the lengths of what it goes through.
fn left(model: &Model<'_>, caller: Caller, head: BlockId, iterated: ValueId) -> Left {
    let file = caller.file;
    let flow = &model.facts.module(file).scope(caller.scope).flow;
    let Some(&begin) = flow.blocks[head.index()].successors.first() else { return Left::All };
    let turn = model.blocks.region(caller, head);
    let stops = turn.into_iter().filter(|&block| block != head).filter_map(|block| {
        let branch = flow.blocks[block.index()].branch.filter(|own| own.kind == BranchKind::If)?;
        let limit = limit(model, file, branch.condition?, iterated)?;
        let &leaving = flow.blocks[block.index()].successors.first()?;
        if leaving == head || flow.leads(leaving, head) || model.difference(limit).is_some() {
            return None;
        }
        // What a turn does before it is stopped, those that come to their end by themselves have not done.
        let is_sure = block == begin && lengths::has_every_rank(model.facts, limit);
        Some(if is_sure { Left::Nothing } else { Left::Perhaps })
    });
    stops.min().unwrap_or(Left::All)
}

/// The number that a condition compares the number of turns with, which holds from there on: `step >= steps`.
fn limit(model: &Model<'_>, file: FileId, condition: ValueId, iterated: ValueId) -> Option<Place> {
    let module = model.facts.module(file);
    let Value::Operator { operator: Operator::Compare(method), left, right } = module.value(condition).value
    else {
        return None;
    };
    let is_counter = |value: ValueId| match module.value(value).value {
        Value::Unpack { base, index: Some(0), .. } => {
            module.value(base).value == Value::Iteration(iterated) && lengths::counts(model.facts, file, base)
        }
        _ => false,
    };
    match method.name() {
        "__eq__" | "__ge__" if is_counter(left) => Some((file, right)),
        "__eq__" | "__le__" if is_counter(right) => Some((file, left)),
        _ => None,
    }
}
