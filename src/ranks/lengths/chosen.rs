//! Sequences of which the rank or a draw decides which one is taken, and that are of different lengths: `data.take(10)` on one rank
//! and `data` on the others.

use super::super::values::{Cause, Difference};
use super::equal_parts::Parts;
use super::polynomial::{Polynomial, origin, polynomial};
use super::range_limits;
use crate::api::Scaling;
use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{Element, Value, ValueId};

/// Why the length of what is one of several values differs: the rank or a draw decides which, and they are told to be unequal.
pub(super) fn difference(
    parts: Parts<'_, '_>,
    (file, value): Place,
    options: &[ValueId],
) -> Option<Difference> {
    let Parts { facts, values, .. } = parts;
    let own = values.difference((file, value)).filter(|own| own.is_drawn(facts))?;
    let is_decided = options.iter().all(|&option| values.difference((file, option)).is_none());
    let is_unequal = || {
        options.iter().enumerate().any(|(index, &one)| {
            let others = &options[index + 1..];
            others.iter().any(|&other| are_unequal(facts, file, one, other))
        })
    };
    if !is_decided {
        return None;
    }
    if is_unequal() {
        return Some(own);
    }
    // There may be no more of it than what is taken.
    let is_part = |part: ValueId| options.iter().any(|&whole| is_part(facts, file, part, whole));
    options.iter().any(|&own| is_part(own)).then_some(Difference { cause: Cause::Data, ..own })
}

fn are_unequal(facts: &Facts<'_>, file: FileId, one: ValueId, other: ValueId) -> bool {
    let length = |value| length(facts, origin(facts, (file, value)));
    let apart = length(one).zip(length(other)).and_then(|(one, other)| one.plus(&other, -1));
    apart.is_some_and(|apart| !apart.is_zero() && apart.factors().next().is_none())
}

/// How many elements there are in a display or a `range`.
fn length(facts: &Facts<'_>, (file, value): Place) -> Option<Polynomial> {
    match &facts.module(file).value(value).value {
        Value::Display(_, elements) => {
            let is_single = |element: &Element| matches!(element, Element::At(..));
            let count = i64::try_from(elements.len()).ok()?;
            elements.iter().all(is_single).then(|| Polynomial::constant(count))
        }
        Value::Call(id) => match range_limits(facts, file, *id)?[..] {
            [stop] => polynomial(facts, (file, stop)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a value is so many elements of another: `data.take(10)`, `files[1:]`.
fn is_part(facts: &Facts<'_>, file: FileId, part: ValueId, whole: ValueId) -> bool {
    let whole = origin(facts, (file, whole));
    let (file, part) = origin(facts, (file, part));
    let is_whole = |value: ValueId| origin(facts, (file, value)) == whole;
    match facts.module(file).value(part).value {
        Value::Slice { base, ref cut } => !cut.limits.is_empty() && is_whole(base),
        Value::Call(id) => {
            let call = facts.module(file).call(id);
            facts.receiver(file, call).is_some_and(is_whole)
                && facts.called_symbols(file, id).any(|symbol| {
                    let mut counts = symbol.scaled().filter(|(_, scaling)| *scaling == Scaling::Divide);
                    counts.any(|(name, _)| facts.argument(file, call, symbol, name).is_some())
                })
        }
        _ => false,
    }
}
