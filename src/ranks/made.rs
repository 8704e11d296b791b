//! Which ranks have objects of a class at all: what only rank 0 makes, only rank 0 runs the methods of.

use rustc_hash::FxHashMap;

use super::guards::Guard;
use super::model::Model;
use crate::program::{Ancestor, Caller, ClassRef, Facts, FunctionRef, Object};
use crate::project::FileId;
use crate::semantic::CallId;

/// The calls that make the objects of the project's classes, those of derived classes included.
#[derive(Debug, Default)]
pub(super) struct Makers {
    /// `None` where an object may come from elsewhere.
    calls: FxHashMap<ClassRef, Option<Vec<(FileId, CallId)>>>,
}

impl Makers {
    /// Of the classes of some files.
    pub(super) fn new(facts: &Facts<'_>, files: &[FileId]) -> Self {
        let mut calls: FxHashMap<ClassRef, Option<Vec<(FileId, CallId)>>> = FxHashMap::default();
        for (id, object) in facts.solution.objects() {
            // Without a place it stands for the receiver of a method that nobody calls.
            let Object::Instance(class, Some(_)) = object else { continue };
            let made = facts.made_at(id);
            for ancestor in facts.hierarchy.order(class) {
                let &Ancestor::Project(own) = ancestor else { continue };
                if files.binary_search(&own.file).is_err() {
                    continue;
                }
                let known = calls.entry(own).or_insert_with(|| Some(Vec::new()));
                match made {
                    Some(made) => known.iter_mut().for_each(|known| known.push(made)),
                    None => *known = None,
                }
            }
        }
        Self { calls }
    }
}

impl Model<'_> {
    /// The calls that make the receiver of a method; none where it may come from elsewhere.
    pub(super) fn makers_of(&self, function: FunctionRef) -> &[(FileId, CallId)] {
        let own = self.facts.module(function.file).function(function.function);
        // Static methods have no receiver, and who decorates may call at another time.
        let class = own.class.filter(|_| own.decorators.is_empty());
        let makers = class
            .and_then(|class| self.makers.calls.get(&ClassRef { file: function.file, class })?.as_deref());
        makers.unwrap_or_default()
    }

    /// What all places that make the receiver of a method have in common, as far as their scopes are known.
    pub(super) fn made_under(&self, function: FunctionRef) -> Guard {
        // A place in code that nobody is seen to call says what stands around it, unless others say more.
        let (mut joined, mut uncalled): (Option<Guard>, Option<Guard>) = (None, None);
        for &(file, call) in self.makers_of(function) {
            if joined.as_ref().is_some_and(Guard::is_all) {
                break;
            }
            let data = self.facts.module(file).call(call);
            let caller = Caller { file, scope: data.scope };
            if self.unreached.is_block(caller, data.block) {
                continue;
            }
            let own = self.own_guard(caller, data.block);
            let (own, known) = match self.known_guard(caller) {
                Some(around) => (own.and(around), &mut joined),
                None => (own, &mut uncalled),
            };
            *known = Some(known.take().map_or(own.clone(), |other| other.both(&own)));
        }
        joined.or(uncalled).unwrap_or_default()
    }
}
