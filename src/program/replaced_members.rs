//! Members of libraries in whose place the project puts something else: `K.update = own_update`.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::object::{Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{StoreKey, ValueId};

impl Facts<'_> {
    /// Whether a value may be such a member, as far as the project names it: what is read there is another thing at another
    /// time.
    #[must_use]
    pub fn may_be_replaced(&self, file: FileId, value: ValueId) -> bool {
        let replaced = self.replaced_members.get_or_init(|| find(self));
        !replaced.is_empty()
            && self.objects(file, value).any(|(_, own)| match own {
                Object::External(member) => replaced.contains(&*self.solution.externals.get(member).path),
                _ => false,
            })
    }
}

/// Those members, by their dotted names.
fn find(facts: &Facts<'_>) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    for file in facts.files() {
        let module = facts.module(file);
        for store in &module.stores {
            let StoreKey::Attribute(name) = store.key else { continue };
            found.extend(facts.objects(file, store.base).filter_map(
                |(_, own): (ObjectId, Object)| match own {
                    Object::External(base) => Some(format!(
                        "{}.{}",
                        facts.solution.externals.get(base).path,
                        module.names.text(name)
                    )),
                    _ => None,
                },
            ));
        }
    }
    found
}
