//! Containers in which an object is lost: they are read with a key that is known only when the program runs.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use crate::program::{Facts, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{Value, ValueId};

/// Why the fixes for an object that is lost are withheld.
pub const LOST: &str = "Which object is used here is not known, so the fixes for it are withheld.";

/// The objects that are read out of containers with an unknown key, where it could be another one.
#[derive(Debug)]
pub struct Containers<'f, 'a> {
    facts: &'f Facts<'a>,
    lost: OnceCell<FxHashSet<ObjectId>>,
}

impl<'f, 'a> Containers<'f, 'a> {
    /// Those of the training programs' files; all their reads of containers are looked at when it is first asked.
    #[must_use]
    pub fn new(facts: &'f Facts<'a>) -> Self {
        Self { facts, lost: OnceCell::new() }
    }

    fn find_lost(&self) -> FxHashSet<ObjectId> {
        let facts = self.facts;
        let mut lost = FxHashSet::default();
        for file in facts.files() {
            let module = facts.module(file);
            let mut read = |container: ValueId, key: ValueId, result: ValueId| {
                let from_container =
                    facts.objects(file, container).any(|(_, object)| matches!(object, Object::Container(..)));
                if from_container && !is_literal(facts, file, key) {
                    lost.extend(
                        facts.objects(file, result).map(|(id, _)| id).filter(|&id| facts.kind(id).is_some()),
                    );
                }
            };
            for (index, evaluation) in module.values.iter().enumerate() {
                if let Value::Item { base, key, .. } = evaluation.value {
                    read(base, key, ValueId::new(index));
                }
            }
            for call in &module.calls {
                if let (Some(receiver), Some(key)) = (facts.receiver(file, call), call.arguments.first()) {
                    read(receiver, key.value, call.result);
                }
            }
        }
        lost
    }

    /// Whether they lose the object.
    #[must_use]
    pub fn lose(&self, object: ObjectId) -> bool {
        self.lost.get_or_init(|| self.find_lost()).contains(&object)
    }
}

/// Whether nobody knows anything of what a value is.
#[must_use]
pub fn is_lost(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    facts.solution.values(file, value).iter().all(|&object| object == ObjectId::UNKNOWN)
}

/// Whether all that a key may be is known.
fn is_literal(facts: &Facts<'_>, file: FileId, key: ValueId) -> bool {
    let mut objects = facts.objects(file, key).peekable();
    objects.peek().is_some() && objects.all(|(_, object)| matches!(object, Object::Literal(_)))
}
