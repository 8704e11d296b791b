//! Where attributes are read that the body of a class binds.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::hierarchy::Ancestor;
use super::influence::Place;
use super::modules::ClassRef;
use super::object::Object;
use crate::project::FileId;
use crate::semantic::{Value, ValueId};

/// What the bodies of a project's classes bind to names, other than functions and classes.
pub(super) struct ClassAttributes<'a> {
    names: FxHashSet<&'a str>,
}

impl<'a> ClassAttributes<'a> {
    pub(super) fn new(facts: &Facts<'a>) -> Self {
        let mut names = FxHashSet::default();
        for file in facts.files() {
            let module = facts.module(file);
            for class in &module.classes {
                let exports = &module.scope(class.scope).exports;
                let data = exports.iter().filter(|&(_, &value)| is_data(&module.value(value).value));
                names.extend(data.map(|(&name, _)| module.names.text(name)));
            }
        }
        Self { names }
    }

    /// What the reads of attributes in a file may find in the body of a class: what was bound there, and the read.
    pub(super) fn read_in(&self, facts: &Facts<'a>, file: FileId) -> Vec<(Place, Place)> {
        let mut found = Vec::new();
        if self.names.is_empty() {
            return found;
        }
        let module = facts.module(file);
        for (index, evaluation) in module.values.iter().enumerate() {
            let Value::Attribute { base, name, narrowed: None } = evaluation.value else { continue };
            let name = module.names.text(name);
            if !self.names.contains(name) {
                continue;
            }
            let read = (file, ValueId::new(index));
            let classes = facts.objects(file, base).filter_map(|(_, object)| match object {
                Object::Class(class) | Object::Instance(class, _) => Some(class),
                _ => None,
            });
            let mut bound: Vec<Place> = classes.filter_map(|class| bound_in(facts, class, name)).collect();
            bound.sort_unstable();
            bound.dedup();
            found.extend(bound.into_iter().map(|bound| (bound, read)));
        }
        found
    }
}

/// What the first of a class and its ancestors that binds a name binds to it, if it is no function or class.
fn bound_in(facts: &Facts<'_>, class: ClassRef, name: &str) -> Option<Place> {
    facts
        .hierarchy
        .order(class)
        .iter()
        .find_map(|ancestor| {
            let Ancestor::Project(ClassRef { file, class }) = *ancestor else { return None };
            let module = facts.module(file);
            let exports = &module.scope(module.class(class).scope).exports;
            let &value = module.names.get(name).and_then(|name| exports.get(&name))?;
            Some((file, value))
        })
        .filter(|&(file, value)| is_data(&facts.module(file).value(value).value))
}

fn is_data(value: &Value) -> bool {
    !matches!(value, Value::Function(_) | Value::Class(_) | Value::Import(_))
}
