//! Of a dictionary in which one entry differs, the others don't: `{'rank': hvd.rank(), 'epochs': 3}['epochs']`.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::program::{Facts, FunctionRef, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Constant, Element, Method, Operator, StoreKey, Value, ValueId};

/// How much of a value differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it, as far as is known.
    Whole,
    /// What stands under these keys.
    Keys(BTreeSet<Box<str>>),
}

/// The keys of the entries that are stored one by one: `config['rank'] = hvd.rank()`.
#[derive(Debug, Default)]
pub(super) struct Entries(FxHashMap<(Place, ValueId), Box<str>>);

impl Entries {
    pub(super) fn new(facts: &Facts<'_>, files: &[FileId]) -> Self {
        let mut found = FxHashMap::default();
        for &file in files {
            for store in &facts.module(file).stores {
                if let StoreKey::Item(key) = store.key
                    && let Some(key) = text(facts, file, key)
                {
                    found.insert(((file, store.value), store.base), key.into());
                }
            }
        }
        Self(found)
    }

    /// How much of a value differs to which a difference goes in one step; `None` if it does not go there.
    pub(super) fn carried(&self, facts: &Facts<'_>, place: Place, part: &Part, next: Place) -> Option<Part> {
        let (file, value) = next;
        if let Some(key) = self.0.get(&(place, value)).filter(|_| place.0 == file) {
            return Some(Part::Keys([key.clone()].into()));
        }
        let module = facts.module(file);
        let own = &module.value(value).value;
        if let Value::Display(_, elements) = own {
            return Some(entries(facts, file, elements, place, part));
        }
        let Part::Keys(keys) = part else { return Some(Part::Whole) };
        let has = |key: &str| keys.contains(key).then_some(Part::Whole);
        match *own {
            Value::Item { base, key, .. } if (file, base) == place => {
                text(facts, file, key).map_or(Some(Part::Whole), has)
            }
            Value::Attribute { base, name, narrowed } if (file, base) == place && narrowed != Some(base) => {
                has(module.names.text(name))
            }
            // `'epochs' in config`
            Value::Operator { operator: Operator::Compare(Method::CONTAINS), left, right } => {
                let key = if (file, left) == place { right } else { left };
                text(facts, file, key).map_or(Some(Part::Whole), has)
            }
            Value::Call(call) if is_asked(facts, place, file, call) => {
                let first = module.call(call).arguments.first();
                first.and_then(|own| text(facts, file, own.value)).map_or(Some(Part::Whole), has)
            }
            Value::Call(call) if facts.called_functions(file, call).next().is_some() => Some(part.clone()),
            Value::Phi(_)
            | Value::Cell(_)
            | Value::Parameter(..)
            | Value::Import(_)
            | Value::Attribute { .. } => Some(part.clone()),
            _ => Some(Part::Whole),
        }
    }
}

/// Whether a call gives back an entry of what it is passed, and another one than those that differ:
/// `pick(options, 'average')` with `return options[key]`.
pub(super) fn is_other_entry(
    facts: &Facts<'_>,
    parts: &FxHashMap<Place, Part>,
    (of, returned): Place,
    (file, result): Place,
) -> bool {
    let module = facts.module(of);
    let Value::Call(call) = facts.module(file).value(result).value else { return false };
    let Value::Item { base, key, .. } = module.value(returned).value else { return false };
    let (Value::Parameter(function, base), Value::Parameter(other, key)) =
        (&module.value(base).value, &module.value(key).value)
    else {
        return false;
    };
    let mut called = facts.called_functions(file, call);
    let own = FunctionRef { file: of, function: *function };
    if function != other || called.next() != Some(own) || called.next().is_some() {
        return false;
    }
    let passed = |position: u32| facts.passed_for(file, call, own, position);
    let Some((from, key)) = passed(*key) else { return false };
    let (Some(key), Some(base)) = (text(facts, from, key), passed(*base)) else { return false };
    matches!(parts.get(&base), Some(Part::Keys(keys)) if !keys.contains(key))
}

/// How much of a display differs in which an element does.
fn entries(facts: &Facts<'_>, file: FileId, elements: &[Element], place: Place, part: &Part) -> Part {
    let mut keys = BTreeSet::new();
    for element in elements {
        match *element {
            Element::Key(key, value) if (file, value) == place && (file, key) != place => {
                let Some(key) = text(facts, file, key) else { return Part::Whole };
                keys.insert(key.into());
            }
            // `{**config, 'epochs': 3}`
            Element::Merge(value) if (file, value) == place => match part {
                Part::Keys(own) => keys.extend(own.iter().cloned()),
                Part::Whole => return Part::Whole,
            },
            Element::Key(key, _) if (file, key) != place => {}
            Element::At(_, value) | Element::Any(value) | Element::Spread(value) | Element::Merge(value)
                if (file, value) != place => {}
            _ => return Part::Whole,
        }
    }
    if keys.is_empty() { Part::Whole } else { Part::Keys(keys) }
}

/// Whether a call is a method of the value: `config.get('epochs')`.
fn is_asked(facts: &Facts<'_>, (of, value): Place, file: FileId, call: CallId) -> bool {
    of == file && facts.receiver(file, facts.module(file).call(call)) == Some(value)
}

/// The text that a key is.
pub(super) fn text<'a>(facts: &Facts<'a>, file: FileId, key: ValueId) -> Option<&'a str> {
    let module = facts.module(file);
    match module.value(key).value {
        Value::Constant(Constant::Str(name)) => Some(module.names.text(name)),
        _ => None,
    }
}
