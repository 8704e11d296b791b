//! Where functions go as values, and where nobody can follow them any further: into libraries that nobody
//! knows, other threads, and containers that are read with unknown keys.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::influence::Place;
use super::modules::FunctionRef;
use super::object::{Object, ObjectId};
use crate::api::{Effect, Symbol};
use crate::finding::Location;
use crate::project::FileId;
use crate::semantic::{CallId, CallKind, Module, Value, ValueId};

/// Where functions are lost.
#[derive(Debug, Default)]
pub struct Travel {
    functions: FxHashMap<FunctionRef, Location>,
    /// The functions that calls lose, as values.
    lost: Vec<Place>,
    /// What comes to them; found when it is first asked for.
    places: OnceLock<FxHashSet<Place>>,
    containers: FxHashSet<ObjectId>,
}

impl Travel {
    /// Looks at all calls and subscripts of the training programs.
    #[must_use]
    pub fn new(facts: &Facts<'_>) -> Self {
        let mut travel = Self::default();
        for file in facts.files() {
            let module = facts.module(file);
            for (index, call) in module.calls.iter().enumerate() {
                let may_lose = || {
                    let mut arguments = call.arguments.iter();
                    arguments.any(|argument| may_hold_code(facts, (file, argument.value)))
                };
                if call.kind == CallKind::Expression
                    && may_lose()
                    && facts.loses_arguments(file, CallId::new(index))
                {
                    for argument in &call.arguments {
                        travel.lose(facts, (file, argument.value), facts.location(file, argument.range));
                        travel.lost.push((file, argument.value));
                    }
                }
            }
            travel.add_unknown_keys(facts, file, module);
        }
        travel.lost.retain(|&place| is_code(facts, place));
        travel
    }

    fn lose(&mut self, facts: &Facts<'_>, (file, value): Place, at: Location) {
        for (id, object) in facts.objects(file, value) {
            if let Some(function) = code(object) {
                self.functions.entry(function).or_insert(at);
            }
            if let Object::Container(..) = object {
                self.containers.insert(id);
            }
        }
    }

    fn add_unknown_keys(&mut self, facts: &Facts<'_>, file: FileId, module: &Module) {
        let unknown = |key: ValueId| {
            let mut objects = facts.objects(file, key).peekable();
            objects.peek().is_none() || objects.any(|(_, object)| !matches!(object, Object::Literal(_)))
        };
        let mut read = |base: ValueId| {
            let containers =
                facts.objects(file, base).filter(|(_, object)| matches!(object, Object::Container(..)));
            self.containers.extend(containers.map(|(id, _)| id));
        };
        for evaluation in &module.values {
            if let Value::Item { base, key, .. } = evaluation.value
                && unknown(key)
            {
                read(base);
            }
        }
        for call in &module.calls {
            let gives_code = || facts.objects(file, call.result).any(|(_, object)| code(object).is_some());
            if let Some(base) = facts.receiver(file, call)
                && gives_code()
                && call.arguments.first().is_some_and(|argument| unknown(argument.value))
            {
                read(base);
            }
        }
    }

    /// Where a function is given to something that may call it at any time.
    #[must_use]
    pub fn lost_function(&self, function: FunctionRef) -> Option<Location> {
        self.functions.get(&function).copied()
    }

    /// Whether the value goes on to something that may call it at any time.
    #[must_use]
    pub fn loses(&self, facts: &Facts<'_>, place: Place) -> bool {
        let find = || facts.influence().backwards(&self.lost, |place| !is_code(facts, place));
        self.places.get_or_init(find).contains(&place)
    }

    /// Whether a container is given away or read with an unknown key.
    #[must_use]
    pub fn loses_elements(&self, container: ObjectId) -> bool {
        self.containers.contains(&container)
    }
}

impl Facts<'_> {
    /// Whether a call gives its arguments to a library that nobody knows, or to another thread.
    #[must_use]
    pub fn loses_arguments(&self, file: FileId, call: CallId) -> bool {
        let edges = self.callees(file, call);
        let known = |edge: &super::solver::CallEdge| match self.solution.object(edge.callee) {
            Object::Unknown => false,
            object @ Object::External(_) => self.symbol(object).is_some(),
            _ => true,
        };
        let spawns = |symbol: &Symbol| symbol.has(Effect::Spawns) && !self.is_launcher(symbol);
        !edges.iter().any(known) || self.called_symbols(file, call).any(spawns)
    }
}

impl Facts<'_> {
    /// Whether a library's function runs a function on all ranks: `horovod.run(train)`.
    #[must_use]
    pub fn is_launcher(&self, symbol: &Symbol) -> bool {
        symbol.has(Effect::Spawns) && self.library.is_training_library(symbol.package())
    }
}

/// Whether a value may be a function or a container.
fn may_hold_code(facts: &Facts<'_>, (file, value): Place) -> bool {
    let mut objects = facts.objects(file, value);
    objects.any(|(_, object)| matches!(object, Object::Container(..)) || code(object).is_some())
}

/// Whether a value may be a function.
fn is_code(facts: &Facts<'_>, (file, value): Place) -> bool {
    facts.objects(file, value).any(|(_, object)| code(object).is_some())
}

/// The function that an object is, bound or not.
#[must_use]
pub fn code(object: Object) -> Option<FunctionRef> {
    match object {
        Object::Function(function) | Object::Bound(_, function) => Some(function),
        _ => None,
    }
}
