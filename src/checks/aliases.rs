//! Second names: variables, attributes and containers that are given an object which has a name already.

use super::objects::{Family, elements};
use crate::program::{Caller, Facts, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{DefinitionKind, Module, StatementId, Store, StoreKey, Use, Value, ValueId, Variable};
use crate::syntax::TextRange;

/// What keeps the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder<'a> {
    /// A variable.
    Variable(&'a str),
    /// An attribute.
    Attribute(&'a str),
    /// A variable that holds a container with the object.
    Container(&'a str),
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
    /// The name that it has already.
    pub known: Known<'a>,
    /// The store, for an attribute or an element.
    pub store: Option<&'a Store>,
}

/// The second names that a file gives to objects of the family, in source order.
#[must_use]
pub fn aliases<'a>(facts: &Facts<'a>, file: FileId, family: Family) -> Vec<Alias<'a>> {
    let module = facts.module(file);
    let reader = Reader::new(facts, file, family);
    let mut found = reader.taken_by_containers();
    for definition in &module.definitions {
        let Some(statement) = definition.statement.filter(|_| gives_name(definition.kind)) else { continue };
        let target = Target::Variable(definition.variable);
        let Some(known) = reader.known(definition.value, statement, target) else { continue };
        let name = module.variable_name(definition.variable);
        let holder = match module.value(definition.value).value {
            Value::Display(..) => Holder::Container(name),
            _ => Holder::Variable(name),
        };
        let caller = Caller { file, scope: definition.scope };
        found.push(Alias { range: definition.range, caller, holder, known, store: None });
    }
    for store in &module.stores {
        let Some(known) = reader.known(store.value, store.statement, Target::Store(store)) else { continue };
        let holder = match store.key {
            StoreKey::Attribute(name) => Holder::Attribute(module.names.text(name)),
            StoreKey::Item(_) | StoreKey::Slice => Holder::Element,
        };
        let caller = Caller { file, scope: store.scope };
        found.push(Alias { range: store.range, caller, holder, known, store: Some(store) });
    }
    found.sort_by_key(|alias| (alias.range.start(), alias.known.range.start()));
    found.dedup_by_key(|alias| alias.range);
    found
}

/// Whether a binding may be a second name; an import never is, a parameter only where it is kept.
fn gives_name(kind: DefinitionKind) -> bool {
    matches!(
        kind,
        DefinitionKind::Assignment
            | DefinitionKind::Unpacking
            | DefinitionKind::Walrus
            | DefinitionKind::Loop
            | DefinitionKind::With
            | DefinitionKind::Capture
    )
}

/// What is being bound.
#[derive(Clone, Copy)]
enum Target<'a> {
    Variable(Variable),
    Store(&'a Store),
    Container,
}

/// A name that an object has already.
#[derive(Clone, Debug)]
pub struct Known<'a> {
    /// Where it is read.
    pub range: TextRange,
    /// The variable or attribute, if it is one.
    pub name: Option<&'a str>,
    /// The object or objects.
    pub objects: Vec<ObjectId>,
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
    fn known(&self, value: ValueId, statement: StatementId, target: Target<'_>) -> Option<Known<'a>> {
        let header = self.module.statement(statement).header;
        let evaluation = self.module.value(value);
        let here = header.contains_range(evaluation.range);
        // A tuple that is only returned or passed on keeps nothing.
        if let Value::Display(..) = evaluation.value {
            let mut elements = elements(&evaluation.value).filter(|_| here);
            return elements.find_map(|element| self.known(element, statement, target));
        }
        let objects: Vec<ObjectId> = self.family.among(self.facts, self.file, value).collect();
        if objects.is_empty() || self.made_by(statement, &objects) {
            return None;
        }
        if let Some(reading) = self.use_of(value, header, target) {
            let name = reading.variable.map(|variable| self.module.variable_name(variable));
            return Some(Known { range: reading.range, name, objects });
        }
        let name = match &evaluation.value {
            Value::Phi(operands) if here => {
                return operands.iter().find_map(|&operand| self.known(operand, statement, target));
            }
            Value::Attribute { name, .. } if !self.is_same_attribute(value, target) => {
                Some(self.module.names.text(*name))
            }
            // What a function hands over in a tuple is not kept in it.
            Value::Item { base, .. } if !matches!(self.module.value(*base).value, Value::Call(_)) => None,
            Value::Iteration(_) => None,
            _ => return None,
        };
        here.then_some(Known { range: evaluation.range, name, objects })
    }

    /// The reading of the value, within the statement, from a variable other than its target.
    fn use_of(&self, value: ValueId, header: TextRange, target: Target<'_>) -> Option<&'a Use> {
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
                let mut methods = self
                    .facts
                    .objects(self.file, call.callee)
                    .filter_map(|(callee, _)| self.facts.builtin_method(callee));
                let keeps = methods.any(|(receiver, method)| {
                    matches!(self.facts.solution.object(receiver), Object::Container(..))
                        && method.has(crate::api::Effect::UpdatesState)
                });
                if keeps {
                    found.push(Alias {
                        range: argument.range,
                        caller: Caller { file: self.file, scope: call.scope },
                        holder: Holder::Element,
                        known,
                        store: None,
                    });
                }
            }
        }
        found
    }
}
