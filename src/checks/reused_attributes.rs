//! Attributes that hold a dataset or an optimizer and are given a value of another kind.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::held::{FAMILY, Holds, Reuse, holds};
use crate::finding::{Confidence, Location};
use crate::program::{Caller, Facts, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{Definition, Module, Store, StoreKey};

/// The reused attributes of objects, and the globals of modules that other modules reuse, in source order.
#[must_use]
pub fn reused_attributes(facts: &Facts<'_>) -> Vec<Reuse> {
    let mut groups: BTreeMap<(ObjectId, &str), Vec<(FileId, &Store)>> = BTreeMap::default();
    let bound_to_object = bound_to_object(facts);
    if bound_to_object.is_empty() {
        return Vec::new();
    }
    for file in facts.files() {
        let module = facts.module(file);
        for store in &module.stores {
            let StoreKey::Attribute(name) = store.key else { continue };
            if !bound_to_object.contains(module.names.text(name)) {
                continue;
            }
            for (id, object) in facts.objects(file, store.base) {
                if matches!(object, Object::Instance(..) | Object::Class(_) | Object::Module(_)) {
                    groups.entry((id, module.names.text(name))).or_default().push((file, store));
                }
            }
        }
    }
    // One store into several objects is one offence.
    let mut found: BTreeMap<Location, Reuse> = BTreeMap::default();
    for ((object, name), stores) in groups {
        for reuse in reused_attribute(facts, object, name, &stores) {
            let known = found.entry(reuse.place).or_insert_with(|| reuse.clone());
            known.confidence = known.confidence.max(reuse.confidence);
        }
    }
    found.into_values().collect()
}

/// The names under which an attribute or a module's variable holds a dataset or an optimizer anywhere.
fn bound_to_object<'a>(facts: &Facts<'a>) -> FxHashSet<&'a str> {
    let mut names = FxHashSet::default();
    for file in facts.modules.files().filter(|&file| facts.has_any(file, |kind| FAMILY.has(kind))) {
        let module = facts.module(file);
        let is_object = |value| matches!(holds(facts, file, value), Holds::Object(..));
        for store in module.stores.iter().filter(|store| is_object(store.value)) {
            if let StoreKey::Attribute(name) = store.key {
                names.insert(module.names.text(name));
            }
        }
        let own = module.definitions.iter().filter(|definition| definition.variable.scope == Module::TOP);
        let own = own.filter(|definition| is_object(definition.value));
        names.extend(own.map(|definition| module.variable_name(definition.variable)));
    }
    names
}

fn reused_attribute(
    facts: &Facts<'_>,
    object: ObjectId,
    name: &str,
    stores: &[(FileId, &Store)],
) -> Vec<Reuse> {
    let mut before: Vec<(Bound, &'static str, Confidence)> = Vec::new();
    for &(file, store) in stores {
        if let Holds::Object(kind, confidence) = holds(facts, file, store.value) {
            before.push((Bound::Store(file, store), kind, confidence));
        }
    }
    if let Object::Module(file) = facts.solution.object(object) {
        let module = facts.module(file);
        let own = module.definitions.iter().filter(|definition| {
            definition.scope == Module::TOP
                && definition.variable.scope == Module::TOP
                && module.variable_name(definition.variable) == name
        });
        for definition in own {
            if let Holds::Object(kind, confidence) = holds(facts, file, definition.value) {
                before.push((Bound::Definition(file, definition), kind, confidence));
            }
        }
    }
    if before.is_empty() {
        return Vec::new();
    }
    let others = stores.iter().filter_map(|&(file, store)| {
        let confidence = match holds(facts, file, store.value) {
            Holds::Object(..) => return None,
            Holds::Other => Confidence::Certain,
            Holds::Unknown => Confidence::Possible,
        };
        let earlier = before.iter().filter_map(|&(bound, kind, held)| {
            let order = bound.comes_before(facts, file, store)?;
            Some((confidence.min(held).min(order), Reverse(bound.place(facts)), kind))
        });
        let (confidence, Reverse(bound), before) = earlier.max()?;
        Some(Reuse {
            place: facts.location(file, store.range),
            caller: Caller { file, scope: store.scope },
            name: format!("attribute `{name}`"),
            value: (file, store.value),
            before,
            bound,
            confidence,
            deletion: false,
            read: true,
        })
    });
    others.collect()
}

/// An earlier binding of an attribute.
#[derive(Clone, Copy)]
enum Bound<'a> {
    Store(FileId, &'a Store),
    Definition(FileId, &'a Definition),
}

impl Bound<'_> {
    fn place(self, facts: &Facts<'_>) -> Location {
        match self {
            Self::Store(file, store) => facts.location(file, store.range),
            Self::Definition(file, definition) => facts.location(file, definition.range),
        }
    }

    /// Whether it happens before a store: a module's own binding does, and one in the same scope on the way to
    /// it; what a constructor binds happens before what other methods do, and their order nobody knows.
    fn comes_before(self, facts: &Facts<'_>, file: FileId, other: &Store) -> Option<Confidence> {
        let Self::Store(own, store) = self else { return Some(Confidence::Certain) };
        let module = facts.module(file);
        let caller = Caller { file, scope: other.scope };
        if (own, store.scope) == (file, other.scope) {
            let (from, to) = (module.statement(store.statement), module.statement(other.statement));
            let flow = &module.scope(other.scope).flow;
            let follows = if from.block == to.block {
                from.range.start() < to.range.start()
            } else {
                flow.leads(from.block, to.block)
            };
            return follows.then_some(Confidence::Certain);
        }
        let constructor = Caller { file: own, scope: store.scope };
        if facts.is_constructor(caller) {
            return None;
        }
        let calls_other =
            facts.reached_functions(constructor).any(|(_, function)| facts.code_of(function) == caller);
        let first = facts.is_constructor(constructor) && !calls_other;
        Some(if first { Confidence::Certain } else { Confidence::Possible })
    }
}
