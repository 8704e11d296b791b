//! Names of each rank's own that an object keeps until they are written: `self.names.append(f'{hvd.rank()}.txt')`. What
//! differs is followed by values; a container that is in an attribute is another value at each place that reads it.

use rustc_hash::FxHashSet;

use super::super::model::Model;
use super::super::values::{Cause, Difference};
use crate::api::Effect;
use crate::program::{Object, ObjectId, Place};
use crate::semantic::{CallId, Constant, StoreKey, Value, ValueId};

/// Of how many values at most what a path is made of is followed back.
const STEPS: usize = 64;

/// The methods of containers that put all that they are given into them.
pub(super) const PUTS: [&str; 5] = ["add", "append", "appendleft", "extend", "insert"];

/// The containers into which the programs put what tells the ranks apart, as an element or as a key.
#[derive(Debug, Default)]
pub(super) struct Kept(FxHashSet<ObjectId>);

impl Kept {
    pub(super) fn new(model: &Model<'_>) -> Self {
        let facts = model.facts;
        let mut found = FxHashSet::default();
        // Or what a library has made of the rank's number: a path that it has joined.
        let is_of_rank = |own: Difference| {
            own.cause == Cause::Rank || facts.gives(own.source, &[Effect::ReadsRank, Effect::ReadsLocalRank])
        };
        let tells = |place: Place| model.difference(place).is_some_and(is_of_rank);
        for &file in &model.files {
            let module = facts.module(file);
            for store in &module.stores {
                // What stands under a key that all ranks have says nothing of the others.
                if let StoreKey::Item(key) = store.key
                    && tells((file, key))
                {
                    let objects = facts.objects(file, store.base);
                    found.extend(objects.filter(|(_, own)| is_container(*own)).map(|(id, _)| id));
                }
            }
            for (index, call) in module.calls.iter().enumerate() {
                if !call.arguments.iter().any(|own| tells((file, own.value))) {
                    continue;
                }
                found.extend(facts.callees(file, CallId::new(index)).iter().filter_map(|edge| {
                    let Object::BuiltinMethod(receiver, name) = facts.solution.object(edge.callee) else {
                        return None;
                    };
                    let puts = PUTS.contains(&facts.solution.names.text(name));
                    (puts && is_container(facts.solution.object(receiver))).then_some(receiver)
                }));
            }
        }
        Self(found)
    }

    /// Whether a path may be made of what such a container in an attribute has.
    pub(super) fn may_give(&self, model: &Model<'_>, path: Place) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let facts = model.facts;
        let mut seen: FxHashSet<Place> = FxHashSet::default();
        let mut work = vec![path];
        while let Some(place) = work.pop() {
            if seen.len() >= STEPS || !seen.insert(place) {
                continue;
            }
            let (file, value) = place;
            let is_text = |key: ValueId| {
                matches!(facts.module(file).value(key).value, Value::Constant(Constant::Str(_)))
            };
            match facts.module(file).value(value).value {
                Value::Attribute { .. } => {
                    if facts.solution.values(file, value).iter().any(|own| self.0.contains(own)) {
                        return true;
                    }
                }
                Value::Item { key, .. } if is_text(key) => {}
                _ => work.extend(facts.influence().operands(place)),
            }
        }
        false
    }
}

fn is_container(object: Object) -> bool {
    matches!(object, Object::Container(..))
}
