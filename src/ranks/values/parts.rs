//! Of a dictionary in which one entry differs, the others don't, nor do its keys: `{'rank': hvd.rank(), 'epochs':
//! 3}['epochs']`.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::api::{Effect, Symbol};
use crate::program::{Facts, FunctionRef, Object, Place};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, Constant, Container, Method, Operator, Passing, Value, ValueId};

/// How much of a value differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it, as far as is known.
    Whole,
    /// Some of its entries.
    Entries(Entries),
    /// A part of its parts: the second of each pair that `items` gives.
    Within(Vec<Step>),
}

/// The entries of a dictionary that differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entries {
    /// What stands under these keys.
    keys: BTreeSet<Key>,
    /// Only some ranks may have them.
    has_other_keys: bool,
}

/// The key of an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Text(Box<str>),
    /// Nobody knows which: the same on all ranks.
    Any,
}

/// From a value to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Each of its elements.
    Each,
    /// The element at an index.
    At(u32),
}

/// How many steps into a value are told apart.
const DEPTH: usize = 4;

impl Part {
    /// What stands under a key; `None` if nobody knows it.
    pub(super) fn of_entry(key: Option<&str>) -> Self {
        let key = key.map_or(Key::Any, |key| Key::Text(key.into()));
        Self::Entries(Entries { keys: [key].into(), has_other_keys: false })
    }

    /// What stands under keys that some ranks may not have.
    pub(super) fn perhaps<'k>(keys: impl IntoIterator<Item = &'k str>) -> Self {
        let keys = keys.into_iter().map(|key| Key::Text(key.into())).collect();
        Self::Entries(Entries { keys, has_other_keys: true })
    }

    fn within(steps: &[Step]) -> Self {
        if steps.is_empty() || steps.len() > DEPTH { Self::Whole } else { Self::Within(steps.into()) }
    }

    /// Whether a value of which this differs is nevertheless true on all ranks, or false: a dictionary without entries is
    /// false.
    pub(super) fn has_one_truth(&self, facts: &Facts<'_>, place: Place) -> bool {
        matches!(self, Self::Entries(entries) if entries.have_keys_alike(facts, place))
    }

    /// Adds to what differs; whether it is more then.
    pub(super) fn join(&mut self, other: Self) -> bool {
        match (&mut *self, other) {
            (Self::Whole, _) => false,
            (Self::Entries(own), Self::Entries(other)) => {
                let before = (own.keys.len(), own.has_other_keys);
                own.keys.extend(other.keys);
                own.has_other_keys |= other.has_other_keys;
                before != (own.keys.len(), own.has_other_keys)
            }
            (Self::Within(own), Self::Within(other)) if *own == other => false,
            _ => {
                *self = Self::Whole;
                true
            }
        }
    }
}

impl Entries {
    /// Whether what stands under a key may differ.
    fn has(&self, key: &str) -> bool {
        self.keys.contains(&Key::Any) || self.names(key)
    }

    /// Whether a dictionary of which these entries differ has the same keys on all ranks.
    fn have_keys_alike(&self, facts: &Facts<'_>, (file, value): Place) -> bool {
        !self.has_other_keys && is_dictionary(facts, file, value)
    }

    /// Whether what stands under a key is known to be among what differs.
    pub(super) fn names(&self, key: &str) -> bool {
        self.keys.contains(&Key::Text(key.into()))
    }
}

/// How much of a value differs that is computed from one of which entries do.
pub(super) fn of_entries(
    facts: &Facts<'_>,
    entries: &Entries,
    place: Place,
    (file, value): Place,
) -> Option<Part> {
    let module = facts.module(file);
    let has = |key: &str| entries.has(key).then_some(Part::Whole);
    let known = |key: ValueId| text(facts, file, key).map_or(Some(Part::Whole), has);
    // What only the keys decide.
    let by_keys = || {
        let is_alike = place.0 == file && entries.have_keys_alike(facts, place);
        (!is_alike).then_some(Part::Whole)
    };
    let whole = || Part::Entries(entries.clone());
    match module.value(value).value {
        Value::Item { base, key, .. } if (file, base) == place => known(key),
        Value::Attribute { base, name, narrowed } if (file, base) == place && narrowed != Some(base) => {
            has(module.names.text(name))
        }
        Value::Iteration(base) if (file, base) == place => by_keys(),
        // `'epochs' in config`
        Value::Operator { operator: Operator::Compare(Method::CONTAINS), left, right } => {
            let key = if (file, left) == place { right } else { left };
            by_keys().and_then(|_| known(key))
        }
        Value::Call(call) if is_asked(facts, place, file, call) => {
            let first = module.call(call).arguments.first();
            match method(facts, file, call) {
                Some("keys") => by_keys(),
                Some("items") => by_keys().map_or(Some(Part::within(&[Step::Each, Step::At(1)])), Some),
                Some("copy") => Some(whole()),
                _ => first.map_or(Some(Part::Whole), |own| known(own.value)),
            }
        }
        Value::Call(call) if is_given(facts, file, call, place, "builtins.dict") => Some(whole()),
        Value::Call(call) if is_given(facts, file, call, place, "builtins.bool") => by_keys(),
        Value::Operator { operator: Operator::Not, .. } => by_keys(),
        // `sorted(config)`
        Value::Call(call) if lists(facts, file, call, place) => by_keys(),
        Value::Call(call)
            if facts.called_functions(file, call).next().is_some()
                || keeps_entries(facts, file, call, place) =>
        {
            Some(whole())
        }
        Value::Phi(_)
        | Value::Cell(_)
        | Value::Parameter(..)
        | Value::Import(_)
        | Value::Attribute { .. } => Some(whole()),
        _ => Some(Part::Whole),
    }
}

/// How much of a value differs that is computed from one of which parts of the parts do.
pub(super) fn of_parts(
    facts: &Facts<'_>,
    steps: &[Step],
    place: Place,
    (file, value): Place,
) -> Option<Part> {
    let module = facts.module(file);
    let inner = &steps[1..];
    match module.value(value).value {
        Value::Iteration(base) if (file, base) == place && steps[0] == Step::Each => {
            Some(Part::within(inner))
        }
        Value::Unpack { base, index: Some(index), .. } if (file, base) == place => match steps[0] {
            Step::At(at) if at != index => None,
            _ => Some(Part::within(inner)),
        },
        Value::Item { base, key, .. } if (file, base) == place => {
            match (steps[0], number(facts, file, key)) {
                (Step::At(at), Some(index)) if i64::from(at) != index => None,
                (Step::At(_), None) => Some(Part::Whole),
                _ => Some(Part::within(inner)),
            }
        }
        Value::Call(call)
            if steps[0] == Step::Each && is_given(facts, file, call, place, "builtins.enumerate") =>
        {
            let pairs = [Step::Each, Step::At(1)];
            Some(Part::within(&[&pairs, inner].concat()))
        }
        Value::Call(call) if steps[0] == Step::Each && lists(facts, file, call, place) => {
            Some(Part::within(steps))
        }
        Value::Call(call) if facts.called_functions(file, call).next().is_some() => Some(Part::within(steps)),
        Value::Attribute { base, narrowed, .. } if (file, base) == place && narrowed != Some(base) => {
            Some(Part::Whole)
        }
        Value::Phi(_)
        | Value::Cell(_)
        | Value::Parameter(..)
        | Value::Import(_)
        | Value::Attribute { .. } => Some(Part::within(steps)),
        _ => Some(Part::Whole),
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
    matches!(parts.get(&base), Some(Part::Entries(entries)) if !entries.has(key))
}

/// Whether a call is a method of the value: `config.get('epochs')`.
fn is_asked(facts: &Facts<'_>, (of, value): Place, file: FileId, call: CallId) -> bool {
    of == file && facts.receiver(file, facts.module(file).call(call)) == Some(value)
}

/// Whether all that a value may be is dictionaries of Python's own.
pub(super) fn is_dictionary(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    let mut objects = facts.objects(file, value).peekable();
    objects.peek().is_some() && objects.all(|(_, own)| matches!(own, Object::Container(Container::Dict, _)))
}

/// The method of dictionaries that a call calls, if it is nothing else.
pub(super) fn method<'f>(facts: &'f Facts<'_>, file: FileId, call: CallId) -> Option<&'f str> {
    let names = facts.callees(file, call).iter().map(|edge| match facts.solution.object(edge.callee) {
        Object::BuiltinMethod(receiver, name) if facts.builtin_class(receiver) == Some("dict") => Some(name),
        _ => None,
    });
    let mut names = names.collect::<Option<Vec<_>>>()?.into_iter();
    let first = names.next()?;
    names.all(|own| own == first).then(|| facts.solution.names.text(first))
}

/// Whether a call of one of Python's own functions is given this value alone.
fn is_given(facts: &Facts<'_>, file: FileId, call: CallId, place: Place, name: &str) -> bool {
    is_alone(facts, file, call, place) && facts.calls_builtin(file, call, name)
}

/// Whether a call may make something that has the entries of a dictionary, as entries or as attributes, by code that is no
/// function of the project: `Munch(config)`, `SimpleNamespace(**config)`, a subclass of `dict`.
fn keeps_entries(facts: &Facts<'_>, file: FileId, call: CallId, place: Place) -> bool {
    let mut given = facts.module(file).call(call).arguments.iter().filter(|own| (file, own.value) == place);
    let Some(passing) = given.next().map(|own| own.passing) else { return false };
    let edges = facts.callees(file, call);
    let keeps = |callee: Object| match callee {
        Object::External(_) | Object::Unknown | Object::Class(_) => match passing {
            Passing::Positional => facts.symbol(callee).is_none(),
            Passing::Merge => facts.symbol(callee).is_none_or(Symbol::is_class),
            Passing::Keyword(_) | Passing::Spread => false,
        },
        _ => false,
    };
    given.next().is_none()
        && !edges.is_empty()
        && edges.iter().all(|edge| keeps(facts.solution.object(edge.callee)))
}

/// Whether a call only puts the elements of a value into another container: `list(config)`, `sorted(config)`.
fn lists(facts: &Facts<'_>, file: FileId, call: CallId, place: Place) -> bool {
    is_alone(facts, file, call, place)
        && facts.callees(file, call).iter().all(|edge| {
            let callee = facts.solution.object(edge.callee);
            matches!(callee, Object::Builtin(_))
                && facts.symbol(callee).is_some_and(|own| own.has(Effect::KeepsLength))
        })
}

/// Whether a value is the only argument of a call.
fn is_alone(facts: &Facts<'_>, file: FileId, call: CallId, place: Place) -> bool {
    let is_it = |own: &Argument| (file, own.value) == place && own.passing == Passing::Positional;
    matches!(&facts.module(file).call(call).arguments[..], [own] if is_it(own))
}

/// The text that a key is.
pub(super) fn text<'a>(facts: &Facts<'a>, file: FileId, key: ValueId) -> Option<&'a str> {
    let module = facts.module(file);
    match module.value(key).value {
        Value::Constant(Constant::Str(name)) => Some(module.names.text(name)),
        _ => None,
    }
}

/// The number that a key is.
fn number(facts: &Facts<'_>, file: FileId, key: ValueId) -> Option<i64> {
    match facts.module(file).value(key).value {
        Value::Constant(Constant::Int(number)) => Some(number),
        _ => None,
    }
}
