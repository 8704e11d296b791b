//! What the program puts into dictionaries and takes out of them, entry by entry: `config['rank'] = hvd.rank()`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::guards::keeps;
use super::parts::{Part, is_dictionary, method, of_entries, of_parts, text};
use crate::program::{CallEdge, Facts, FunctionRef, Object, Place, for_merged};
use crate::project::FileId;
use crate::semantic::{
    BranchKind, CallId, Container, Element, Parameter, ParameterKind, Passing, StoreKey, Value, ValueId,
};
use crate::syntax::TextRange;

/// What the program puts into containers, entry by entry: `config['rank'] = hvd.rank()`.
#[derive(Debug, Default)]
pub(super) struct Puts {
    /// By what is put there and where.
    by_value: FxHashMap<(Place, Place), Vec<Put>>,
    /// The dictionaries that get entries under keys that are no text.
    by_key: FxHashMap<Place, Vec<Place>>,
    /// The comprehensions that take no element out.
    unfiltered: FxHashSet<Place>,
}

#[derive(Clone, Debug)]
enum Put {
    /// Under this key; `None` if nobody knows it.
    Under(Option<Box<str>>),
    /// All that the value has.
    All,
    /// What it has under this key.
    Entry(Box<str>),
    /// In another way.
    Other,
}

impl Puts {
    pub(super) fn new(facts: &Facts<'_>, files: &[FileId]) -> Self {
        let mut own = Self::default();
        for &file in files {
            own.add_stores(facts, file);
            own.add_calls(facts, file);
            own.add_passed(facts, file);
            own.add_comprehensions(facts, file);
        }
        own
    }

    fn add_stores(&mut self, facts: &Facts<'_>, file: FileId) {
        for store in &facts.module(file).stores {
            let put = match store.key {
                StoreKey::Attribute(_) => continue,
                StoreKey::Item(key) => {
                    let text = text(facts, file, key);
                    if text.is_none() && is_dictionary(facts, file, store.base) {
                        self.by_key.entry((file, key)).or_default().push((file, store.base));
                    }
                    Put::Under(text.map(Into::into))
                }
                StoreKey::Slice => Put::Other,
            };
            self.by_value.entry(((file, store.value), (file, store.base))).or_default().push(put);
        }
    }

    /// `config.update(rank=hvd.rank())`
    fn add_calls(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        for (index, call) in module.calls.iter().enumerate() {
            let id = CallId::new(index);
            let Some(receiver) = facts.receiver(file, call).filter(|_| !call.arguments.is_empty()) else {
                continue;
            };
            let is_of_python =
                |edge: &CallEdge| matches!(facts.solution.object(edge.callee), Object::BuiltinMethod(..));
            if !facts.callees(file, id).iter().any(is_of_python) {
                continue;
            }
            let method = method(facts, file, id);
            for (index, argument) in call.arguments.iter().enumerate() {
                let put = match (method, argument.passing) {
                    (Some("update"), Passing::Positional) => Put::All,
                    (Some("update"), Passing::Keyword(name)) => {
                        Put::Under(Some(module.names.text(name).into()))
                    }
                    (Some("setdefault"), Passing::Positional) if index == 1 => {
                        Put::Under(text(facts, file, call.arguments[0].value).map(Into::into))
                    }
                    (Some("get" | "pop"), _) => continue,
                    _ => Put::Other,
                };
                self.by_value.entry(((file, argument.value), (file, receiver))).or_default().push(put);
            }
        }
    }

    /// What the project's functions get in their `**options`, `train(epochs=3)`, `train(**defaults)`, and what parameters
    /// get of such.
    fn add_passed(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        for (index, call) in module.calls.iter().enumerate() {
            for argument in &call.arguments {
                let keyword = match argument.passing {
                    Passing::Keyword(name) => Some(module.names.text(name)),
                    Passing::Merge => None,
                    Passing::Positional | Passing::Spread => continue,
                };
                for function in facts.called_functions(file, CallId::new(index)) {
                    if let Some(options) = options(facts, function, keyword) {
                        let put = keyword.map_or(Put::All, |keyword| Put::Under(Some(keyword.into())));
                        self.by_value.entry(((file, argument.value), options)).or_default().push(put);
                    }
                }
            }
            for function in facts.called_functions(file, CallId::new(index)) {
                let target = facts.module(function.file);
                let parameters = &target.function(function.function).parameters;
                for_merged(facts, file, call, function, |argument, parameter| {
                    let parameter = &parameters[parameter];
                    let put = Put::Entry(target.names.text(parameter.name).into());
                    let (from, to) = ((file, argument), (function.file, parameter.value));
                    self.by_value.entry((from, to)).or_default().push(put);
                });
            }
        }
    }

    fn add_comprehensions(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        let of_one = |value: &Value| matches!(value, Value::Display(Container::Dict, elements) if matches!(**elements, [Element::Key(..)]));
        if !module.values.iter().any(|own| of_one(&own.value)) {
            return;
        }
        let blocks = module.scopes.iter().flat_map(|scope| &scope.flow.blocks);
        let tests = blocks.filter_map(|block| block.branch).filter(|own| own.kind == BranchKind::If);
        let mut tests: Vec<TextRange> = tests.map(|own| own.range).collect();
        tests.sort_by_key(|range| range.start());
        for (index, own) in module.values.iter().enumerate().filter(|(_, own)| of_one(&own.value)) {
            let next = tests.partition_point(|test| test.start() < own.range.start());
            if tests.get(next).is_none_or(|test| test.start() >= own.range.end()) {
                self.unfiltered.insert((file, ValueId::new(index)));
            }
        }
    }

    /// The dictionaries that a key goes into: where it differs, they have other keys.
    pub(super) fn under(&self, key: Place) -> &[Place] {
        self.by_key.get(&key).map_or(&[], Vec::as_slice)
    }

    /// How much of a value differs to which a difference goes in one step; `None` if it does not go there.
    pub(super) fn carried(&self, facts: &Facts<'_>, place: Place, part: &Part, next: Place) -> Option<Part> {
        let puts = self.by_value.get(&(place, next)).map_or(&[][..], Vec::as_slice);
        let put = puts.iter().filter_map(|put| match (put, part) {
            (Put::Under(key), _) => Some(Part::of_entry(key.as_deref())),
            (Put::All, Part::Entries(_)) => Some(part.clone()),
            (Put::Entry(key), Part::Entries(entries)) => entries.names(key).then_some(Part::Whole),
            // Of options of which nobody knows what differs, most entries don't.
            (Put::Entry(_), _) => None,
            (Put::All | Put::Other, _) => Some(Part::Whole),
        });
        let as_element = self.as_element(facts, next, place, part).or_else(|| as_keyword(facts, next, place));
        let parts = put.chain(as_element).reduce(|mut all, own| {
            all.join(own);
            all
        });
        if parts.is_some() || !puts.is_empty() {
            return parts;
        }
        match part {
            Part::Whole => Some(Part::Whole),
            Part::Entries(entries) => of_entries(facts, entries, place, next),
            Part::Within(steps) => of_parts(facts, steps, place, next),
        }
    }

    /// How much of a display differs in which an element does.
    fn as_element(&self, facts: &Facts<'_>, next: Place, place: Place, part: &Part) -> Option<Part> {
        let file = next.0;
        let Value::Display(_, elements) = &facts.module(file).value(next.1).value else { return None };
        let mut all: Option<Part> = None;
        for element in elements {
            let own = match *element {
                Element::Key(key, _) if (file, key) == place => Part::Whole,
                Element::Key(key, value) if (file, value) == place => match text(facts, file, key) {
                    None if elements.len() == 1 && !self.unfiltered.contains(&next) => Part::Whole,
                    key => Part::of_entry(key),
                },
                // `{**config, 'epochs': 3}`
                Element::Merge(value) if (file, value) == place => match part {
                    Part::Entries(_) => part.clone(),
                    Part::Whole | Part::Within(_) => Part::Whole,
                },
                Element::At(_, value) | Element::Any(value) | Element::Spread(value)
                    if (file, value) == place =>
                {
                    Part::Whole
                }
                _ => continue,
            };
            match &mut all {
                Some(all) => _ = all.join(own),
                None => all = Some(own),
            }
        }
        all
    }
}

/// The parameter of a function that takes all that is passed by name and no other parameter is called.
fn options(facts: &Facts<'_>, function: FunctionRef, keyword: Option<&str>) -> Option<Place> {
    let module = facts.module(function.file);
    let parameters = &module.function(function.function).parameters;
    let is_named = |own: &Parameter| Some(module.names.text(own.name)) == keyword;
    if parameters.iter().any(is_named) {
        return None;
    }
    let options = parameters.iter().find(|own| own.kind == ParameterKind::Keywords)?;
    Some((function.file, options.value))
}

/// How much of `dict(rank=hvd.rank())` or `SimpleNamespace(rank=hvd.rank())` differs in which an argument does.
fn as_keyword(facts: &Facts<'_>, (file, value): Place, place: Place) -> Option<Part> {
    let module = facts.module(file);
    let Value::Call(call) = module.value(value).value else { return None };
    if !facts.calls_builtin(file, call, "builtins.dict") && !keeps(facts, file, call) {
        return None;
    }
    let given = module.call(call).arguments.iter().filter(|own| (file, own.value) == place);
    let parts = given.map(|own| match own.passing {
        Passing::Keyword(name) => Some(Part::of_entry(Some(module.names.text(name)))),
        _ => None,
    });
    parts.collect::<Option<Vec<Part>>>()?.into_iter().reduce(|mut all, own| {
        all.join(own);
        all
    })
}

/// The dictionary whose keys a call of a method changes, and which: `config.pop('epochs')`.
pub(super) fn changed(facts: &Facts<'_>, file: FileId, id: CallId) -> Option<(ValueId, Part)> {
    let module = facts.module(file);
    let call = module.call(id);
    let receiver = facts.receiver(file, call)?;
    let text = |key: ValueId| text(facts, file, key);
    let keys: Option<Vec<&str>> = match method(facts, file, id)? {
        "clear" | "popitem" => None,
        "pop" | "setdefault" => call.arguments.first().and_then(|own| text(own.value)).map(|key| vec![key]),
        "update" => {
            let put = call.arguments.iter().map(|own| match own.passing {
                Passing::Keyword(name) => Some(vec![module.names.text(name)]),
                _ => match &module.value(own.value).value {
                    Value::Display(Container::Dict, elements) => elements
                        .iter()
                        .map(|element| match *element {
                            Element::Key(key, _) => text(key),
                            _ => None,
                        })
                        .collect(),
                    _ => None,
                },
            });
            put.collect::<Option<Vec<_>>>().map(|all| all.concat())
        }
        _ => return None,
    };
    Some((receiver, keys.map_or(Part::Whole, Part::perhaps)))
}
