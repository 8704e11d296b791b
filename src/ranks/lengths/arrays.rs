//! How many elements there are in what a library makes: as many as it is told, `np.arange(count)`, or as many as a mask has
//! that are true, `np.flatnonzero(np.random.rand(len(x)) < 0.1)`.

use super::{STEPS, is_mask};
use crate::api::{Effect, Symbol};
use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// The functions that make an array of the shape, or up to the number, that they are given.
const OF_NUMBERS: [&str; 4] = ["numpy.arange", "numpy.zeros", "numpy.ones", "numpy.empty"];

/// The parameters by which functions are told how much to draw.
const DRAWN: [&str; 2] = ["size", "k"];

/// The functions that tell where something is true.
const PLACES: [&str; 4] = ["numpy.flatnonzero", "numpy.argwhere", "numpy.nonzero", "numpy.where"];

/// What says how many elements the result of a call has.
pub(super) fn sizes(facts: &Facts<'_>, file: FileId, id: CallId) -> Vec<ValueId> {
    let call = facts.module(file).call(id);
    let given = |symbol: &Symbol| -> Vec<ValueId> {
        if OF_NUMBERS.contains(&symbol.name()) {
            return call.arguments.iter().map(|own| own.value).collect();
        }
        let drawn = DRAWN.iter().filter(|_| symbol.has(Effect::DrawsRandom));
        drawn.filter_map(|name| Some(facts.argument(file, call, symbol, name)?.value)).collect()
    };
    facts.called_symbols(file, id).flat_map(given).collect()
}

/// The mask whose true elements a value has the places of: `np.where(mask)[0]`, `np.flatnonzero(mask)`.
pub(super) fn mask_behind(facts: &Facts<'_>, (file, value): Place) -> Option<ValueId> {
    let module = facts.module(file);
    let found = match module.value(value).value {
        Value::Item { base, .. } => base,
        _ => value,
    };
    let Value::Call(id) = module.value(found).value else { return None };
    let tells = |symbol: &Symbol| PLACES.contains(&symbol.name());
    let [mask] = &module.call(id).arguments[..] else { return None };
    (facts.called_symbols(file, id).any(tells) && is_mask(facts, (file, mask.value), STEPS))
        .then_some(mask.value)
}
