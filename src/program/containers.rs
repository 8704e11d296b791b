//! How containers are read.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::object::{Literal, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{Argument, Container, Element, Passing, Value, ValueId};

impl Facts<'_> {
    /// Whether an argument of a call may bind a parameter that it does not name: `*arguments`, and `**options` unless it
    /// has no entry under the parameter's name.
    #[must_use]
    pub fn may_bind(&self, file: FileId, argument: &Argument, parameter: &str) -> bool {
        match argument.passing {
            Passing::Spread => true,
            Passing::Merge => !self.lacks_entry(file, argument.value, parameter),
            Passing::Positional | Passing::Keyword(_) => false,
        }
    }

    /// Whether a value is nothing but dictionaries whose keys are all known, and none of them is a name.
    fn lacks_entry(&self, file: FileId, value: ValueId, name: &str) -> bool {
        let mut objects = self.objects(file, value).peekable();
        let is_other = |key: &ObjectId| match self.solution.object(*key) {
            Object::Literal(Literal::Str(key)) => self.solution.names.text(key) != name,
            _ => false,
        };
        objects.peek().is_some()
            && objects.all(|(id, object)| {
                matches!(object, Object::Container(Container::Dict, _))
                    && self.solution.under_any_key(id).is_empty()
                    && self.solution.keys(id).iter().all(is_other)
            })
    }

    /// A value's objects, or those that a list, tuple or dictionary has which is written there.
    #[must_use]
    pub fn elements(&self, file: FileId, value: ValueId) -> Vec<ObjectId> {
        match &self.module(file).value(value).value {
            Value::Display(_, elements) => elements
                .iter()
                .flat_map(|element| match *element {
                    Element::At(_, value) | Element::Any(value) | Element::Key(_, value) => {
                        self.solution.values(file, value).to_vec()
                    }
                    _ => Vec::new(),
                })
                .collect(),
            _ => self.solution.values(file, value).to_vec(),
        }
    }

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
