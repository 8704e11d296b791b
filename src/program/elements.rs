//! What depends on a value, with the elements of tuples and the entries of dictionaries told apart: of `return loss, gradients`
//! the caller's `loss, gradients = ...` takes each by itself, and `options["epochs"]` nothing of `options["name"]`.

use rustc_hash::FxHashSet;

use super::contents::{Contents, PartId, asked_key, key_of};
use super::facts::Facts;
use super::influence::Place;
use super::object::Literal;
use crate::semantic::{Container, Element, Value};

/// The part of a value that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Of {
    /// All of it.
    Whole,
    /// The element at a position of a tuple.
    At(u32),
    /// What is under a key of a dictionary.
    Under(Literal),
}

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
    let mut seen: FxHashSet<(Place, Of)> = from.iter().map(|&place| (place, Of::Whole)).collect();
    let mut held: FxHashSet<PartId> = FxHashSet::default();
    let mut work: Vec<(Place, Of)> = seen.iter().copied().collect();
    while let Some((place, of)) = work.pop() {
        for next in facts.influence().dependents(place) {
            let stored = contents.map_or(&[][..], |contents| contents.stored_under(place, next));
            let stored = stored.iter().map(|key| key.map_or(Of::Whole, Of::Under));
            let carried = if stored.len() == 0 || is_display(facts, next) {
                carried(facts, place, of, next)
            } else {
                Vec::new()
            };
            for of in stored.chain(carried) {
                if seen.insert((next, of)) && !stops(next) {
                    work.push((next, of));
                }
            }
        }
        let Some(contents) = contents else { continue };
        let parts = contents.parts_with(place).iter().filter(|&&part| held.insert(part));
        let taken = parts.flat_map(|&part| contents.taken_from(part)).chain(contents.named_for(place));
        for &next in taken {
            if seen.insert((next, Of::Whole)) && !stops(next) {
                work.push((next, Of::Whole));
            }
        }
    }
    seen.into_iter().map(|(place, _)| place).collect()
}

/// Whether a value is written with its elements, of which one may be stored in it again.
fn is_display(facts: &Facts<'_>, (file, value): Place) -> bool {
    matches!(facts.module(file).value(value).value, Value::Display(..))
}

/// Which parts of a value depend on a part of another, in one step; none if it takes another part.
fn carried(facts: &Facts<'_>, place: Place, of: Of, (file, value): Place) -> Vec<Of> {
    match &facts.module(file).value(value).value {
        Value::Display(Container::Tuple, elements)
            if of == Of::Whole && elements.iter().all(|own| matches!(own, Element::At(..))) =>
        {
            let positions = elements.iter().filter_map(|own| match *own {
                Element::At(position, value) if (file, value) == place => Some(Of::At(position)),
                _ => None,
            });
            positions.collect()
        }
        Value::Display(Container::Dict, elements) if of == Of::Whole => {
            let entries = elements.iter().filter_map(|own| match *own {
                Element::Key(key, value) if (file, value) == place && (file, key) != place => {
                    Some(key_of(facts, file, key).map_or(Of::Whole, Of::Under))
                }
                Element::Key(key, _) if (file, key) == place => Some(Of::Whole),
                Element::Merge(value) | Element::Any(value) | Element::Spread(value)
                    if (file, value) == place =>
                {
                    Some(Of::Whole)
                }
                _ => None,
            });
            entries.collect()
        }
        Value::Unpack { index: Some(own), starred: false, .. } => match of {
            Of::At(element) if element != *own => Vec::new(),
            _ => vec![Of::Whole],
        },
        Value::Item { base, key, .. } if (file, *base) == place => match (of, key_of(facts, file, *key)) {
            (Of::Under(own), Some(asked)) if own != asked => Vec::new(),
            _ => vec![Of::Whole],
        },
        Value::Phi(_) | Value::Cell(_) | Value::Parameter(..) | Value::Import(_) => vec![of],
        // What is stored in an attribute is read there.
        Value::Attribute { base, .. } if (file, *base) != place => vec![of],
        // What a function of the project returns; what others make of a tuple nobody knows.
        Value::Call(call) => {
            let is_own = facts.called_functions(file, *call).next().is_some();
            match (of, asked_key(facts, file, *call)) {
                (Of::Under(own), Some(asked)) if own != asked => Vec::new(),
                _ if is_own => vec![of],
                _ => vec![Of::Whole],
            }
        }
        _ => vec![Of::Whole],
    }
}
