//! Callbacks that a comprehension picks out on some ranks, by what they say of themselves:
//! `[own for own in callbacks if own.on_all_ranks or hvd.rank() == 0]`.

use super::super::model::Model;
use super::super::values::Cause;
use super::guard_at;
use crate::distribute::Handed;
use crate::program::{Caller, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{Branch, BranchKind, Element, Value, ValueId};

/// Whether a callback goes through a comprehension whose condition depends on the rank, or that only some ranks evaluate.
pub(super) fn may_be_left_out(model: &Model<'_>, handed: &Handed<'_>, object: ObjectId) -> bool {
    handed.behind.iter().any(|&place| leaves_out(model, place, object))
}

/// Whether a value is such a comprehension, and an object may be one of those that it picks out.
pub(in crate::ranks) fn leaves_out(model: &Model<'_>, (file, value): Place, object: ObjectId) -> bool {
    let evaluation = model.facts.module(file).value(value);
    let Value::Display(_, elements) = &evaluation.value else { return false };
    let [Element::Any(item)] = elements[..] else { return false };
    if !model.facts.solution.values(file, item).contains(&object) {
        return false;
    }
    let conditions = conditions(model, file, value);
    let of_rank = |&condition: &ValueId| {
        model.difference((file, condition)).is_some_and(|own| own.cause == Cause::Rank)
    };
    let of_some = || {
        let guard = guard_at(model, (file, evaluation.scope, evaluation.range));
        guard.is_some_and(|guard| !guard.is_all())
    };
    conditions.iter().any(of_rank) || !conditions.is_empty() && of_some()
}

/// The conditions behind the loops of a comprehension: `if own.on_all_ranks`.
fn conditions(model: &Model<'_>, file: FileId, display: ValueId) -> Vec<ValueId> {
    let module = model.facts.module(file);
    let evaluation = module.value(display);
    let caller = Caller { file, scope: module.code_scope(evaluation.scope) };
    let blocks = &module.scope(caller.scope).flow.blocks;
    let within = |own: &Branch| evaluation.range.contains_range(own.range);
    let branches = || blocks.iter().filter_map(|block| block.branch).filter(within);
    // What is evaluated for each item stands in front of the first loop, and may have conditions of its own.
    let loops = branches().filter(|own| own.kind == BranchKind::For).map(|own| own.range.end());
    let Some(first) = loops.min() else { return Vec::new() };
    let tests = branches().filter(|own| own.kind == BranchKind::If && own.range.start() >= first);
    tests.filter_map(|own| own.condition).collect()
}
