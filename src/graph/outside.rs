//! What traced code changes outside of itself: variables of other scopes, and objects that were made before the trace.

use super::Graph;
use crate::api::EffectSet;
use crate::finding::Confidence;
use crate::program::{Caller, Object, ObjectId, Reason};
use crate::project::FileId;
use crate::semantic::{
    BlockId, DefinitionKind, Evaluation, Operator, Passing, ScopeId, StatementId, StatementKind, StoreKey,
    Value, ValueId, Variable,
};
use crate::syntax::TextRange;

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A variable of another scope, by `global` or `nonlocal`.
    Variable(Variable),
    /// An attribute of an object.
    Attribute(ValueId, crate::semantic::NameId),
    /// An item of a container.
    Item(ValueId),
    /// A container, by a method such as `append`.
    Container(ValueId),
}

/// A change of something outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub caller: Caller,
    pub subject: Subject,
    /// What is put there.
    pub value: Option<ValueId>,
    pub range: TextRange,
    pub statement: StatementId,
    /// It depends on what was there before: `n += 1`.
    pub is_step: bool,
}

impl Graph<'_> {
    /// What repeated traced code changes outside of itself, where nothing is just made for the first time.
    pub(super) fn changes(&self) -> Vec<Change> {
        let mut found = Vec::new();
        for file in self.facts.files() {
            let own = |scope: ScopeId| {
                let caller = Caller { file, scope };
                self.tracing.get(caller).is_some_and(|traced| !traced.once)
                    && !self.retraced.contains(&caller)
                    && !self.facts.is_constructor(caller)
            };
            self.rebound(file, &own, &mut found);
            self.stored(file, &own, &mut found);
            self.mutated(file, &own, &mut found);
        }
        found.retain(|change| {
            let statement = self.module(change.caller.file).statement(change.statement);
            !self.facts.is_guarded(change.caller, statement.block)
                && !self.facts.is_outside_graph(change.caller.file, change.statement)
        });
        found
    }

    fn rebound(&self, file: FileId, own: &impl Fn(ScopeId) -> bool, found: &mut Vec<Change>) {
        let module = self.module(file);
        for definition in &module.definitions {
            let Some(statement) = definition.statement else { continue };
            let around = Caller { file, scope: module.code_scope(definition.variable.scope) };
            if definition.scope == definition.variable.scope
                || !matches!(
                    definition.kind,
                    DefinitionKind::Assignment
                        | DefinitionKind::Augmented
                        | DefinitionKind::Unpacking
                        | DefinitionKind::Walrus
                )
                || !own(definition.scope)
                || self.is_traced(around)
            {
                continue;
            }
            let depends = |value: ValueId| matches!(module.value(value).value, Value::Cell(variable) if variable == definition.variable);
            found.push(Change {
                caller: Caller { file, scope: definition.scope },
                subject: Subject::Variable(definition.variable),
                value: Some(definition.value),
                range: definition.range,
                statement,
                is_step: definition.kind == DefinitionKind::Augmented
                    || self.operands(file, definition.value).any(depends),
            });
        }
    }

    fn stored(&self, file: FileId, own: &impl Fn(ScopeId) -> bool, found: &mut Vec<Change>) {
        let module = self.module(file);
        for store in module.stores.iter().filter(|store| own(store.scope)) {
            if !self.is_outside(file, store.base) {
                continue;
            }
            let is_augmented = module.statement(store.statement).kind == StatementKind::AugmentedAssign;
            let (subject, is_step) = match store.key {
                StoreKey::Attribute(name) => {
                    // What the same run of the code has put there before is no step from what was there.
                    let read = |value: ValueId| match module.value(value).value {
                        Value::Attribute { base, name: read, narrowed } => {
                            (base == store.base && read == name).then_some(narrowed.is_none())
                        }
                        _ => None,
                    };
                    let mut read = self.operands(file, store.value).filter_map(read).peekable();
                    let step = if read.peek().is_some() { read.any(|is_old| is_old) } else { is_augmented };
                    (Subject::Attribute(store.base, name), step)
                }
                StoreKey::Item(_) | StoreKey::Slice => (Subject::Item(store.base), is_augmented),
            };
            found.push(Change {
                caller: Caller { file, scope: store.scope },
                subject,
                value: Some(store.value),
                range: store.range,
                statement: store.statement,
                is_step,
            });
        }
    }

    fn mutated(&self, file: FileId, own: &impl Fn(ScopeId) -> bool, found: &mut Vec<Change>) {
        let module = self.module(file);
        for (index, call) in module.calls.iter().enumerate().filter(|(_, call)| own(call.scope)) {
            let id = crate::semantic::CallId::new(index);
            let changed = if self.changes_container(file, id) {
                self.facts.receiver(file, call)
            } else {
                self.container_of_changed(file, id)
            };
            if let Some(changed) = changed.filter(|&changed| self.is_outside(file, changed)) {
                let value = call.arguments.iter().find(|argument| argument.passing == Passing::Positional);
                found.push(Change {
                    caller: Caller { file, scope: call.scope },
                    subject: Subject::Container(changed),
                    value: value.map(|argument| argument.value),
                    range: call.range,
                    statement: call.statement,
                    is_step: true,
                });
            }
        }
    }

    /// The operands of an operator, and theirs.
    fn operands(&self, file: FileId, value: ValueId) -> impl Iterator<Item = ValueId> + '_ {
        let module = self.module(file);
        let mut work = vec![value];
        std::iter::from_fn(move || {
            let next = work.pop()?;
            if let Value::Operator { operator, left, right } = module.value(next).value
                && !matches!(operator, Operator::Compare(_) | Operator::Not)
            {
                work.extend([left, right]);
            }
            Some(next)
        })
    }

    /// Whether every object that a value may be was made before the trace, by code that is not traced, and is one
    /// whose parts are plain Python: a container, an instance of the project's classes, a module.
    pub(super) fn is_outside(&self, file: FileId, value: ValueId) -> bool {
        // What traces a function may call it with anything; what the program passes is what counts.
        let is_parameter = self.is_of_parameter(file, value);
        if self.is_given_by_dataset(file, value) || self.is_copied_by_keras(file, value) {
            return false;
        }
        let mut objects = self.facts.solution.values(file, value).iter().copied();
        let is_known = |&object: &ObjectId| !is_parameter || object != ObjectId::UNKNOWN;
        let mut known = objects.clone().filter(is_known).peekable();
        match known.peek() {
            Some(_) => known.all(|object| self.is_made_outside(object)),
            None => objects.next().is_some() && self.is_receiver(file, value),
        }
    }

    /// Whether a value is a parameter, or a part of one: `self.history["loss"]`.
    fn is_of_parameter(&self, file: FileId, mut value: ValueId) -> bool {
        let module = self.module(file);
        loop {
            match module.value(value).value {
                Value::Parameter(..) => return true,
                Value::Attribute { base, .. } | Value::Item { base, .. } => value = base,
                _ => return false,
            }
        }
    }

    /// Whether a value is what a dataset gives to a function that it maps: a structure of its own, whoever else calls
    /// the function with another one.
    fn is_given_by_dataset(&self, file: FileId, value: ValueId) -> bool {
        let Value::Parameter(function, index) = self.module(file).value(value).value else { return false };
        let own = self.module(file).function(function);
        let traced = self.tracing.get(Caller { file, scope: own.scope });
        let by_dataset = traced.is_some_and(|traced| match traced.reason {
            Reason::Given(file, call) => !self.facts.is_wrapper(file, call),
            _ => false,
        });
        by_dataset && (index > 0 || own.class.is_none())
    }

    /// Whether a value is the receiver of a method that is traced by itself.
    fn is_receiver(&self, file: FileId, value: ValueId) -> bool {
        let Value::Parameter(function, 0) = self.module(file).value(value).value else { return false };
        let own = self.module(file).function(function);
        let is_first = |caller| {
            self.tracing.get(caller).is_some_and(|traced| !matches!(traced.reason, Reason::Called(_)))
        };
        own.class.is_some() && is_first(Caller { file, scope: own.scope })
    }

    fn is_made_outside(&self, object: ObjectId) -> bool {
        match self.facts.solution.object(object) {
            Object::Container(_, node) | Object::Instance(_, Some(node)) => {
                self.facts.solution.origin(node).is_some_and(|(file, value)| {
                    let module = self.module(file);
                    let scope = module.code_scope(module.value(value).scope);
                    !self.is_traced(Caller { file, scope })
                })
            }
            Object::Instance(_, None) | Object::Module(_) | Object::Class(_) => true,
            Object::Created(..) if self.is_container(object) => {
                self.facts.made_at(object).is_some_and(|(file, call)| {
                    let scope = self.module(file).code_scope(self.module(file).call(call).scope);
                    !self.is_traced(Caller { file, scope })
                })
            }
            _ => false,
        }
    }

    /// How sure it is that code that is not traced reads what was changed, if some does: who calls the reading function may be
    /// unknown.
    pub(super) fn is_read_outside(&self, change: &Change) -> Option<Confidence> {
        let file = change.caller.file;
        match change.subject {
            Subject::Variable(variable) => {
                let readings = self.module(file).uses.iter();
                let readings = readings.filter(|reading| reading.variable == Some(variable));
                self.surest_outside(readings.map(|reading| (file, reading.scope)))
            }
            Subject::Attribute(base, name) => {
                let name = self.module(file).names.text(name);
                let objects = self.known_objects(file, base);
                let in_file = |file: FileId| {
                    let module = self.module(file);
                    let name = module.names.get(name);
                    let is_read = |value: &&Evaluation| {
                        matches!(value.value, Value::Attribute { base, name: read, .. } if Some(read) == name
                            && self.facts.solution.values(file, base).iter().any(|own| objects.contains(own)))
                    };
                    let values = module.values.iter().filter(move |_| name.is_some());
                    self.surest_outside(values.filter(is_read).map(|value| (file, value.scope)))
                };
                surest(self.facts.files().filter_map(in_file))
            }
            Subject::Item(base) | Subject::Container(base) => {
                let objects = self.known_objects(file, base);
                let in_file = |file: FileId| {
                    let module = self.module(file);
                    let is_it = |value| {
                        self.facts.solution.values(file, value).iter().any(|own| objects.contains(own))
                    };
                    let held = module.values.iter().enumerate();
                    let held = held.filter(|(_, own)| matches!(own.value, Value::Attribute { .. }));
                    let held = held.map(|(index, own)| (own.scope, ValueId::new(index)));
                    let used = module.uses.iter().map(|reading| (reading.scope, reading.value));
                    let readings = used.chain(held).filter(|&(_, value)| is_it(value));
                    self.surest_outside(readings.map(|(scope, _)| (file, scope)))
                };
                surest(self.facts.files().filter_map(in_file))
            }
        }
    }

    /// How sure it is that code of some of these scopes reads something outside of the graph.
    fn surest_outside(&self, readings: impl Iterator<Item = (FileId, ScopeId)>) -> Option<Confidence> {
        let outside = readings.filter_map(|(file, scope)| {
            let caller = Caller { file, scope: self.module(file).code_scope(scope) };
            let function = self.facts.function_of(caller);
            let is_called = function.is_none_or(|own| !self.facts.incoming(own).is_empty());
            let sureness = if is_called { Confidence::Certain } else { Confidence::Possible };
            (!self.is_traced(caller)).then_some(sureness)
        });
        surest(outside)
    }

    fn known_objects(&self, file: FileId, value: ValueId) -> Vec<ObjectId> {
        let objects = self.facts.solution.values(file, value).iter().copied();
        objects.filter(|&object| object != ObjectId::UNKNOWN).collect()
    }

    /// What is changed, in words.
    pub(super) fn subject_name(&self, change: &Change) -> String {
        let module = self.module(change.caller.file);
        let named = |value: ValueId| self.name(change.caller.file, value);
        match change.subject {
            Subject::Variable(variable) => format!("`{}`", module.variable_name(variable)),
            Subject::Attribute(base, name) => {
                let name = module.names.text(name);
                named(base).map_or_else(|| format!("attribute `{name}`"), |base| format!("`{base}.{name}`"))
            }
            Subject::Item(base) => {
                named(base).map_or("a container".into(), |base| format!("an item of `{base}`"))
            }
            Subject::Container(base) => named(base).map_or("a container".into(), |base| format!("`{base}`")),
        }
    }

    /// Whether a call may be of one of these symbols of libraries.
    pub(super) fn calls_any(&self, file: FileId, call: crate::semantic::CallId, names: &[&str]) -> bool {
        let library = self.facts.library;
        let mut symbols = self.facts.called_symbols(file, call);
        symbols.any(|own| names.iter().any(|name| library.lookup(name) == Some(own)))
    }

    /// The effects of what a call calls, of symbols that are not TensorFlow's: those are operations.
    pub(super) fn python_effects(&self, file: FileId, call: crate::semantic::CallId) -> EffectSet {
        let mut effects = EffectSet::NONE;
        for edge in self.facts.callees(file, call) {
            let own = match self.facts.solution.object(edge.callee) {
                object @ Object::External(_) => match self.facts.symbol(object) {
                    Some(symbol) => {
                        if self.facts.library.is_training_library(symbol.package()) {
                            continue;
                        }
                        symbol.effects()
                    }
                    None => continue,
                },
                Object::Builtin(_) | Object::BuiltinMethod(..) => {
                    self.facts.effects().of_edge(self.facts, edge).effects
                }
                _ => continue,
            };
            effects = effects.union(own);
        }
        effects
    }

    /// The block of a statement.
    pub(super) fn block(&self, file: FileId, statement: StatementId) -> BlockId {
        self.module(file).statement(statement).block
    }
}

/// The greatest confidence of some, none of which is looked at behind one that is certain.
fn surest(found: impl Iterator<Item = Confidence>) -> Option<Confidence> {
    let mut surest = None;
    for own in found {
        surest = surest.max(Some(own));
        if own == Confidence::Certain {
            break;
        }
    }
    surest
}
