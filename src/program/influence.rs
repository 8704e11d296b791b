//! Which values depend on which: slices forwards and backwards through expressions, calls and returns.
//!
//! Value flow tells what an object *is*; a gradient that went through clipping and `zip` is no object that it
//! knows, but still depends on the tape. A slice follows operands, arguments to results, arguments to
//! parameters, returned values to calls, and stores to the reads of the same attribute of the same objects.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::modules::FunctionRef;
use super::object::ObjectId;
use crate::project::FileId;
use crate::semantic::{BranchKind, BuiltinType, Element, ParameterKind, Passing, StoreKey, Value, ValueId};

/// A value with its file.
pub type Place = (FileId, ValueId);

/// Where an object's attribute is read.
type Reads<'a> = FxHashMap<(&'a str, ObjectId), Vec<Place>>;

fn attribute_reads<'a>(facts: &Facts<'a>) -> Reads<'a> {
    let mut reads = Reads::default();
    for file in facts.files() {
        let module = facts.module(file);
        for (index, evaluation) in module.values.iter().enumerate() {
            if let Value::Attribute { base, name, .. } = evaluation.value {
                for &object in facts.solution.values(file, base) {
                    let place = (file, ValueId::new(index));
                    reads.entry((module.names.text(name), object)).or_default().push(place);
                }
            }
        }
    }
    reads
}

/// The dependences between the values of the concerned files.
#[derive(Debug, Default)]
pub struct Influence {
    forwards: FxHashMap<Place, Vec<Place>>,
    backwards: FxHashMap<Place, Vec<Place>>,
}

impl Influence {
    /// Collects the dependences.
    #[must_use]
    pub fn new(facts: &Facts<'_>) -> Self {
        let mut influence = Self::default();
        let reads = attribute_reads(facts);
        for file in facts.files() {
            influence.add_values(facts, file);
            influence.add_opaque(facts, file);
            influence.add_choices(facts, file);
            influence.add_calls(facts, file);
            influence.add_stores(facts, file, &reads);
        }
        influence
    }

    fn add(&mut self, from: Place, to: Place) {
        if from != to {
            self.forwards.entry(from).or_default().push(to);
            self.backwards.entry(to).or_default().push(from);
        }
    }

    fn add_values(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        for index in 0..module.values.len() {
            let id = ValueId::new(index);
            let to = (file, id);
            for operand in operands(&module.value(id).value) {
                self.add((file, operand), to);
            }
            if let Value::Cell(variable) = module.value(id).value {
                for definition in module.shared_definitions(variable) {
                    self.add((file, definition.value), to);
                }
            }
            if let Value::Import(import) = module.value(id).value
                && let super::modules::Meaning::Value(from, value) =
                    facts.modules.imported(file, module.import(import), facts.library)
            {
                self.add((from, value), to);
            }
        }
    }

    /// An expression of which only the type is kept, such as `not a` or an f-string, depends on all that is
    /// evaluated in it.
    fn add_opaque(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        let read = module.uses.iter().map(|reading| (reading.range, reading.value));
        let evaluated =
            module.values.iter().enumerate().map(|(index, value)| (value.range, ValueId::new(index)));
        let mut parts: Vec<_> = read.chain(evaluated).collect();
        parts.sort_unstable_by_key(|&(range, value)| (range.start(), range.end(), value));
        for (index, evaluation) in module.values.iter().enumerate() {
            let is_opaque = match evaluation.value {
                Value::Instance(kind) => kind != BuiltinType::Exception,
                Value::Unknown => true,
                _ => false,
            };
            if is_opaque {
                let first = parts.partition_point(|(range, _)| range.start() < evaluation.range.start());
                let inside =
                    parts[first..].iter().take_while(|(range, _)| range.start() < evaluation.range.end());
                for &(range, value) in inside {
                    if range != evaluation.range && evaluation.range.contains_range(range) {
                        self.add((file, value), (file, ValueId::new(index)));
                    }
                }
            }
        }
    }

    /// `a if condition else b` depends on the condition.
    fn add_choices(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        let choices: Vec<ValueId> = (0..module.values.len())
            .map(ValueId::new)
            .filter(|&id| {
                let evaluation = module.value(id);
                matches!(evaluation.value, Value::Phi(_)) && !evaluation.range.is_empty()
            })
            .collect();
        if choices.is_empty() {
            return;
        }
        for (index, scope) in module.scopes.iter().enumerate() {
            for branch in scope.flow.blocks.iter().filter_map(|block| block.branch) {
                let (BranchKind::If, Some(condition)) = (branch.kind, branch.condition) else { continue };
                for &choice in &choices {
                    let own = module.value(choice);
                    if own.scope.index() == index && own.range.contains_range(branch.range) {
                        self.add((file, condition), (file, choice));
                    }
                }
            }
        }
    }

    fn add_calls(&mut self, facts: &Facts<'_>, file: FileId) {
        let module = facts.module(file);
        for (index, call) in module.calls.iter().enumerate() {
            let id = crate::semantic::CallId::new(index);
            let mut is_own = false;
            for function in facts.called_functions(file, id) {
                is_own = true;
                self.add_binding(facts, file, call, function);
            }
            if !is_own {
                for argument in &call.arguments {
                    self.add((file, argument.value), (file, call.result));
                }
            }
            if let Some(receiver) = facts.receiver(file, call) {
                self.add((file, receiver), (file, call.result));
                // `list.append(x)`: the list has it from now on.
                let keeps = facts.callees(file, id).iter().any(|edge| {
                    matches!(facts.solution.object(edge.callee), super::object::Object::BuiltinMethod(..))
                });
                for argument in call.arguments.iter().filter(|_| keeps) {
                    self.add((file, argument.value), (file, receiver));
                }
            }
        }
    }

    /// Arguments to parameters, returned values to the call.
    fn add_binding(
        &mut self,
        facts: &Facts<'_>,
        file: FileId,
        call: &crate::semantic::Call,
        function: FunctionRef,
    ) {
        let own = facts.module(function.file).function(function.function);
        for &value in own.returns.iter().chain(&own.yields) {
            self.add((function.file, value), (file, call.result));
        }
        // A bound method's receiver takes the first place; so does an instance that is called.
        let is_method = own.class.is_some() && own.statement.is_some();
        let places: Vec<_> = own
            .parameters
            .iter()
            .filter(|parameter| {
                matches!(parameter.kind, ParameterKind::PositionalOnly | ParameterKind::Ordinary)
            })
            .collect();
        let mut next = usize::from(is_method);
        let names = &facts.module(function.file).names;
        for argument in &call.arguments {
            let parameter = match argument.passing {
                Passing::Positional => {
                    next += 1;
                    places.get(next - 1).copied()
                }
                Passing::Keyword(name) => {
                    let name = facts.module(file).names.text(name);
                    own.parameters.iter().find(|parameter| names.text(parameter.name) == name)
                }
                Passing::Spread | Passing::Merge => None,
            };
            let parameter = parameter.or_else(|| {
                own.parameters.iter().find(|parameter| {
                    matches!(parameter.kind, ParameterKind::Variadic | ParameterKind::Keywords)
                })
            });
            if let Some(parameter) = parameter {
                self.add((file, argument.value), (function.file, parameter.value));
            }
        }
    }

    /// A store reaches the reads of the same attribute of what may be the same object.
    fn add_stores(&mut self, facts: &Facts<'_>, file: FileId, reads: &Reads<'_>) {
        let module = facts.module(file);
        for store in &module.stores {
            let StoreKey::Attribute(name) = store.key else {
                self.add((file, store.value), (file, store.base));
                continue;
            };
            for &object in facts.solution.values(file, store.base) {
                for &read in reads.get(&(module.names.text(name), object)).into_iter().flatten() {
                    self.add((file, store.value), read);
                }
            }
        }
    }

    /// All that depends on the values, themselves included; what depends on it only through a place that `stops`
    /// is left out.
    #[must_use]
    pub fn forwards(&self, from: &[Place], stops: impl Fn(Place) -> bool) -> FxHashSet<Place> {
        slice(&self.forwards, from, stops)
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
            for &next in self.forwards.get(&place).into_iter().flatten() {
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

    /// All that the values depend on, themselves included, up to places that `stops`.
    #[must_use]
    pub fn backwards(&self, from: &[Place], stops: impl Fn(Place) -> bool) -> FxHashSet<Place> {
        slice(&self.backwards, from, stops)
    }
}

fn slice(
    edges: &FxHashMap<Place, Vec<Place>>,
    from: &[Place],
    stops: impl Fn(Place) -> bool,
) -> FxHashSet<Place> {
    let mut found: FxHashSet<Place> = from.iter().copied().collect();
    let mut work: Vec<Place> =
        from.iter().flat_map(|place| edges.get(place).into_iter().flatten()).copied().collect();
    while let Some(place) = work.pop() {
        if found.insert(place) && !stops(place) {
            work.extend(edges.get(&place).into_iter().flatten());
        }
    }
    found
}

/// The values that an expression is computed from; calls are left to the call graph.
fn operands(value: &Value) -> Vec<ValueId> {
    match value {
        Value::Phi(operands) => operands.to_vec(),
        Value::Display(_, elements) => elements
            .iter()
            .flat_map(|element| match *element {
                Element::At(_, value)
                | Element::Any(value)
                | Element::Spread(value)
                | Element::Merge(value) => {
                    vec![value]
                }
                Element::Key(key, value) => vec![key, value],
            })
            .collect(),
        Value::Attribute { base, narrowed, .. } => [Some(*base), *narrowed].into_iter().flatten().collect(),
        Value::Item { base, key, narrowed } => {
            [Some(*base), Some(*key), *narrowed].into_iter().flatten().collect()
        }
        Value::Slice { base, .. }
        | Value::Iteration(base)
        | Value::Unpack { base, .. }
        | Value::Enter(base)
        | Value::Await(base)
        | Value::Caught(base) => vec![*base],
        Value::Operator { left, right, .. } => vec![*left, *right],
        _ => Vec::new(),
    }
}
