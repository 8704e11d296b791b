//! What containers hold: who takes something out of a list finds what other code has put into it, wherever the list is known.
//!
//! What is put into a container makes no other container of it: whether a list is empty does not depend on its elements. So
//! the contents are told apart from the container, and the entries of a dictionary by their keys.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::attribute_reads::{Reads, attribute_reads};
use super::facts::Facts;
use super::hierarchy::Ancestor;
use super::influence::{Place, in_shares};
use super::object::{Literal, Object, ObjectId};
use super::solver::CallEdge;
use crate::api::{Effect, Role, Symbol};
use crate::project::FileId;
use crate::semantic::{
    Call, CallId, Container, Element, Method, Operator, Passing, StoreKey, Value, ValueId,
};

/// The modules of Python's library that have collections, and functions that change them.
const COLLECTIONS: [&str; 5] = ["builtins", "bisect", "collections", "heapq", "queue"];

/// What does not look into the containers that it is given, or is called on.
const OF_CONTAINER_ITSELF: [&str; 10] = [
    "builtins.bool",
    "builtins.callable",
    "builtins.dict.keys",
    "builtins.hasattr",
    "builtins.id",
    "builtins.isinstance",
    "builtins.issubclass",
    "builtins.len",
    "builtins.print",
    "builtins.type",
];

/// Methods that take what is under a key.
const BY_KEY: [&str; 3] = ["builtins.dict.get", "builtins.dict.pop", "builtins.dict.setdefault"];

/// Which part of what a container holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    /// What is under a key.
    Key(Literal),
    /// What is under nobody knows which key.
    Some,
    /// All of it.
    All,
}

/// The number of a part of a container's contents.
pub type PartId = u32;

/// What is put into containers, and what is taken out of them.
#[derive(Debug, Default)]
pub struct Contents {
    parts: FxHashMap<(ObjectId, Part), PartId>,
    /// The containers that something is put into.
    containers: FixedBitSet,
    /// The parts that a value is put into.
    put: FxHashMap<Place, Vec<PartId>>,
    /// What is taken out of each part.
    taken: Vec<Vec<Place>>,
    /// Where it is read what a value is put into, if nobody knows where that was made.
    named: FxHashMap<Place, Vec<Place>>,
    /// The keys under which a value is stored in another, `options["epochs"] = 3`; `None` if nobody knows one.
    stored: FxHashMap<(Place, Place), Vec<Option<Literal>>>,
}

impl Contents {
    /// Finds what is put where.
    #[must_use]
    pub fn new(facts: &Facts<'_>) -> Self {
        let mut own = Self::default();
        own.containers.grow(facts.solution.objects().count());
        let reads = attribute_reads(facts);
        for file in facts.files() {
            for_each_put(facts, file, |added| {
                own.put(facts, file, &added);
                own.put_by_name(facts, file, &added, &reads);
            });
            for store in &facts.module(file).stores {
                if let StoreKey::Item(key) = store.key {
                    let stored = own.stored.entry(((file, store.value), (file, store.base))).or_default();
                    stored.push(key_of(facts, file, key));
                }
            }
        }
        let taken = in_shares(facts, |files| {
            let mut taking = Taking { facts, contents: &own, taken: Vec::new() };
            for &file in files {
                taking.in_file(file);
            }
            taking.taken
        });
        own.taken.resize_with(own.parts.len(), Vec::new);
        for (part, place) in taken {
            own.taken[part as usize].push(place);
        }
        own
    }

    /// The parts of contents that a value is put into.
    pub(super) fn parts_with(&self, value: Place) -> &[PartId] {
        self.put.get(&value).map_or(&[], Vec::as_slice)
    }

    /// The values that are computed from a part of contents.
    pub(super) fn taken_from(&self, part: PartId) -> &[Place] {
        &self.taken[part as usize]
    }

    /// The reads of what a value is put into, where nobody knows where that was made.
    pub(super) fn named_for(&self, value: Place) -> &[Place] {
        self.named.get(&value).map_or(&[], Vec::as_slice)
    }

    /// The keys under which a value is stored in another; `None` among them if nobody knows one.
    pub(super) fn stored_under(&self, value: Place, container: Place) -> &[Option<Literal>] {
        self.stored.get(&(value, container)).map_or(&[], Vec::as_slice)
    }

    fn put(&mut self, facts: &Facts<'_>, file: FileId, added: &Addition) {
        let holders = holders(facts, file, added.container).into_iter();
        for &object in holders.flat_map(|own| facts.solution.values(file, own)) {
            let object = match facts.solution.object(object) {
                Object::Super(_, receiver) => receiver,
                _ => object,
            };
            let own = facts.solution.object(object);
            let is_held = if added.is_sure { is_container(own) } else { may_keep(facts, own) };
            if !is_held {
                continue;
            }
            self.containers.insert(object.0 as usize);
            for part in [added.part, Part::All] {
                let next = PartId::try_from(self.parts.len()).expect("fewer parts than 2^32");
                let part = *self.parts.entry((object, part)).or_insert(next);
                let parts = self.put.entry((file, added.value)).or_default();
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
    }

    /// What is put into a container of which nobody knows where it was made reaches the reads of the attribute, or the
    /// variable, that has it.
    fn put_by_name(&mut self, facts: &Facts<'_>, file: FileId, added: &Addition, reads: &Reads<'_>) {
        let known = facts.solution.values(file, added.container);
        let is_known = || known.iter().all(|&own| is_container(facts.solution.object(own)));
        if !added.is_sure || !known.is_empty() && is_known() {
            return;
        }
        let module = facts.module(file);
        let named = match module.value(around(facts, file, added.container)).value {
            Value::Attribute { base, name, .. } => {
                let objects = facts.solution.values(file, base).iter();
                let reads =
                    objects.flat_map(|&own| reads.get(&(module.names.text(name), own)).into_iter().flatten());
                reads.copied().collect()
            }
            Value::Cell(variable) => {
                module.shared_definitions(variable).map(|definition| (file, definition.value)).collect()
            }
            _ => Vec::new(),
        };
        self.named.entry((file, added.value)).or_default().extend(named);
    }
}

/// Finds what takes something out of containers.
struct Taking<'f, 'a> {
    facts: &'f Facts<'a>,
    contents: &'f Contents,
    taken: Vec<(PartId, Place)>,
}

impl Taking<'_, '_> {
    fn in_file(&mut self, file: FileId) {
        let facts = self.facts;
        let module = facts.module(file);
        for (index, evaluation) in module.values.iter().enumerate() {
            let to = (file, ValueId::new(index));
            match &evaluation.value {
                Value::Item { base, key, .. } => self.take(file, *base, Some(*key), to),
                // `tracker.best`
                Value::Attribute { base, .. } if self.may_be_foreign(file, *base) => {
                    self.take(file, *base, None, to);
                }
                Value::Slice { base, .. }
                | Value::Iteration(base)
                | Value::Unpack { base, .. }
                | Value::Await(base) => self.take(file, *base, None, to),
                // `name in options`
                Value::Operator { operator: Operator::Compare(Method::CONTAINS), left, .. }
                    if self.may_be_dictionary(file, *left) => {}
                Value::Operator { left, right, .. } => {
                    self.take(file, *left, None, to);
                    self.take(file, *right, None, to);
                }
                Value::Display(_, elements) => {
                    for element in elements {
                        if let Element::Spread(base) | Element::Merge(base) = element {
                            self.take(file, *base, None, to);
                        }
                    }
                }
                _ => {}
            }
        }
        for (index, call) in module.calls.iter().enumerate() {
            self.in_call(file, CallId::new(index), call);
        }
    }

    /// A library's function looks into what it is given, and into what its method is called on.
    fn in_call(&mut self, file: FileId, id: CallId, call: &Call) {
        let facts = self.facts;
        for argument in &call.arguments {
            if matches!(argument.passing, Passing::Spread | Passing::Merge) {
                self.take(file, argument.value, None, (file, argument.value));
            }
        }
        if facts.called_functions(file, id).next().is_some() {
            return;
        }
        let receiver = facts.receiver(file, call);
        let looked_into = || call.arguments.iter().map(|own| own.value).chain(receiver);
        if !looked_into().any(|own| self.holds(file, own)) {
            return;
        }
        let names: Vec<String> =
            facts.callees(file, id).iter().filter_map(|edge| builtin_name(facts, edge.callee)).collect();
        let are_all =
            |known: &[&str]| !names.is_empty() && names.iter().all(|own| known.contains(&own.as_str()));
        if are_all(&OF_CONTAINER_ITSELF) {
            return;
        }
        let to = (file, call.result);
        let key = call.arguments.first().filter(|_| are_all(&BY_KEY)).map(|own| own.value);
        for from in looked_into() {
            self.take(file, from, key.filter(|_| receiver == Some(from)), to);
        }
    }

    fn may_be_dictionary(&self, file: FileId, value: ValueId) -> bool {
        let mut objects = self.facts.objects(file, value);
        objects.any(|(_, own)| matches!(own, Object::Container(Container::Dict, _)))
    }

    fn may_be_foreign(&self, file: FileId, value: ValueId) -> bool {
        self.facts.objects(file, value).any(|(_, own)| is_foreign(self.facts, own))
    }

    /// Whether something is put into a container that a value may be.
    fn holds(&self, file: FileId, value: ValueId) -> bool {
        let mut objects = self.facts.solution.values(file, value).iter();
        objects.any(|own| self.contents.containers.contains(own.0 as usize))
    }

    /// A value is computed from what is in the containers that another may be, under a key if it is one.
    fn take(&mut self, file: FileId, from: ValueId, key: Option<ValueId>, to: Place) {
        let facts = self.facts;
        for &object in facts.solution.values(file, from) {
            if !self.contents.containers.contains(object.0 as usize) {
                continue;
            }
            let part = key.map_or(Part::All, |key| part_of(facts, file, key));
            let of = |part: Part| self.contents.parts.get(&(object, part)).copied();
            let parts = match part {
                Part::Key(_) => [of(part), of(Part::Some)],
                _ => [of(Part::All), None],
            };
            for part in parts.into_iter().flatten() {
                self.taken.push((part, to));
            }
        }
    }
}

/// The container that has one of which nothing is known: that of `losses` for `losses["train"]`.
fn around(facts: &Facts<'_>, file: FileId, mut container: ValueId) -> ValueId {
    while facts.is_unknown(file, container)
        && let Value::Item { base, .. } = facts.module(file).value(container).value
    {
        container = base;
    }
    container
}

/// What has what is put into a container: `table` and its view `table.loc`.
fn holders(facts: &Facts<'_>, file: FileId, container: ValueId) -> Vec<ValueId> {
    let is_made_by_library =
        |value| facts.objects(file, value).any(|(_, own)| matches!(own, Object::Created(..)));
    let mut container = around(facts, file, container);
    let mut found = vec![container];
    while let Value::Attribute { base, .. } = facts.module(file).value(container).value
        && is_made_by_library(base)
    {
        container = base;
        found.push(container);
    }
    found
}

/// Whether an object is one that things are put into, known by where it was made.
fn is_container(object: Object) -> bool {
    matches!(object, Object::Container(..) | Object::Created(..) | Object::Instance(_, Some(_)))
}

/// Whether an object was made by a library that nobody knows.
fn is_foreign(facts: &Facts<'_>, object: Object) -> bool {
    matches!(object, Object::Created(..)) && facts.symbol(object).is_none()
}

/// Whether an unknown method of an object may keep what it is given: of a library that nobody knows, or one that a class of the
/// program inherits from a collection.
fn may_keep(facts: &Facts<'_>, object: Object) -> bool {
    let is_collection = |own: &Ancestor| match own {
        Ancestor::Builtin(name) => ["dict", "list", "set"].contains(&name.as_str()),
        _ => false,
    };
    is_foreign(facts, object)
        || facts
            .symbol(object)
            .is_some_and(|own| is_container(object) && COLLECTIONS.contains(&own.package()))
        || matches!(object, Object::Instance(class, Some(_)) if facts.hierarchy.order(class).iter().any(is_collection))
}

/// A value that is put into a container.
struct Addition {
    value: ValueId,
    container: ValueId,
    part: Part,
    /// It is one of Python's: it has the value from now on.
    is_sure: bool,
}

/// Calls `found` with what is put.
fn for_each_put(facts: &Facts<'_>, file: FileId, mut found: impl FnMut(Addition)) {
    let module = facts.module(file);
    for store in &module.stores {
        let part = match store.key {
            StoreKey::Attribute(_) => continue,
            StoreKey::Item(key) => part_of(facts, file, key),
            StoreKey::Slice => Part::Some,
        };
        found(Addition { value: store.value, container: store.base, part, is_sure: true });
    }
    for (index, call) in module.calls.iter().enumerate() {
        let Some((container, is_sure)) = changed(facts, file, CallId::new(index), call) else { continue };
        for argument in call.arguments.iter().filter(|own| own.value != container) {
            found(Addition { value: argument.value, container, part: Part::Some, is_sure });
        }
    }
}

/// The container that a call changes, surely: `losses.append(loss)`, `heappush(losses, loss)`; or perhaps, as what nobody
/// knows, and whose methods may keep what they are given.
fn changed(facts: &Facts<'_>, file: FileId, id: CallId, call: &Call) -> Option<(ValueId, bool)> {
    if call.arguments.is_empty() {
        return None;
    }
    let receiver = facts.receiver(file, call);
    let edges = facts.callees(file, id);
    if edges.is_empty() {
        return Some((receiver?, false));
    }
    let first = call.arguments.first().filter(|own| own.passing == Passing::Positional);
    edges.iter().find_map(|edge| match facts.solution.object(edge.callee) {
        Object::BuiltinMethod(..) => Some((receiver.filter(|_| changes_collection(facts, edge))?, true)),
        callee @ (Object::Unknown | Object::External(_) | Object::Member(..)) => match facts.symbol(callee) {
            None => Some((receiver?, false)),
            Some(symbol) if !is_of_collection(symbol) => None,
            Some(symbol) if *symbol.role() == Role::Method => Some((receiver?, true)),
            Some(_) => Some((first?.value, true)),
        },
        _ => None,
    })
}

/// The part of a container that a key tells.
fn part_of(facts: &Facts<'_>, file: FileId, key: ValueId) -> Part {
    // The position from the front is another one from the end.
    key_of(facts, file, key).map_or(Part::Some, Part::Key)
}

/// The text that a key of a dictionary is.
pub(super) fn key_of(facts: &Facts<'_>, file: FileId, key: ValueId) -> Option<Literal> {
    let mut objects = facts.objects(file, key);
    match (objects.next(), objects.next()) {
        (Some((_, Object::Literal(key @ Literal::Str(_)))), None) => Some(key),
        _ => None,
    }
}

/// The key by which a call takes something from the container that it is made on: `options.get("epochs")`.
pub(super) fn asked_key(facts: &Facts<'_>, file: FileId, id: CallId) -> Option<Literal> {
    let mut names = facts.callees(file, id).iter().map(|edge| builtin_name(facts, edge.callee)).peekable();
    names.peek()?;
    let is_by_key = names.all(|own| own.is_some_and(|own| BY_KEY.contains(&own.as_str())));
    let key = facts.module(file).call(id).arguments.first()?;
    key_of(facts, file, key.value).filter(|_| is_by_key)
}

/// The qualified name of one of Python's own functions, or methods of its types.
fn builtin_name(facts: &Facts<'_>, callee: ObjectId) -> Option<String> {
    let text = |name| facts.solution.names.text(name);
    match facts.solution.object(callee) {
        Object::Builtin(name) => Some(format!("builtins.{}", text(name))),
        Object::BuiltinMethod(receiver, name) => {
            Some(format!("builtins.{}.{}", facts.builtin_class(receiver)?, text(name)))
        }
        object => facts.symbol(object).map(|symbol| symbol.name().to_owned()),
    }
}

/// Whether a call changes a collection of Python's library: `deque.append`, `heapq.heappush`.
pub(super) fn changes_collection(facts: &Facts<'_>, edge: &CallEdge) -> bool {
    match facts.solution.object(edge.callee) {
        Object::BuiltinMethod(..) => {
            facts.effects().of_edge(facts, edge).effects.contains(Effect::UpdatesState)
        }
        callee => facts.symbol(callee).is_some_and(is_of_collection),
    }
}

fn is_of_collection(symbol: &Symbol) -> bool {
    symbol.has(Effect::UpdatesState) && COLLECTIONS.contains(&symbol.package())
}
