//! Callbacks that one rank alone gives to `fit`: `if hvd.rank() == 0: callbacks.append(board)`.

use rustc_hash::FxHashSet;

use super::super::model::Model;
use super::{Given, fits};
use crate::program::{Ancestor, ClassRef, Object};
use crate::project::FileId;
use crate::semantic::CallId;

/// The classes of the project whose objects, and those of classes that inherit from them, one rank alone gives to `fit`, each of
/// them: their hooks run on no other.
pub(in crate::ranks) fn of_one_rank(model: &Model<'_>) -> FxHashSet<ClassRef> {
    let facts = model.facts;
    let all = fits(model);
    let (alone, others): (Vec<&Given>, Vec<&Given>) =
        all.iter().flat_map(|(_, callbacks)| callbacks).partition(|own| own.guard.is_one());
    if alone.is_empty() {
        return FxHashSet::default();
    }
    let alone: FxHashSet<(FileId, CallId)> = alone.into_iter().map(|own| own.at).collect();
    let is_alone = |at| alone.contains(&at) && others.iter().all(|own| own.at != at);
    let instances = || {
        let own = facts.solution.objects().filter_map(|(id, object)| match object {
            Object::Instance(class, _) => Some((class, facts.made_at(id).is_some_and(is_alone))),
            _ => None,
        });
        own.flat_map(|(class, is_alone)| {
            let classes = facts.hierarchy.order(class).iter().filter_map(|ancestor| match *ancestor {
                Ancestor::Project(own) => Some(own),
                _ => None,
            });
            classes.map(move |own| (own, is_alone))
        })
    };
    let mut found: FxHashSet<ClassRef> =
        instances().filter(|&(_, is_alone)| is_alone).map(|(class, _)| class).collect();
    for (class, _) in instances().filter(|&(_, is_alone)| !is_alone) {
        found.remove(&class);
    }
    found
}
