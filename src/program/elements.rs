//! What depends on a value, with the elements of tuples and the entries of dictionaries told apart: of `return loss, gradients`
//! the caller's `loss, gradients = ...` takes each by itself, and `options["epochs"]` nothing of `options["name"]`.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

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

/// So many parts of a value are told apart at most.
const FEW: usize = 4;

/// The parts of values that depend on what is followed.
#[derive(Default)]
struct Reached(FxHashMap<Place, SmallVec<[Of; 2]>>);

impl Reached {
    /// Adds a part of a value; what is new by it, if anything is.
    fn add(&mut self, place: Place, of: Of) -> Option<Of> {
        let parts = self.0.entry(place).or_default();
        if parts.contains(&Of::Whole) || parts.contains(&of) {
            return None;
        }
        let of = if parts.len() < FEW { of } else { Of::Whole };
        if of == Of::Whole {
            parts.clear();
        }
        parts.push(of);
        Some(of)
    }
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
    let mut reached = Reached::default();
    let mut held: FxHashSet<PartId> = FxHashSet::default();
    let mut work: Vec<(Place, Of)> =
        from.iter().filter_map(|&place| Some((place, reached.add(place, Of::Whole)?))).collect();
    let mut come = |work: &mut Vec<(Place, Of)>, next: Place, of: Of| {
        if let Some(of) = reached.add(next, of)
            && !stops(next)
        {
            work.push((next, of));
        }
    };
    while let Some((place, of)) = work.pop() {
        for next in facts.influence().dependents(place) {
            let stored = contents.map_or(&[][..], |contents| contents.stored_under(place, next));
            for key in stored {
                come(&mut work, next, key.map_or(Of::Whole, Of::Under));
            }
            if stored.is_empty() || is_display(facts, next) {
                for of in carried(facts, place, of, next) {
                    come(&mut work, next, of);
                }
            }
        }
        let Some(contents) = contents else { continue };
        let parts = contents.parts_with(place).iter().filter(|&&part| held.insert(part));
        for &next in parts.flat_map(|&part| contents.taken_from(part)).chain(contents.named_for(place)) {
            come(&mut work, next, Of::Whole);
        }
    }
    reached.0.into_keys().collect()
}

/// Whether a value is written with its elements, of which one may be stored in it again.
fn is_display(facts: &Facts<'_>, (file, value): Place) -> bool {
    matches!(facts.module(file).value(value).value, Value::Display(..))
}

/// Which parts of a value depend on a part of another, in one step; none if it takes another part.
fn carried(facts: &Facts<'_>, place: Place, of: Of, (file, value): Place) -> SmallVec<[Of; 2]> {
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
            Of::At(element) if element != *own => SmallVec::new(),
            _ => smallvec![Of::Whole],
        },
        Value::Item { base, key, .. } if (file, *base) == place => match (of, key_of(facts, file, *key)) {
            (Of::Under(own), Some(asked)) if own != asked => SmallVec::new(),
            _ => smallvec![Of::Whole],
        },
        Value::Phi(_) | Value::Cell(_) | Value::Parameter(..) | Value::Import(_) => smallvec![of],
        // What is stored in an attribute is read there.
        Value::Attribute { base, .. } if (file, *base) != place => smallvec![of],
        // What a function of the project returns; what others make of a tuple nobody knows.
        Value::Call(call) => {
            let is_own = facts.called_functions(file, *call).next().is_some();
            match (of, asked_key(facts, file, *call)) {
                (Of::Under(own), Some(asked)) if own != asked => SmallVec::new(),
                _ if is_own => smallvec![of],
                _ => smallvec![Of::Whole],
            }
        }
        _ => smallvec![Of::Whole],
    }
}
