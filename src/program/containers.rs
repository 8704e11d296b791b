//! How containers are read.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::object::{Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{Container, Value, ValueId};

impl Facts<'_> {
    /// The containers that some code of training programs reads with a key that is no constant: nobody knows
    /// where their elements go.
    #[must_use]
    pub fn containers_read_anywhere(&self) -> FxHashSet<ObjectId> {
        let mut found = FxHashSet::default();
        let mut read = |file: FileId, base: ValueId, key: ValueId| {
            if !self.is_unknown(file, key)
                && self.objects(file, key).all(|(_, key)| matches!(key, Object::Literal(_)))
            {
                return;
            }
            let containers =
                self.objects(file, base).filter(|(_, object)| matches!(object, Object::Container(..)));
            found.extend(containers.map(|(id, _)| id));
        };
        for file in self.files() {
            let module = self.module(file);
            for evaluation in &module.values {
                if let Value::Item { base, key, .. } = evaluation.value {
                    read(file, base, key);
                }
            }
            // `backends.get(name)`
            for call in &module.calls {
                if let (Some(base), [key, ..]) = (self.receiver(file, call), &call.arguments[..])
                    && self.objects(file, call.callee).any(|(_, callee)| {
                        matches!(callee, Object::BuiltinMethod(receiver, _)
                        if matches!(self.solution.object(receiver), Object::Container(Container::Dict, _)))
                    })
                {
                    read(file, base, key.value);
                }
            }
        }
        found
    }
}
