//! Second names: variables, attributes and containers that are given an object which has a name already.

use super::objects::{Family, elements};
use crate::program::{Caller, Facts, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{DefinitionKind, Module, StatementId, Store, StoreKey, Value, ValueId, Variable};
use crate::syntax::TextRange;

/// What keeps the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder<'a> {
    /// A variable.
    Variable(&'a str),
    /// An attribute.
    Attribute(&'a str),
    /// An element of a container.
    Element,
}

/// A second name of an object.
#[derive(Clone, Debug)]
pub struct Alias<'a> {
    /// Where it is bound: the target, or the argument that a container takes.
    pub range: TextRange,
    /// Whose code binds it.
    pub caller: Caller,
    /// What keeps the object.
    pub holder: Holder<'a>,
    /// The object or objects.
    pub objects: Vec<ObjectId>,
    /// The name that it has already.
    pub known: TextRange,
    /// The store, for an attribute or an element.
    pub store: Option<&'a Store>,
}

/// The second names that a file gives to objects of the family, in source order.
#[must_use]
pub fn aliases<'a>(facts: &Facts<'a>, file: FileId, family: Family) -> Vec<Alias<'a>> {
    let module = facts.module(file);
    let reader = Reader::new(facts, file, family);
    let mut found = Vec::new();
    for definition in &module.definitions {
        let Some(statement) = definition.statement else { continue };
        let binds = matches!(
            definition.kind,
            DefinitionKind::Assignment
                | DefinitionKind::Unpacking
                | DefinitionKind::Walrus
                | DefinitionKind::Loop
                | DefinitionKind::With
                | DefinitionKind::Capture
        );
        let known =
            binds.then(|| reader.known(definition.value, statement, Target::Variable(definition.variable)));
        if let Some(Known { range, objects }) = known.flatten() {
            let holder = Holder::Variable(module.variable_name(definition.variable));
            let caller = Caller { file, scope: definition.scope };
            let store = None;
            found.push(Alias { range: definition.range, caller, holder, objects, known: range, store });
        }
    }
    for store in &module.stores {
        if let Some(Known { range, objects }) =
            reader.known(store.value, store.statement, Target::Store(store))
        {
            let holder = match store.key {
                StoreKey::Attribute(name) => Holder::Attribute(module.names.text(name)),
                StoreKey::Item(_) | StoreKey::Slice => Holder::Element,
            };
            let caller = Caller { file, scope: store.scope };
            let (target, store) = (store.range, Some(store));
            found.push(Alias { range: target, caller, holder, objects, known: range, store });
        }
    }
    found.extend(reader.taken_by_containers());
    found.sort_by_key(|alias| (alias.range.start(), alias.known.start()));
    found.dedup_by_key(|alias| alias.range);
    found
}

/// What is being bound.
#[derive(Clone, Copy)]
enum Target<'a> {
    Variable(Variable),
    Store(&'a Store),
    Container,
}

/// A name that an object has already.
struct Known {
    range: TextRange,
    objects: Vec<ObjectId>,
}

struct Reader<'f, 'a> {
    facts: &'f Facts<'a>,
    file: FileId,
    module: &'a Module,
    family: Family,
    /// Indices of the uses, by their place.
    uses: Vec<usize>,
}

impl<'f, 'a> Reader<'f, 'a> {
    fn new(facts: &'f Facts<'a>, file: FileId, family: Family) -> Self {
        let module = facts.module(file);
        let mut uses: Vec<usize> = (0..module.uses.len()).collect();
        uses.sort_by_key(|&index| module.uses[index].range.start());
        Self { facts, file, module, family, uses }
    }

    /// The name under which a statement reads what it binds; `None` where it binds something new, or what a
    /// call hands over.
    fn known(&self, value: ValueId, statement: StatementId, target: Target<'_>) -> Option<Known> {
        let header = self.module.statement(statement).header;
        let evaluation = self.module.value(value);
        let here = header.contains_range(evaluation.range);
        match &evaluation.value {
            Value::Phi(operands) if here => {
                let mut all = operands.iter().filter_map(|&operand| self.known(operand, statement, target));
                return all.next();
            }
            // A tuple that is only returned or passed on keeps nothing.
            Value::Display(..) if here => {
                let mut all =
                    elements(&evaluation.value).filter_map(|element| self.known(element, statement, target));
                return all.next();
            }
            _ => {}
        }
        let objects: Vec<ObjectId> = self.family.among(self.facts, self.file, value).collect();
        if objects.is_empty() || self.made_by(statement, &objects) {
            return None;
        }
        let range = self.use_of(value, header, target).or_else(|| {
            let reads = match evaluation.value {
                Value::Attribute { .. } => !self.is_same_attribute(value, target),
                // What a function hands over in a tuple is not kept in it.
                Value::Item { base, .. } => !matches!(self.module.value(base).value, Value::Call(_)),
                Value::Iteration(_) => true,
                _ => false,
            };
            (here && reads).then_some(evaluation.range)
        })?;
        Some(Known { range, objects })
    }

    /// Where the statement reads the value from a variable other than its target.
    fn use_of(&self, value: ValueId, header: TextRange, target: Target<'_>) -> Option<TextRange> {
        let start =
            self.uses.partition_point(|&index| self.module.uses[index].range.start() < header.start());
        self.uses[start..]
            .iter()
            .map(|&index| &self.module.uses[index])
            .take_while(|reading| reading.range.start() < header.end())
            .find(|reading| {
                let same = matches!(target, Target::Variable(variable) if reading.variable == Some(variable));
                reading.value == value && !same
            })
            .map(|reading| reading.range)
    }

    /// Whether the statement itself makes the objects.
    fn made_by(&self, statement: StatementId, objects: &[ObjectId]) -> bool {
        objects.iter().all(|&object| {
            self.facts.made_at(object).is_some_and(|(file, call)| {
                file == self.file && self.module.call(call).statement == statement
            })
        })
    }

    /// `self.optimizer = self.optimizer`
    fn is_same_attribute(&self, value: ValueId, target: Target<'_>) -> bool {
        let (Value::Attribute { base, name, .. }, Target::Store(store)) =
            (&self.module.value(value).value, target)
        else {
            return false;
        };
        store.key == StoreKey::Attribute(*name)
            && self.facts.solution.values(self.file, store.base)
                == self.facts.solution.values(self.file, *base)
    }

    /// Arguments that a method of a container puts into it: `optimizers.append(optimizer)`.
    fn taken_by_containers(&self) -> Vec<Alias<'a>> {
        let mut found = Vec::new();
        for call in &self.module.calls {
            for argument in &call.arguments {
                let Some(known) = self.known(argument.value, call.statement, Target::Container) else {
                    continue;
                };
                let keeps = self.facts.objects(self.file, call.callee).any(|(_, object)| {
                    let Object::BuiltinMethod(receiver, name) = object else { return false };
                    let class = self.facts.builtin_class(receiver);
                    let method = class.and_then(|class| {
                        let name = self.facts.solution.names.text(name);
                        self.facts.library.lookup(&format!("builtins.{class}.{name}"))
                    });
                    matches!(self.facts.solution.object(receiver), Object::Container(..))
                        && method.is_some_and(|method| method.has(crate::api::Effect::UpdatesState))
                });
                if keeps {
                    found.push(Alias {
                        range: argument.range,
                        caller: Caller { file: self.file, scope: call.scope },
                        holder: Holder::Element,
                        objects: known.objects,
                        known: known.range,
                        store: None,
                    });
                }
            }
        }
        found
    }
}
