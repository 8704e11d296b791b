//! What `enumerate` numbers, and what hands on what it is given, so that it has the same elements.

use super::returned;
use crate::api::Returns;
use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// Whether what iterating gives is numbered: `enumerate(dataset)` begins each pair with the step.
pub(in crate::ranks) fn counts(facts: &Facts<'_>, file: FileId, pairs: ValueId) -> bool {
    let module = facts.module(file);
    let Value::Iteration(iterable) = module.value(pairs).value else { return false };
    is_numbered(facts, (file, iterable), 6)
}

/// Whether the elements of a value are numbered, also if it was handed on: `show_progress(enumerate(dataset))`.
fn is_numbered(facts: &Facts<'_>, place: Place, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let (file, value) = place;
    let all = |places: Vec<Place>| {
        !places.is_empty() && places.into_iter().all(|place| is_numbered(facts, place, depth))
    };
    match &facts.module(file).value(value).value {
        Value::Call(id) => {
            let of_dataset = facts.library.lookup("tensorflow.data.Dataset.enumerate");
            if facts.calls_builtin(file, *id, "builtins.enumerate")
                || facts.called_symbols(file, *id).any(|symbol| Some(symbol) == of_dataset)
            {
                return true;
            }
            let returned = facts.called_functions(file, *id).flat_map(|function| returned(facts, function));
            handed_on(facts, place)
                .or_else(|| handed_through(facts, file, *id))
                .map_or_else(|| all(returned.collect()), |own| is_numbered(facts, own, depth))
        }
        Value::Phi(parts) => all(parts.iter().map(|&part| (file, part)).collect()),
        Value::Parameter(..) | Value::Cell(_) => all(facts.influence().operands(place).collect()),
        _ => false,
    }
}

/// What `enumerate` numbers the elements of.
pub(in crate::ranks) fn enumerated(facts: &Facts<'_>, (file, value): Place) -> Option<Place> {
    let Value::Call(id) = facts.module(file).value(value).value else { return None };
    let first = facts.module(file).call(id).arguments.first()?;
    facts.calls_builtin(file, id, "builtins.enumerate").then_some((file, first.value))
}

/// What a library's call hands on as it is: `tqdm(batches)`.
pub(in crate::ranks) fn handed_on(facts: &Facts<'_>, (file, value): Place) -> Option<Place> {
    let Value::Call(id) = facts.module(file).value(value).value else { return None };
    let call = facts.module(file).call(id);
    let handed = facts.called_symbols(file, id).find_map(|symbol| match symbol.returns() {
        Returns::Argument(name) => facts.argument(file, call, symbol, name),
        _ => None,
    });
    handed.map(|own| (file, own.value))
}

/// What a function of the project hands on as it is: in `def show(batches): return tqdm(batches)` the argument of this
/// call, whatever others give it.
fn handed_through(facts: &Facts<'_>, file: FileId, id: CallId) -> Option<Place> {
    let mut functions = facts.called_functions(file, id);
    let function = functions.next().filter(|_| functions.next().is_none())?;
    let bare = |value| {
        let next = |&place: &Place| handed_on(facts, place);
        std::iter::successors(Some((function.file, value)), next).take(8).last()
    };
    let mut returned = facts.module(function.file).function(function.function).returns.iter();
    let first = bare(*returned.next()?)?;
    let Value::Parameter(of, position) = facts.module(first.0).value(first.1).value else { return None };
    (of == function.function && returned.all(|&value| bare(value) == Some(first)))
        .then(|| facts.passed_for(file, id, function, position))
        .flatten()
}
