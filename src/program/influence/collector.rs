//! Where the dependences come from: expressions, calls, returns and stores, file by file.

use rustc_hash::{FxHashMap, FxHashSet};

use super::opaque::Opaque;
use super::walk::{Edge, Way};
use super::{Place, in_shares, number};
use crate::api::{Kind, Returns};
use crate::program::attribute_reads::{Reads, attribute_reads, fields_given};
use crate::program::bound::{for_bound, for_bound_later, for_left_out, for_merged};
use crate::program::class_attributes::ClassAttributes;
use crate::program::contents::changes_collection;
use crate::program::facts::Facts;
use crate::program::modules::{FunctionRef, Meaning};
use crate::program::numbering::Numbering;
use crate::program::overwritten::Overwritten;
use crate::program::settled::{Stored, settled};
use crate::program::solver::Caller;
use crate::project::FileId;
use crate::semantic::{Argument, Call, CallId, Element, Passing, StoreKey, Value, ValueId};

/// The dependences between the values of the concerned files.
pub(super) fn edges(facts: &Facts<'_>, values: &Numbering) -> Vec<Edge> {
    let reads = attribute_reads(facts);
    let class_attributes = ClassAttributes::new(facts);
    let stored = Stored::new(facts);
    let settled_in =
        |files: &[FileId]| files.iter().flat_map(|&file| settled(facts, file, &stored)).collect();
    let settled: Settled = in_shares(facts, settled_in).into_iter().collect();
    let in_files = |files: &[FileId]| {
        let mut collector = Collector { facts, edges: Vec::new(), values };
        for &file in files {
            collector.add_values(file);
            collector.add_opaque(file);
            collector.add_calls(file);
            collector.add_implied(file);
            collector.add_stores(file, &reads, &settled);
            collector.add_fields(file, &reads);
            let of_classes = class_attributes.read_in(facts, file).into_iter();
            for (bound, read) in of_classes.filter(|(_, read)| !settled.contains_key(read)) {
                collector.add_anywhere(bound, read);
            }
        }
        collector.edges
    };
    in_shares(facts, in_files)
}

/// The parameter for where something is computed, which does not say what it is.
const DEVICE: &str = "device";

/// The reads that see only what one function stores.
type Settled = FxHashMap<Place, Caller>;

/// Finds the dependences, file by file.
struct Collector<'f, 'a> {
    facts: &'f Facts<'a>,
    values: &'f Numbering,
    edges: Vec<Edge>,
}

impl Collector<'_, '_> {
    fn number(&self, place: Place) -> u32 {
        number(self.values, place)
    }

    fn add_by(&mut self, way: Way, from: Place, to: Place) {
        if from != to {
            let edge = Edge { from: self.number(from), to: self.number(to), way };
            self.edges.push(edge);
        }
    }

    /// A dependence in one run of a function.
    fn add(&mut self, from: Place, to: Place) {
        self.add_by(Way::Within, from, to);
    }

    /// A dependence through what runs have in common: objects, variables of others.
    fn add_anywhere(&mut self, from: Place, to: Place) {
        self.add_by(Way::Anywhere, from, to);
    }

    fn add_values(&mut self, file: FileId) {
        let facts = self.facts;
        let module = facts.module(file);
        for (index, evaluation) in module.values.iter().enumerate() {
            let to = (file, ValueId::new(index));
            if let Some(counted) = counted_by(facts, file, &evaluation.value) {
                counted.for_each(|operand| self.add((file, operand), to));
                continue;
            }
            if let Some(path) = facts.downloaded_path(file, to.1) {
                self.add((file, path.value), to);
                continue;
            }
            for_operands(&evaluation.value, |operand| self.add((file, operand), to));
            match evaluation.value {
                Value::Cell(variable) => {
                    for definition in module.shared_definitions(variable) {
                        self.add_anywhere((file, definition.value), to);
                    }
                }
                Value::Import(import) => {
                    let meaning = facts.modules.imported(file, module.import(import), facts.library);
                    if let Meaning::Value(from, value) = meaning {
                        self.add_anywhere((from, value), to);
                    }
                }
                _ => {}
            }
        }
    }

    /// An expression of which only the type is kept, such as `not a` or an f-string, depends on all that is evaluated in it.
    fn add_opaque(&mut self, file: FileId) {
        let module = self.facts.module(file);
        let opaque = Opaque::new(module);
        if opaque.expressions.is_empty() {
            return;
        }
        let first = self.edges.len();
        let mut count = 0;
        for (range, value) in opaque.evaluated(module) {
            count = opaque.count_before(range, count);
            opaque.for_each_around(range, count, |around| {
                let way = if around.holds_lambda { Way::Anywhere } else { Way::Within };
                self.add_by(way, (file, value), (file, around.value));
            });
        }
        // What is evaluated first comes first.
        self.edges[first..].sort_by_key(|own| own.to);
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
                self.add_anywhere((file, argument), (function.file, own.parameters[parameter].value));
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
                let is_place = |own: &Argument| match own.passing {
                    Passing::Keyword(name) => module.names.text(name) == DEVICE,
                    _ => false,
                };
                for argument in call.arguments.iter().filter(|own| {
                    returned.is_none_or(|only| only == own.value)
                        && !(is_range && matches!(own.passing, Passing::Keyword(_)))
                        && !is_place(own)
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
                        self.add_anywhere((file, argument.value), (of, result));
                    }
                }
            }
        }
    }

    /// What the language calls gives its value to what is evaluated.
    fn add_implied(&mut self, file: FileId) {
        let facts = self.facts;
        for &(file, at, function) in facts.implied_calls(file).iter().chain(facts.mapped_calls(file)) {
            let own = self.facts.module(function.file).function(function.function);
            for &value in own.returns.iter().chain(&own.yields) {
                self.add_anywhere((function.file, value), (file, at));
            }
        }
    }

    /// Arguments to parameters, returned values to the call.
    fn add_binding(&mut self, file: FileId, call: &Call, function: FunctionRef) {
        let facts = self.facts;
        let own = facts.module(function.file).function(function.function);
        // What a single call brings in can go back to no other.
        let is_only = facts.incoming(function).len() == 1;
        let site = self.number((file, call.result));
        let (enter, leave) =
            if is_only { (Way::Within, Way::Within) } else { (Way::Enter(site), Way::Leave(site)) };
        for &value in own.returns.iter().chain(&own.yields) {
            self.add_by(leave, (function.file, value), (file, call.result));
        }
        let mut bind = |argument, parameter: usize| {
            self.add_by(enter, (file, argument), (function.file, own.parameters[parameter].value));
        };
        for_bound(facts, file, call, function, &mut bind);
        for_merged(facts, file, call, function, &mut bind);
        // A literal stands for all that are written alike.
        let is_alone = |default| !facts.module(function.file).value(default).is_shared();
        for_left_out(facts, file, call, function, is_alone, |default, parameter| {
            let parameter = (function.file, own.parameters[parameter].value);
            self.add_by(enter, (function.file, default), parameter);
        });
    }

    /// What a data class is called with reaches the reads of its fields.
    fn add_fields(&mut self, file: FileId, reads: &Reads<'_>) {
        for (field, argument, object) in fields_given(self.facts, file) {
            for &read in reads.get(&(field, object)).into_iter().flatten() {
                self.add_anywhere((file, argument), read);
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
                        self.add_anywhere((file, store.value), read);
                    }
                }
            }
        }
    }
}

/// What the number of a turn depends on in a loop over `range(start, stop, step)`: not on how many turns there are.
fn counted_by<'f>(
    facts: &'f Facts<'_>,
    file: FileId,
    value: &Value,
) -> Option<impl Iterator<Item = ValueId> + use<'f>> {
    let Value::Iteration(base) = *value else { return None };
    let module = facts.module(file);
    let Value::Call(id) = module.value(base).value else { return None };
    let range = facts.library.lookup("builtins.range")?;
    let mut callees =
        facts.callees(file, id).iter().map(|edge| facts.solution.object(edge.callee)).peekable();
    callees.peek()?;
    let is_range = callees.all(|callee| facts.symbol(callee) == Some(range));
    let given = &module.call(id).arguments;
    let is_plain = given.iter().all(|own| own.passing == Passing::Positional);
    let is_stop = move |position: usize| position == usize::from(given.len() > 1);
    let others = given.iter().enumerate().filter(move |&(position, _)| !is_stop(position));
    (is_range && is_plain).then(|| others.map(|(_, own)| own.value))
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
pub(super) fn for_operands(value: &Value, mut found: impl FnMut(ValueId)) {
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
