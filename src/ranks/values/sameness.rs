//! Values that are the same whichever way control has come: `tqdm(range(3))` on rank 0 and `range(3)` on the others.

use super::super::lengths;
use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{Value, ValueId};

/// How deep values are compared.
const DEPTH: u32 = 8;

/// Whether values are one and the same, but for what only shows or hands it on.
pub(super) fn are_one(facts: &Facts<'_>, file: FileId, values: &[ValueId]) -> bool {
    let bare = |value: ValueId| {
        let next = |&place: &Place| {
            let downloaded = || facts.downloaded_path(place.0, place.1).map(|path| (place.0, path.value));
            lengths::handed_on(facts, place).or_else(|| lengths::enumerated(facts, place)).or_else(downloaded)
        };
        std::iter::successors(Some((file, value)), next).take(8).last().expect("it begins with one")
    };
    values.split_first().is_some_and(|(&first, others)| {
        let first = bare(first);
        others.iter().all(|&own| is_same(facts, bare(own), first))
    })
}

/// Whether two values are one, or the same numbers.
fn is_same(facts: &Facts<'_>, one: Place, other: Place) -> bool {
    let are_alike = || {
        let (ones, others) = (lengths::range_limits_of(facts, one)?, lengths::range_limits_of(facts, other)?);
        let is_same = |(&one_number, &number)| is_same_number(facts, one.0, one_number, number, DEPTH);
        Some(ones.len() == others.len() && !ones.is_empty() && ones.iter().zip(&others).all(is_same))
    };
    one == other || one.0 == other.0 && are_alike() == Some(true)
}

/// Whether two expressions without calls say the same.
pub(super) fn is_same_number(
    facts: &Facts<'_>,
    file: FileId,
    one: ValueId,
    other: ValueId,
    depth: u32,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let module = facts.module(file);
    let is_same = |one, other| is_same_number(facts, file, one, other, depth);
    one == other
        || match (&module.value(one).value, &module.value(other).value) {
            (
                &Value::Attribute { base, name, narrowed },
                &Value::Attribute { base: other, name: named, narrowed: by },
            ) => name == named && narrowed == by && is_same(base, other),
            (
                &Value::Operator { operator, left, right },
                &Value::Operator { operator: by, left: other_left, right: other_right },
            ) => operator == by && is_same(left, other_left) && is_same(right, other_right),
            _ => false,
        }
}
