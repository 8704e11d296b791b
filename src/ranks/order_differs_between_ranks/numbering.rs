//! Elements that are numbered in an order that is another one on each rank: `{word: number for number, word in
//! enumerate(set(words))}`, by a counter in a loop, or by their place in a list, `words.index(word)`.

use rustc_hash::FxHashSet;

use super::super::disorder::{self, Why};
use super::super::model::Model;
use super::{Use, finding};
use crate::api::Effect;
use crate::finding::{Confidence, Finding, Level};
use crate::program::{Caller, Place, Via};
use crate::project::FileId;
use crate::semantic::{
    Argument, BranchKind, CallId, Container, Element, Module, ScopeId, Store, StoreKey, Value, ValueId,
};
use crate::syntax::TextRange;

/// The numberings in a file.
pub(super) fn findings(model: &Model<'_>, file: FileId) -> Vec<Finding> {
    let module = model.facts.module(file);
    let mut found = Vec::new();
    for (index, evaluation) in module.values.iter().enumerate() {
        let table = ValueId::new(index);
        let pairs: Vec<(ValueId, ValueId)> = match &evaluation.value {
            Value::Display(Container::Dict, elements) => elements.iter().filter_map(pair_of_entry).collect(),
            Value::Call(id) => match given_to_dict(model, file, *id) {
                Some(Given::Pairs(pairs)) => pairs,
                Some(Given::Numbered(elements)) => {
                    found.extend(of_elements(model, file, elements, evaluation.scope, table));
                    continue;
                }
                None => continue,
            },
            _ => continue,
        };
        for (key, value) in pairs {
            let numbered = numbered(model, file, key, value);
            found.extend(numbered.and_then(|own| of_elements(model, file, own, evaluation.scope, table)));
        }
    }
    for store in &module.stores {
        if let Some(elements) = counted(model, file, store) {
            found.extend(of_elements(model, file, elements, store.scope, store.base));
        }
    }
    let index = INDEX.map(|name| model.facts.library.lookup(name));
    for (id, call) in module.calls.iter().enumerate() {
        let callees = model.facts.callees(file, CallId::new(id)).iter();
        let mut methods = callees.filter_map(|edge| model.facts.builtin_method(edge.callee));
        if methods.any(|(_, method)| index.contains(&Some(method)))
            && let Some(list) = model.facts.receiver(file, call)
        {
            let elements = Elements { value: list, range: call.range, are_keys: true };
            found.extend(of_elements(model, file, elements, call.scope, call.result));
        }
    }
    found
}

/// What tells the place of an element.
const INDEX: [&str; 2] = ["builtins.list.index", "builtins.tuple.index"];

/// What code numbers one after the other.
#[derive(Clone, Copy)]
struct Elements {
    value: ValueId,
    range: TextRange,
    /// The number is found by the element, and not the element by its number.
    are_keys: bool,
}

impl Elements {
    fn given(argument: &Argument, are_keys: bool) -> Self {
        Self { value: argument.value, range: argument.range, are_keys }
    }
}

/// The finding for elements that code numbers in a table.
fn of_elements(
    model: &Model<'_>,
    file: FileId,
    elements: Elements,
    scope: ScopeId,
    table: ValueId,
) -> Option<Finding> {
    let module = model.facts.module(file);
    // Code of a helper that only other programs run is nobody's concern.
    let code = Caller { file, scope: module.code_scope(scope) };
    if !model.programs.iter().any(|program| program.reached.contains(&code)) {
        return None;
    }
    let disorder = disorder::of(model, (file, elements.value))?;
    // `dict(enumerate(paths))` only says what stands where, on each rank for itself.
    if disorder.why == Why::Shuffled && !elements.are_keys {
        return None;
    }
    let mut finding = finding(model, file, elements.range, scope, &disorder, Use::Numbered);
    if !is_seen(model, (file, table)) {
        finding.level = Level::Note;
        finding.confidence = Confidence::Possible;
        finding = finding.note(UNSEEN);
    } else if disorder.why == Why::Shuffled {
        // Each rank may find by the numbers what stands at those places of its own.
        finding.confidence = Confidence::Possible;
        finding.forbids_fixes = true;
    }
    Some(finding)
}

/// Why it may do no harm.
const UNSEEN: &str = "As far as is seen nothing trains by these numbers, and no file keeps them: it does no harm where all that \
                      is numbered is compared with each other.";

/// Whether what is numbered comes to a library that trains, into a file, or to code of which that can't be told: of a module,
/// which others may import, and of functions that yield, or that libraries call.
pub(super) fn is_seen(model: &Model<'_>, table: Place) -> bool {
    let facts = model.facts;
    let made = facts.influence().forwards(&[table], |_| false);
    let is_open = |&(file, value): &Place| {
        let module = facts.module(file);
        let caller = Caller { file, scope: module.code_scope(module.value(value).scope) };
        facts.function_of(caller).is_none_or(|own| {
            module.function(own.function).generator
                || facts.incoming(own).iter().any(|edge| edge.via != Via::Source)
        })
    };
    let files: FxHashSet<FileId> = made.iter().map(|&(file, _)| file).collect();
    made.iter().any(is_open)
        || files.into_iter().any(|file| {
            facts.module(file).calls.iter().enumerate().any(|(index, call)| {
                call.arguments.iter().any(|own| made.contains(&(file, own.value)))
                    && facts.called_symbols(file, CallId::new(index)).any(|symbol| {
                        facts.library.is_training_library(symbol.package()) || symbol.has(Effect::WritesFile)
                    })
            })
        })
}

fn pair_of_entry(element: &Element) -> Option<(ValueId, ValueId)> {
    match *element {
        Element::Key(key, value) => Some((key, value)),
        _ => None,
    }
}

/// What a dictionary is made of.
enum Given {
    /// Keys and values.
    Pairs(Vec<(ValueId, ValueId)>),
    /// Elements, each with its number.
    Numbered(Elements),
}

/// What `dict((word, number) for number, word in enumerate(words))` or `dict(zip(words, range(100)))` is made of.
fn given_to_dict(model: &Model<'_>, file: FileId, id: CallId) -> Option<Given> {
    let facts = model.facts;
    let module = facts.module(file);
    let [given] = &module.call(id).arguments[..] else { return None };
    if !facts.calls_builtin(file, id, "builtins.dict") {
        return None;
    }
    match &module.value(given.value).value {
        Value::Display(_, elements) => {
            let pairs = elements.iter().filter_map(|element| match *element {
                Element::Any(pair) | Element::At(_, pair) => pair_of_tuple(module, pair),
                _ => None,
            });
            Some(Given::Pairs(pairs.collect()))
        }
        Value::Call(own) => {
            let arguments = &module.call(*own).arguments;
            let counts = |value: ValueId| match module.value(value).value {
                Value::Call(own) => COUNTING.iter().any(|name| facts.calls_builtin(file, own, name)),
                _ => false,
            };
            let elements = match &arguments[..] {
                [elements, ..] if facts.calls_builtin(file, *own, "builtins.enumerate") => {
                    Elements::given(elements, false)
                }
                [keys, values] if facts.calls_builtin(file, *own, "builtins.zip") => {
                    match (counts(keys.value), counts(values.value)) {
                        (false, true) => Elements::given(keys, true),
                        (true, false) => Elements::given(values, false),
                        _ => return None,
                    }
                }
                _ => return None,
            };
            Some(Given::Numbered(elements))
        }
        _ => None,
    }
}

/// What gives one number after the other.
const COUNTING: [&str; 2] = ["builtins.range", "itertools.count"];

fn pair_of_tuple(module: &Module, tuple: ValueId) -> Option<(ValueId, ValueId)> {
    let Value::Display(Container::Tuple, elements) = &module.value(tuple).value else { return None };
    match elements[..] {
        [Element::At(_, first), Element::At(_, second)] => Some((first, second)),
        _ => None,
    }
}

/// What `enumerate` numbers that gives both a key and its value, of which one is the number.
fn numbered(model: &Model<'_>, file: FileId, key: ValueId, value: ValueId) -> Option<Elements> {
    let facts = model.facts;
    let module = facts.module(file);
    let source = |value: ValueId| match module.value(value).value {
        Value::Unpack { base, index: Some(index), .. } => Some((base, index)),
        _ => None,
    };
    let ((base, first), (other, second)) = (source(key)?, source(value)?);
    let Value::Iteration(iterated) = module.value(base).value else { return None };
    let Value::Call(call) = module.value(iterated).value else { return None };
    let is_enumerate = facts.calls_builtin(file, call, "builtins.enumerate");
    let elements = module.call(call).arguments.first()?;
    (is_enumerate && base == other && first != second).then(|| Elements::given(elements, second == 0))
}

/// What a loop goes over that keeps a number for each element: `table[word] = number`, where the number is counted up or that
/// of the elements so far.
fn counted(model: &Model<'_>, file: FileId, store: &Store) -> Option<Elements> {
    let facts = model.facts;
    let module = facts.module(file);
    let StoreKey::Item(key) = store.key else { return None };
    if let Value::Unpack { .. } = module.value(key).value
        && let Some(elements) = numbered(model, file, key, store.value)
    {
        return Some(elements);
    }
    let element = match module.value(key).value {
        Value::Unpack { base, .. } => base,
        _ => key,
    };
    let Value::Iteration(elements) = module.value(element).value else { return None };
    if !is_counter(model, file, store.value) && !is_count(model, file, store) {
        return None;
    }
    let blocks = &module.scope(module.code_scope(store.scope)).flow.blocks;
    let mut turns = blocks.iter().filter_map(|block| block.branch).filter(|own| own.kind == BranchKind::For);
    let turns = turns.find(|own| own.condition == Some(elements))?;
    Some(Elements { value: elements, range: turns.range, are_keys: true })
}

/// Whether a value is counted up: it is computed from itself, by addition.
fn is_counter(model: &Model<'_>, file: FileId, value: ValueId) -> bool {
    let facts = model.facts;
    let module = facts.module(file);
    let Value::Phi(parts) = &module.value(value).value else { return false };
    parts.iter().any(|&part| match module.value(part).value {
        Value::Operator { left, right, .. } => left == value || right == value,
        _ => false,
    })
}

/// Whether what is stored is how much the container has: `table[word] = len(table)`.
fn is_count(model: &Model<'_>, file: FileId, store: &Store) -> bool {
    let facts = model.facts;
    let module = facts.module(file);
    let is_length = |id: CallId| {
        let [counted] = &module.call(id).arguments[..] else { return false };
        let objects = facts.solution.values(file, counted.value);
        facts.calls_builtin(file, id, "builtins.len")
            && facts.solution.values(file, store.base).iter().any(|own| objects.contains(own))
    };
    let parts = facts.influence().operands((file, store.value)).filter(|&(of, _)| of == file);
    parts.map(|(_, part)| part).chain([store.value]).any(|part| match module.value(part).value {
        Value::Call(id) => is_length(id),
        _ => false,
    })
}
