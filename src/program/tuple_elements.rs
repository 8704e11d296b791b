//! What depends on a value, with the elements of tuples told apart: of `return loss, gradients` the caller's
//! `loss, gradients = ...` takes each by itself.

use rustc_hash::FxHashSet;

use super::contents::{Contents, PartId};
use super::facts::Facts;
use super::influence::Place;
use crate::semantic::{Container, Element, Value};

/// A value, and the position of the element of it that is meant, where it is a tuple.
type Part = (Place, Option<u32>);

/// All that depends on the values, themselves included; not what depends on them only through a place that `stops`.
pub(crate) fn influenced(
    facts: &Facts<'_>,
    from: &[Place],
    stops: impl Fn(Place) -> bool,
) -> FxHashSet<Place> {
    found_from(facts, from, None, stops)
}

/// The same, with what is taken out of containers that other code has put it into.
pub(crate) fn influenced_through_contents(
    facts: &Facts<'_>,
    from: &[Place],
    stops: impl Fn(Place) -> bool,
) -> FxHashSet<Place> {
    found_from(facts, from, Some(facts.contents()), stops)
}

fn found_from(
    facts: &Facts<'_>,
    from: &[Place],
    contents: Option<&Contents>,
    stops: impl Fn(Place) -> bool,
) -> FxHashSet<Place> {
    let mut seen: FxHashSet<Part> = from.iter().map(|&place| (place, None)).collect();
    let mut held: FxHashSet<PartId> = FxHashSet::default();
    let mut work: Vec<Part> = seen.iter().copied().collect();
    while let Some((place, element)) = work.pop() {
        for next in facts.influence().dependents(place) {
            for part in carried(facts, place, element, next) {
                if seen.insert((next, part)) && !stops(next) {
                    work.push((next, part));
                }
            }
        }
        let Some(contents) = contents else { continue };
        let parts = contents.parts_with(place).iter().filter(|&&part| held.insert(part));
        let taken = parts.flat_map(|&part| contents.taken_from(part)).chain(contents.named_for(place));
        for &next in taken {
            if seen.insert((next, None)) && !stops(next) {
                work.push((next, None));
            }
        }
    }
    seen.into_iter().map(|(place, _)| place).collect()
}

/// Which elements of a value one element of another is, or depends on, in one step; none if it takes another element.
fn carried(facts: &Facts<'_>, place: Place, element: Option<u32>, (file, value): Place) -> Vec<Option<u32>> {
    match &facts.module(file).value(value).value {
        Value::Display(Container::Tuple, elements)
            if element.is_none() && elements.iter().all(|own| matches!(own, Element::At(..))) =>
        {
            let positions = elements.iter().filter_map(|own| match *own {
                Element::At(position, value) if (file, value) == place => Some(Some(position)),
                _ => None,
            });
            positions.collect()
        }
        Value::Unpack { index: Some(own), starred: false, .. } => {
            if element.is_none_or(|element| element == *own) { vec![None] } else { Vec::new() }
        }
        Value::Phi(_) | Value::Cell(_) | Value::Parameter(..) | Value::Import(_) => vec![element],
        // What a function of the project returns; what others make of a tuple nobody knows.
        Value::Call(call) => {
            let is_own = facts.called_functions(file, *call).next().is_some();
            vec![element.filter(|_| is_own)]
        }
        _ => vec![None],
    }
}
