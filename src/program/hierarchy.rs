//! Classes and their bases: which class a method comes from.
//!
//! Base classes are read from the source alone, before any value flows: names, attributes, imports and
//! subscripts (`Generic[T]`). What is computed at run time is an unknown base.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::modules::{ClassRef, FunctionRef, Meaning, Modules};
use crate::api::Library;
use crate::project::{FileId, Target};
use crate::semantic::{Value, ValueId};

/// What an expression means without running anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A class of the project.
    Class(ClassRef),
    /// A function of the project.
    Function(FunctionRef),
    /// A module of the project or a folder of modules.
    Module(Target),
    /// A library's module or member.
    External(String),
    /// One of Python's own.
    Builtin(String),
}

/// A class along a method resolution order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ancestor {
    /// Of the project.
    Project(ClassRef),
    /// Of a library.
    External(String),
    /// Of Python.
    Builtin(String),
    /// Not known.
    Unknown,
}

/// The method resolution orders of the project's classes.
#[derive(Debug)]
pub struct Hierarchy {
    orders: FxHashMap<ClassRef, Vec<Ancestor>>,
    bases: FxHashMap<ClassRef, Vec<Ancestor>>,
}

impl Hierarchy {
    /// Resolves the bases of all classes and puts their ancestors in order (C3).
    #[must_use]
    pub fn new(modules: &Modules, library: &Library) -> Self {
        let resolver = Resolver { modules, library };
        let in_file = |file: FileId| {
            modules.get(file).classes.iter().enumerate().map(move |(index, class)| {
                let class_ref = ClassRef { file, class: crate::semantic::ClassId::new(index) };
                let found = class.bases.iter().map(|&base| resolver.ancestor(file, base));
                (class_ref, found.collect())
            })
        };
        let files: Vec<FileId> = modules.files().collect();
        let bases: FxHashMap<ClassRef, Vec<Ancestor>> =
            files.into_par_iter().flat_map_iter(in_file).collect();
        let mut hierarchy = Self { orders: FxHashMap::default(), bases };
        let mut classes: Vec<ClassRef> = hierarchy.bases.keys().copied().collect();
        classes.sort_unstable();
        for class in classes {
            hierarchy.linearize(class, &mut Vec::new());
        }
        hierarchy
    }

    /// The class itself and its ancestors, in the order in which methods are looked for.
    #[must_use]
    pub fn order(&self, class: ClassRef) -> &[Ancestor] {
        self.orders.get(&class).map_or(&[], Vec::as_slice)
    }

    /// The names that a class and its ancestors annotate, theirs first, each once: the fields of a data class.
    #[must_use]
    pub fn fields<'m>(&self, modules: &'m Modules, class: ClassRef) -> Vec<&'m str> {
        let mut found: Vec<&str> = Vec::new();
        for ancestor in self.order(class).iter().rev() {
            if let Ancestor::Project(ancestor) = ancestor {
                let module = modules.get(ancestor.file);
                let own = module.class(ancestor.class).annotated.iter().map(|&name| module.names.text(name));
                found.extend(own.filter(|name| !found.contains(name)).collect::<Vec<_>>());
            }
        }
        found
    }

    /// The bases as written.
    #[must_use]
    pub fn bases(&self, class: ClassRef) -> &[Ancestor] {
        self.bases.get(&class).map_or(&[], Vec::as_slice)
    }

    fn linearize(&mut self, class: ClassRef, active: &mut Vec<ClassRef>) -> Vec<Ancestor> {
        if let Some(order) = self.orders.get(&class) {
            return order.clone();
        }
        if active.contains(&class) {
            return vec![Ancestor::Project(class)];
        }
        active.push(class);
        let bases = self.bases.get(&class).cloned().unwrap_or_default();
        let mut sequences: Vec<Vec<Ancestor>> = bases
            .iter()
            .map(|base| match base {
                Ancestor::Project(base) => self.linearize(*base, active),
                other => vec![other.clone()],
            })
            .collect();
        sequences.push(bases);
        active.pop();
        let mut order = vec![Ancestor::Project(class)];
        order.extend(merge(sequences));
        self.orders.insert(class, order.clone());
        order
    }
}

/// The merge of C3; where Python would refuse the bases, the first that is left comes next.
fn merge(mut sequences: Vec<Vec<Ancestor>>) -> Vec<Ancestor> {
    let mut result: Vec<Ancestor> = Vec::new();
    loop {
        sequences.retain(|sequence| !sequence.is_empty());
        let Some(first) = sequences.first().and_then(|sequence| sequence.first()).cloned() else {
            return result;
        };
        let in_a_tail = |candidate: &Ancestor| {
            sequences.iter().any(|sequence| sequence.iter().skip(1).any(|ancestor| ancestor == candidate))
        };
        let next = sequences
            .iter()
            .filter_map(|sequence| sequence.first())
            .find(|candidate| !in_a_tail(candidate))
            .cloned()
            .unwrap_or(first);
        for sequence in &mut sequences {
            sequence.retain(|ancestor| *ancestor != next);
        }
        result.push(next);
    }
}

/// Reads what expressions mean from the source.
#[derive(Clone, Copy, Debug)]
pub struct Resolver<'a> {
    /// The modules.
    pub modules: &'a Modules,
    /// What libraries export.
    pub library: &'a Library,
}

/// What values mean of which there are several, each asked for once: those of loops go in circles. What is being asked for
/// means nothing yet.
type Joins = FxHashMap<(FileId, ValueId), Option<Entity>>;

/// How many names may lead to names: longer chains are cycles.
const DEPTH: usize = 32;

impl Resolver<'_> {
    /// What the value means, if the source tells.
    #[must_use]
    pub fn entity(&self, file: FileId, value: ValueId) -> Option<Entity> {
        self.resolve(file, value, 0, &mut Joins::default())
    }

    fn ancestor(&self, file: FileId, value: ValueId) -> Ancestor {
        match self.entity(file, value) {
            Some(Entity::Class(class)) => Ancestor::Project(class),
            Some(Entity::External(path)) => Ancestor::External(path),
            Some(Entity::Builtin(name)) => Ancestor::Builtin(name),
            _ => Ancestor::Unknown,
        }
    }

    fn resolve(&self, file: FileId, value: ValueId, depth: usize, joins: &mut Joins) -> Option<Entity> {
        if depth > DEPTH {
            return None;
        }
        let module = self.modules.get(file);
        match &module.value(value).value {
            Value::Class(class) => Some(Entity::Class(ClassRef { file, class: *class })),
            Value::Function(function) => Some(Entity::Function(FunctionRef { file, function: *function })),
            Value::Import(import) => {
                let meaning = self.modules.imported(file, module.import(*import), self.library);
                self.meaning(meaning, "", depth, joins)
            }
            Value::Free(name) => {
                let name = module.names.text(*name);
                self.meaning(self.modules.free(file, name, self.library), name, depth, joins)
            }
            Value::Attribute { base, name, .. } => {
                let base = self.resolve(file, *base, depth + 1, joins)?;
                self.member(&base, module.names.text(*name), depth, joins)
            }
            Value::Item { base, .. } => self.resolve(file, *base, depth + 1, joins),
            Value::Phi(_) | Value::Cell(_) => {
                if let Some(known) = joins.get(&(file, value)) {
                    return known.clone();
                }
                joins.insert((file, value), None);
                let found = self.joined(file, value, depth, joins);
                joins.insert((file, value), found.clone());
                found
            }
            // A decorated class or function, as a rule.
            Value::Call(call) => {
                let call = module.call(*call);
                match (call.kind, call.arguments.first()) {
                    (crate::semantic::CallKind::Decorator, Some(argument)) => {
                        self.resolve(file, argument.value, depth + 1, joins)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What one of several values means.
    fn joined(&self, file: FileId, value: ValueId, depth: usize, joins: &mut Joins) -> Option<Entity> {
        let module = self.modules.get(file);
        match &module.value(value).value {
            Value::Phi(operands) => {
                // `try: import a` `except ImportError: import b`: the project's own comes first.
                let mut found =
                    operands.iter().filter_map(|&operand| self.resolve(file, operand, depth + 1, joins));
                let first = found.next()?;
                if matches!(first, Entity::External(_)) {
                    return Some(
                        found.find(|entity| !matches!(entity, Entity::External(_))).unwrap_or(first),
                    );
                }
                Some(first)
            }
            Value::Cell(variable) => module
                .shared_definitions(*variable)
                .find_map(|definition| self.resolve(file, definition.value, depth + 1, joins)),
            _ => None,
        }
    }

    fn member(&self, base: &Entity, name: &str, depth: usize, joins: &mut Joins) -> Option<Entity> {
        match base {
            Entity::External(path) => Some(Entity::External(format!("{path}.{name}"))),
            Entity::Module(target) => {
                if let Target::File(module) = target
                    && let Some(meaning) = self.modules.member(*module, name, self.library, 0)
                {
                    return self.meaning(meaning, name, depth, joins);
                }
                match self.modules.imports().submodule(*target, name) {
                    Target::External => None,
                    submodule => Some(Entity::Module(submodule)),
                }
            }
            Entity::Class(class) => {
                let module = self.modules.get(class.file);
                let exports = &module.scope(module.class(class.class).scope).exports;
                let value = module.names.get(name).and_then(|name| exports.get(&name))?;
                self.resolve(class.file, *value, depth + 1, joins)
            }
            Entity::Function(_) | Entity::Builtin(_) => None,
        }
    }

    fn meaning(&self, meaning: Meaning, name: &str, depth: usize, joins: &mut Joins) -> Option<Entity> {
        match meaning {
            Meaning::Value(file, value) => self.resolve(file, value, depth + 1, joins),
            Meaning::Module(target) => Some(Entity::Module(target)),
            Meaning::External(path) => Some(Entity::External(path)),
            Meaning::Builtin => Some(Entity::Builtin(name.to_owned())),
            Meaning::Unknown => None,
        }
    }
}
