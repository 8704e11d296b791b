//! Objects that keep what they are given by name as their attributes: `SimpleNamespace(rank=hvd.rank())`.

use super::super::model::Model;
use super::super::values::Cause;
use super::{ByName, Known};
use crate::api::Symbol;
use crate::program::{Ancestor, Caller, Facts, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{CallId, NameId, Passing, StoreKey, Value, ValueId};

/// What an attribute of a value may be that its objects were given.
pub(in crate::ranks) fn kept(facts: &Facts<'_>, file: FileId, base: ValueId, name: NameId) -> Vec<Place> {
    let name = facts.module(file).names.text(name);
    let made = facts.objects(file, base).filter_map(|(object, _)| facts.made_at(object));
    let keeping = made.filter(|&(file, id)| keeps(facts, file, id));
    let given = keeping.filter_map(|(file, id)| {
        let module = facts.module(file);
        let is_it = |passing| matches!(passing, Passing::Keyword(own) if module.names.text(own) == name);
        let mut arguments = module.call(id).arguments.iter();
        arguments.find(|own| is_it(own.passing)).map(|own| (file, own.value))
    });
    given.collect()
}

impl Model<'_> {
    /// The function that alone stores what an attribute may be, if the rank decides what it puts there: all methods read the
    /// same then, `self.is_first`.
    pub(super) fn kept_by(&self, place: Place, base: ValueId) -> Option<Caller> {
        let facts = self.facts;
        let Value::Attribute { name, .. } = facts.module(place.0).value(place.1).value else { return None };
        self.difference(place).filter(|own| own.cause == Cause::Rank)?;
        let mut objects: Vec<ObjectId> = Vec::new();
        let mut files: Vec<FileId> = Vec::new();
        for (id, object) in facts.objects(place.0, base) {
            let Object::Instance(class, Some(_)) = object else { return None };
            objects.push(id);
            files.extend(facts.hierarchy.order(class).iter().filter_map(|ancestor| match ancestor {
                Ancestor::Project(own) => Some(own.file),
                _ => None,
            }));
        }
        files.sort_unstable();
        files.dedup();
        let name = facts.module(place.0).names.text(name);
        let stores = files.into_iter().flat_map(|file| {
            let stores = self.guards.stores(facts, file, name);
            stores.into_iter().map(move |store| (file, store))
        });
        let mut stored: Vec<Place> = Vec::new();
        let mut storing: Option<Caller> = None;
        for (file, index) in stores {
            let store = &facts.module(file).stores[index as usize];
            if facts.objects(file, store.base).any(|(own, _)| objects.contains(&own)) {
                let caller = Caller { file, scope: store.scope };
                if storing.is_some_and(|known| known != caller) {
                    return None;
                }
                storing = Some(caller);
                stored.push((file, store.value));
            }
        }
        let mut values = facts.influence().operands(place).filter(|&from| from != (place.0, base));
        storing.filter(|_| values.all(|from| stored.contains(&from)))
    }
}

impl Known {
    /// The stores of a file to attributes of this name.
    fn stores(&self, facts: &Facts<'_>, file: FileId, name: &str) -> Vec<u32> {
        let mut known = self.stores.borrow_mut();
        let own = known.entry(file).or_insert_with(|| {
            let module = facts.module(file);
            let mut by_name = ByName::default();
            for (index, store) in (0..).zip(&module.stores) {
                if let StoreKey::Attribute(own) = store.key {
                    by_name.entry(module.names.text(own).into()).or_default().push(index);
                }
            }
            by_name
        });
        own.get(name).cloned().unwrap_or_default()
    }
}

/// Whether a call makes an object of the library whose class takes anything by name, and nothing else.
pub(in crate::ranks) fn keeps(facts: &Facts<'_>, file: FileId, id: CallId) -> bool {
    let mut symbols = facts.called_symbols(file, id).peekable();
    symbols.peek().is_some() && symbols.all(Symbol::is_namespace)
}
