//! Which values depend on which: slices forwards and backwards through expressions, calls and returns.
//!
//! Value flow tells what an object *is*; a gradient that went through clipping and `zip` is no object that it
//! knows, but still depends on the tape. A slice follows operands, arguments to results, arguments to
//! parameters, returned values to calls, and stores to the reads of the same attribute of the same objects.

mod opaque;

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use opaque::Opaque;

use super::attribute_reads::{Reads, attribute_reads, fields_given};
use super::bound::{for_bound, for_bound_later, for_left_out, for_merged};
use super::class_attributes::ClassAttributes;
use super::contents::changes_collection;
use super::facts::Facts;
use super::modules::FunctionRef;
use super::numbering::{Lists, Numbering};
use super::overwritten::Overwritten;
use super::settled::{Stored, settled};
use super::solver::Caller;
use crate::api::{Kind, Returns};
use crate::project::FileId;
use crate::semantic::{Call, CallId, Element, Passing, StoreKey, Value, ValueId};

/// So many files are worth a thread.
const SHARE: usize = 100;

/// A value with its file.
pub type Place = (FileId, ValueId);

/// The dependences between the values of the concerned files.
#[derive(Debug, Default)]
pub struct Influence {
    values: Numbering,
    /// Numbers of values: the second one depends on the first.
    edges: Vec<(u32, u32)>,
    forwards: OnceLock<Lists<u32>>,
    backwards: OnceLock<Lists<u32>>,
}

impl Influence {
    /// Collects the dependences.
    #[must_use]
    pub fn new(facts: &Facts<'_>) -> Self {
        let values = Numbering::new(facts.modules.list.iter().map(|module| module.values.len()));
        let reads = attribute_reads(facts);
        let class_attributes = ClassAttributes::new(facts);
        let stored = Stored::new(facts);
        let settled_in =
            |files: &[FileId]| files.iter().flat_map(|&file| settled(facts, file, &stored)).collect();
        let settled: Settled = in_shares(facts, settled_in).into_iter().collect();
        let in_files = |files: &[FileId]| {
            let mut collector = Collector { facts, edges: Vec::new(), values: &values };
            for &file in files {
                collector.add_values(file);
                collector.add_opaque(file);
                collector.add_calls(file);
                collector.add_implied(file);
                collector.add_stores(file, &reads, &settled);
                collector.add_fields(file, &reads);
                let of_classes = class_attributes.read_in(facts, file).into_iter();
                for (bound, read) in of_classes.filter(|(_, read)| !settled.contains_key(read)) {
                    collector.add(bound, read);
                }
            }
            collector.edges
        };
        let edges = in_shares(facts, in_files);
        Self { values, edges, forwards: OnceLock::new(), backwards: OnceLock::new() }
    }

    fn forward_edges(&self) -> &Lists<u32> {
        let edges = self.edges.iter().map(|&(from, to)| (from as usize, to));
        self.forwards.get_or_init(|| Lists::group(self.values.count(), edges))
    }

    fn backward_edges(&self) -> &Lists<u32> {
        let edges = self.edges.iter().map(|&(from, to)| (to as usize, from));
        self.backwards.get_or_init(|| Lists::group(self.values.count(), edges))
    }

    /// All that depends on the values, themselves included; what depends on it only through a place that `stops`
    /// is left out.
    #[must_use]
    pub fn forwards(&self, from: &[Place], stops: impl FnMut(Place) -> bool) -> FxHashSet<Place> {
        self.slice(self.forward_edges(), from, stops).into_iter().collect()
    }

    /// All that the values depend on, themselves included, up to places that `stops`.
    #[must_use]
    pub fn backwards(&self, from: &[Place], stops: impl FnMut(Place) -> bool) -> FxHashSet<Place> {
        self.slice(self.backward_edges(), from, stops).into_iter().collect()
    }

    /// What [`Self::forwards`] finds, each once, in no order: for who goes through them and asks for none.
    #[must_use]
    pub fn list_forwards(&self, from: &[Place], stops: impl FnMut(Place) -> bool) -> Vec<Place> {
        self.slice(self.forward_edges(), from, stops)
    }

    /// The same of [`Self::backwards`].
    #[must_use]
    pub fn list_backwards(&self, from: &[Place], stops: impl FnMut(Place) -> bool) -> Vec<Place> {
        self.slice(self.backward_edges(), from, stops)
    }

    /// All that depends on the sources, themselves included, each with the source that is nearest; not what
    /// depends on them only through a place that `stops`.
    #[must_use]
    pub fn nearest_sources(
        &self,
        sources: &[Place],
        stops: impl Fn(Place) -> bool,
    ) -> FxHashMap<Place, Place> {
        let mut nearest: FxHashMap<Place, Place> = sources.iter().map(|&source| (source, source)).collect();
        let mut queue: VecDeque<Place> = sources.iter().copied().collect();
        while let Some(place) = queue.pop_front() {
            let source = nearest[&place];
            for next in self.next(self.forward_edges(), place) {
                if let std::collections::hash_map::Entry::Vacant(e) = nearest.entry(next) {
                    e.insert(source);
                    if !stops(next) {
                        queue.push_back(next);
                    }
                }
            }
        }
        nearest
    }

    /// The values that are computed from a value in one step.
    pub fn dependents(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        self.next(self.forward_edges(), place)
    }

    /// The values that a value is computed from in one step.
    pub fn operands(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        self.next(self.backward_edges(), place)
    }

    fn slice(&self, edges: &Lists<u32>, from: &[Place], mut stops: impl FnMut(Place) -> bool) -> Vec<Place> {
        let number = |(file, value): Place| self.values.of(file, value.index());
        // What `stops` asks may be a slice, too, which then has a set of its own.
        let mut seen = SEEN.take();
        seen.grow(self.values.count());
        let mut found: Vec<Place> = from.iter().copied().filter(|&place| !seen.put(number(place))).collect();
        let mut work = found.clone();
        while let Some(place) = work.pop() {
            for &next in edges.of(number(place)) {
                if !seen.put(next as usize) {
                    let next = self.place(next as usize, place.0);
                    found.push(next);
                    if !stops(next) {
                        work.push(next);
                    }
                }
            }
        }
        for &place in &found {
            seen.remove(number(place));
        }
        SEEN.set(seen);
        found
    }

    fn next<'s>(&'s self, edges: &'s Lists<u32>, (file, value): Place) -> impl Iterator<Item = Place> + 's {
        let next = edges.of(self.values.of(file, value.index())).iter();
        next.map(move |&value| self.place(value as usize, file))
    }

    /// The value of a number, which an edge from a value of this file leads to.
    fn place(&self, number: usize, file: FileId) -> Place {
        // Most dependences stay in their file.
        let own = self.values.range(file);
        if own.contains(&number) {
            return (file, ValueId::new(number - own.start));
        }
        let (file, index) = self.values.place(number).expect("the edges are between values");
        (file, ValueId::new(index))
    }
}

thread_local! {
    /// The values that a slice has come to; empty but for while one is made.
    static SEEN: Cell<FixedBitSet> = const { Cell::new(FixedBitSet::new()) };
}

/// What work on the concerned files finds in all of them, in their order; each thread has a share of the files.
///
/// The threads are none of rayon's: who waits for those may take up other work meanwhile, which asks for the very thing
/// that is being found.
pub(super) fn in_shares<T: Send>(facts: &Facts<'_>, work: impl Fn(&[FileId]) -> Vec<T> + Sync) -> Vec<T> {
    let files: Vec<FileId> = facts.files().collect();
    let share = files.len().div_ceil(rayon::current_num_threads()).max(SHARE);
    let mut shares = files.chunks(share);
    let first = shares.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = shares.map(|files| scope.spawn(|| work(files))).collect();
        let mut found = work(first);
        for other in others {
            found.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        found
    })
}

/// The reads that see only what one function stores.
type Settled = FxHashMap<Place, Caller>;

/// Finds the dependences, file by file.
struct Collector<'f, 'a> {
    facts: &'f Facts<'a>,
    values: &'f Numbering,
    edges: Vec<(u32, u32)>,
}

impl Collector<'_, '_> {
    fn add(&mut self, from: Place, to: Place) {
        if from != to {
            let number = |(file, value): Place| {
                u32::try_from(self.values.of(file, value.index())).expect("fewer values than 2^32")
            };
            let edge = (number(from), number(to));
            self.edges.push(edge);
        }
    }

    fn add_values(&mut self, file: FileId) {
        let facts = self.facts;
        let module = facts.module(file);
        for (index, evaluation) in module.values.iter().enumerate() {
            let to = (file, ValueId::new(index));
            for_operands(&evaluation.value, |operand| self.add((file, operand), to));
            match evaluation.value {
                Value::Cell(variable) => {
                    for definition in module.shared_definitions(variable) {
                        self.add((file, definition.value), to);
                    }
                }
                Value::Import(import) => {
                    let meaning = facts.modules.imported(file, module.import(import), facts.library);
                    if let super::modules::Meaning::Value(from, value) = meaning {
                        self.add((from, value), to);
                    }
                }
                _ => {}
            }
        }
    }

    /// An expression of which only the type is kept, such as `not a` or an f-string, depends on all that is
    /// evaluated in it.
    fn add_opaque(&mut self, file: FileId) {
        let module = self.facts.module(file);
        let opaque = Opaque::new(module);
        if opaque.expressions.is_empty() {
            return;
        }
        let evaluated = module.values.iter().enumerate();
        let evaluated = evaluated.map(|(index, value)| (value.range, ValueId::new(index)));
        let read = module.uses.iter().map(|reading| (reading.range, reading.value));
        let first = self.edges.len();
        let mut count = 0;
        for (range, value) in evaluated.chain(read) {
            count = opaque.count_before(range, count);
            opaque.for_each_around(range, count, |around| self.add((file, value), (file, around)));
        }
        // What is evaluated first comes first.
        self.edges[first..].sort_by_key(|&(_, around)| around);
    }

    fn add_calls(&mut self, file: FileId) {
        let facts = self.facts;
        let module = facts.module(file);
        for (index, call) in module.calls.iter().enumerate() {
            let id = CallId::new(index);
            // `len(batches)` is what `__len__` of the project returns.
            let mut is_own = facts.implied_functions((file, call.result)).next().is_some();
            for_bound_later(facts, file, call, |argument, function, parameter| {
                let own = facts.module(function.file).function(function.function);
                self.add((file, argument), (function.file, own.parameters[parameter].value));
            });
            for function in facts.called_functions(file, id) {
                is_own = true;
                // What a layer computes with does not tell the shape that it is built for.
                if !facts.is_built_for(file, id, function) {
                    self.add_binding(file, call, function);
                }
            }
            if !is_own {
                let returned = returned_argument(facts, file, id);
                let is_range = makes_range(facts, file, id);
                for argument in call.arguments.iter().filter(|own| {
                    returned.is_none_or(|only| only == own.value)
                        && !(is_range && matches!(own.passing, Passing::Keyword(_)))
                }) {
                    self.add((file, argument.value), (file, call.result));
                }
            }
            self.add_metrics(file, call);
            if let Some(receiver) = facts.receiver(file, call) {
                self.add((file, receiver), (file, call.result));
                // `list.append(x)`: the list has it from now on.
                let keeps = facts.callees(file, id).iter().any(|edge| changes_collection(facts, edge));
                for argument in call.arguments.iter().filter(|_| keeps) {
                    self.add((file, argument.value), (file, receiver));
                }
            }
        }
    }

    /// `loss.update_state(value)`, `loss(value)`: the metric has it from now on, wherever it is known.
    fn add_metrics(&mut self, file: FileId, call: &Call) {
        let facts = self.facts;
        if call.arguments.is_empty() {
            return;
        }
        for metric in facts.receiver(file, call).into_iter().chain([call.callee]) {
            for made in facts.of_kind(file, metric, Kind::Metric) {
                if let Some((of, making)) = facts.made_at(made) {
                    let result = facts.module(of).call(making).result;
                    for argument in &call.arguments {
                        self.add((file, argument.value), (of, result));
                    }
                }
            }
        }
    }

    /// What the language calls gives its value to what is evaluated.
    fn add_implied(&mut self, file: FileId) {
        for &(file, at, function) in self.facts.implied_calls(file) {
            let own = self.facts.module(function.file).function(function.function);
            for &value in own.returns.iter().chain(&own.yields) {
                self.add((function.file, value), (file, at));
            }
        }
    }

    /// Arguments to parameters, returned values to the call.
    fn add_binding(&mut self, file: FileId, call: &Call, function: FunctionRef) {
        let facts = self.facts;
        let own = facts.module(function.file).function(function.function);
        for &value in own.returns.iter().chain(&own.yields) {
            self.add((function.file, value), (file, call.result));
        }
        let mut bind = |argument, parameter: usize| {
            self.add((file, argument), (function.file, own.parameters[parameter].value));
        };
        for_bound(facts, file, call, function, &mut bind);
        for_merged(facts, file, call, function, &mut bind);
        // A literal stands for all that are written alike.
        let is_alone = |default| !facts.module(function.file).value(default).is_shared();
        for_left_out(facts, file, call, function, is_alone, |default, parameter| {
            self.add((function.file, default), (function.file, own.parameters[parameter].value));
        });
    }

    /// What a data class is called with reaches the reads of its fields.
    fn add_fields(&mut self, file: FileId, reads: &Reads<'_>) {
        for (field, argument, object) in fields_given(self.facts, file) {
            for &read in reads.get(&(field, object)).into_iter().flatten() {
                self.add((file, argument), read);
            }
        }
    }

    /// A store reaches the reads of the same attribute of what may be the same object.
    fn add_stores(&mut self, file: FileId, reads: &Reads<'_>, settled: &Settled) {
        let facts = self.facts;
        let module = facts.module(file);
        let overwritten = Overwritten::new(facts, file);
        for (index, store) in module.stores.iter().enumerate() {
            let StoreKey::Attribute(name) = store.key else {
                self.add((file, store.value), (file, store.base));
                continue;
            };
            let storing = Caller { file, scope: store.scope };
            // Several of the objects may be read at one place.
            let mut known: FxHashSet<Place> = FxHashSet::default();
            for &object in facts.solution.values(file, store.base) {
                for &read in reads.get(&(module.names.text(name), object)).into_iter().flatten() {
                    let is_seen = settled.get(&read).is_none_or(|&only| only == storing);
                    if is_seen && known.insert(read) && overwritten.is_read(index, read) {
                        self.add((file, store.value), read);
                    }
                }
            }
        }
    }
}

/// Whether a call of a library makes a range: of what numbers its positions tell, and the rest how it is shown, `trange(3,
/// disable=hvd.rank() != 0)`.
fn makes_range(facts: &Facts<'_>, file: FileId, id: CallId) -> bool {
    let range = facts.library.lookup("builtins.range");
    let mut symbols = facts.called_symbols(file, id);
    range.is_some() && symbols.any(|own| !own.is_class() && facts.library.returned_class(own) == range)
}

/// The argument that a call returns itself, whatever else it is given: `tqdm(batches, disable=hvd.rank() != 0)`.
fn returned_argument(facts: &Facts<'_>, file: FileId, id: CallId) -> Option<ValueId> {
    let [edge] = facts.callees(file, id) else { return None };
    let symbol = facts.symbol(facts.solution.object(edge.callee))?;
    match symbol.returns() {
        Returns::Argument(name) => {
            facts.argument(file, facts.module(file).call(id), symbol, name).map(|own| own.value)
        }
        _ => None,
    }
}

/// Calls `found` with the values that an expression is computed from; calls are left to the call graph.
fn for_operands(value: &Value, mut found: impl FnMut(ValueId)) {
    match value {
        Value::Phi(operands) => operands.iter().copied().for_each(found),
        Value::Display(_, elements) => {
            for element in elements {
                match *element {
                    Element::At(_, value)
                    | Element::Any(value)
                    | Element::Spread(value)
                    | Element::Merge(value) => found(value),
                    Element::Key(key, value) => {
                        found(key);
                        found(value);
                    }
                }
            }
        }
        Value::Attribute { base, narrowed, .. } => {
            found(*base);
            narrowed.iter().copied().for_each(found);
        }
        Value::Item { base, key, narrowed } => {
            found(*base);
            found(*key);
            narrowed.iter().copied().for_each(found);
        }
        Value::Slice { base, cut } => {
            found(*base);
            cut.limits.iter().copied().for_each(found);
        }
        Value::Iteration(base)
        | Value::Unpack { base, .. }
        | Value::Enter(base)
        | Value::Leave(base)
        | Value::Await(base)
        | Value::Caught(base) => found(*base),
        Value::Operator { left, right, .. } => {
            found(*left);
            found(*right);
        }
        _ => {}
    }
}
