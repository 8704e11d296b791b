//! How many batches shares make whose lengths are known: `x[:49][rank::size]` in batches of 8 are four and three on two ranks.

use rustc_hash::FxHashSet;

use super::{BATCH_SIZE, deals_out};
use crate::api::Symbol;
use crate::program::{Facts, Literal, Object, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// How many ranks are tried.
const RANKS: i64 = 16;

/// How many values are gone back over from the batches to the shares.
const VALUES: usize = 64;

/// The parameter of what makes batches that says whether a short last one is left out.
const DROP_REMAINDER: &str = "drop_remainder";

/// Whether shares of what is dealt out make other numbers of batches on some ranks, as far as all numbers are known.
pub(super) fn differ(facts: &Facts<'_>, (file, id): (FileId, CallId), batching: &Symbol) -> bool {
    let call = facts.module(file).call(id);
    let literal = |parameter: &str| {
        let own = facts.argument(file, call, batching, parameter)?;
        let mut objects = facts.objects(file, own.value).map(|(_, object)| object);
        objects.next().filter(|_| objects.next().is_none())
    };
    let Some(Object::Literal(Literal::Int(size))) = literal(BATCH_SIZE) else { return false };
    let drops = match literal(DROP_REMAINDER) {
        None => false,
        Some(Object::Literal(Literal::Bool(drops))) => drops,
        Some(_) => return false,
    };
    let Some(total) = facts.receiver(file, call).and_then(|own| total(facts, (file, own))) else {
        return false;
    };
    let batches = |share: i64| if drops { share / size } else { (share + size - 1) / size };
    size > 0 && (2..=RANKS).any(|ranks| batches(total / ranks) != batches((total + ranks - 1) / ranks))
}

/// How many elements are dealt out to a value, if that is written.
fn total(facts: &Facts<'_>, place: Place) -> Option<i64> {
    let mut seen: FxHashSet<Place> = FxHashSet::default();
    let mut work = vec![place];
    let mut found = None;
    while let Some((file, value)) = work.pop().filter(|_| seen.len() < VALUES) {
        if !seen.insert((file, value)) {
            continue;
        }
        if !deals_out(facts, (file, value)) {
            work.extend(facts.influence().operands((file, value)));
            continue;
        }
        let module = facts.module(file);
        let Value::Slice { base, .. } = module.value(value).value else { return None };
        let Value::Slice { cut, .. } = &module.value(base).value else { return None };
        let bounds = cut.bounds.filter(|own| own.lower >= 0)?;
        let own = bounds.upper.filter(|&upper| upper > bounds.lower)? - bounds.lower;
        if found.is_some_and(|known| known != own) {
            return None;
        }
        found = Some(own);
    }
    found
}
