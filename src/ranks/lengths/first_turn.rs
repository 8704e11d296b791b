//! Questions for the first turn of a loop, wherever it begins: `if step == start:` within `for step in range(start, steps):`.
//! Each rank has one such turn, its first, though each may have a start of its own.

use super::{handed_on, range_limits_of};
use crate::program::{Facts, Place};
use crate::semantic::{Method, Operator, Value, ValueId};

/// How much is looked through for where a loop begins.
const DEPTH: u32 = 6;

/// Whether a value asks whether a loop is in its first turn.
pub(in crate::ranks) fn asks_for_first_turn(facts: &Facts<'_>, (file, value): Place) -> bool {
    match facts.module(file).value(value).value {
        Value::Operator { operator: Operator::Compare(Method::EQ | Method::NE), left, right } => {
            begins_with(facts, (file, left), right) || begins_with(facts, (file, right), left)
        }
        _ => false,
    }
}

/// Whether what a loop gives in its first turn is a value.
fn begins_with(facts: &Facts<'_>, (file, turn): Place, start: ValueId) -> bool {
    let module = facts.module(file);
    match module.value(turn).value {
        Value::Iteration(iterable) => begins_at(facts, (file, iterable), start, DEPTH),
        // `for step, batch in zip(range(start, steps), batches)`
        Value::Unpack { base, index: Some(index), starred: false } => {
            let Value::Iteration(iterable) = module.value(base).value else { return false };
            let Value::Call(call) = module.value(iterable).value else { return false };
            facts.calls_builtin(file, call, "builtins.zip")
                && module
                    .call(call)
                    .arguments
                    .get(index as usize)
                    .is_some_and(|own| begins_at(facts, (file, own.value), start, DEPTH))
        }
        _ => false,
    }
}

/// Whether a value is a range that begins at another, or what hands it on.
fn begins_at(facts: &Facts<'_>, (file, value): Place, start: ValueId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    if let Some(limits) = range_limits_of(facts, (file, value)) {
        return limits.len() > 1 && limits[0] == start;
    }
    match &facts.module(file).value(value).value {
        Value::Phi(parts) => parts.iter().all(|&part| begins_at(facts, (file, part), start, depth)),
        _ => handed_on(facts, (file, value))
            .is_some_and(|(of, handed)| of == file && begins_at(facts, (file, handed), start, depth)),
    }
}
