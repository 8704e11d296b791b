//! Objects that keep what they are given by name as their attributes: `SimpleNamespace(rank=hvd.rank())`.

use super::super::model::Model;
use super::super::values::Cause;
use crate::api;
use crate::program::{Ancestor, Caller, ClassRef, Facts, Object, ObjectId, Place};
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
    /// The object whose attribute a value is, if it can be no other and the rank decides what one function puts there: its
    /// methods all read the same.
    pub(super) fn made_once(&self, place: Place, base: ValueId) -> Option<ObjectId> {
        let facts = self.facts;
        let (file, value) = place;
        let Value::Attribute { name, .. } = facts.module(file).value(value).value else { return None };
        self.difference(place).filter(|own| own.cause == Cause::Rank)?;
        let mut objects = facts.objects(file, base);
        let (id, object) = objects.next().filter(|_| objects.next().is_none())?;
        let Object::Instance(class, Some(_)) = object else { return None };
        let name = facts.module(file).names.text(name);
        let known = self.guards.kept.borrow().get(&(id, name.into())).copied();
        let is_kept = known.unwrap_or_else(|| {
            let is_kept = self.is_kept(id, class, name, place, base);
            self.guards.kept.borrow_mut().insert((id, name.into()), is_kept);
            is_kept
        });
        is_kept.then_some(id)
    }

    /// Whether all that an attribute of an object may be is stored by one function of its class.
    fn is_kept(&self, id: ObjectId, class: ClassRef, name: &str, place: Place, base: ValueId) -> bool {
        let facts = self.facts;
        let mut stored: Vec<Place> = Vec::new();
        let mut storing: Vec<Caller> = Vec::new();
        let mut files: Vec<FileId> = facts
            .hierarchy
            .order(class)
            .iter()
            .filter_map(|ancestor| match ancestor {
                Ancestor::Project(own) => Some(own.file),
                _ => None,
            })
            .collect();
        files.sort_unstable();
        files.dedup();
        for file in files {
            let module = facts.module(file);
            for store in &module.stores {
                if matches!(store.key, StoreKey::Attribute(own) if module.names.text(own) == name)
                    && facts.objects(file, store.base).any(|(own, _)| own == id)
                {
                    stored.push((file, store.value));
                    storing.push(Caller { file, scope: store.scope });
                }
            }
        }
        storing.dedup();
        let mut values = facts.influence().operands(place).filter(|&from| from != (place.0, base));
        storing.len() == 1 && values.all(|from| stored.contains(&from))
    }
}

/// Whether a call makes an object of the library whose class takes anything by name, and nothing else.
pub(in crate::ranks) fn keeps(facts: &Facts<'_>, file: FileId, id: CallId) -> bool {
    let mut symbols = facts.called_symbols(file, id).peekable();
    symbols.peek().is_some()
        && symbols.all(|symbol| {
            symbol.is_class()
                && matches!(symbol.parameters(), [only] if only.passing() == api::Passing::RestKeywords)
        })
}
