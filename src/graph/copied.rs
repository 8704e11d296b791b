//! What Keras copies on the way to a layer's `call`: the containers of the first argument, and those in them. What is put
//! there is gone when the call returns, traced or not.

use super::Graph;
use crate::api::Kind;
use crate::program::{CallEdge, Facts, FunctionRef, Object, for_bound};
use crate::project::FileId;
use crate::semantic::{Value, ValueId};

/// How many calls a container is followed back through.
const DEPTH: u32 = 4;

/// The place of the argument that is copied, behind the receiver.
const COPIED: usize = 1;

impl Graph<'_> {
    /// Whether traced code has a container by a layer's `call` alone, to which Keras gives a copy.
    pub(super) fn is_copied_by_keras(&self, file: FileId, value: ValueId) -> bool {
        let mut objects = self.facts.objects(file, value).map(|(_, object)| object);
        objects.all(|object| matches!(object, Object::Container(..) | Object::Unknown))
            && self.is_of_copy(file, value, DEPTH)
    }

    fn is_of_copy(&self, file: FileId, value: ValueId, depth: u32) -> bool {
        match self.module(file).value(value).value {
            Value::Item { base, .. } if depth > 0 => self.is_of_copy(file, base, depth - 1),
            Value::Parameter(function, index) => {
                let function = FunctionRef { file, function };
                let mut edges = self.traced_calls(function).peekable();
                edges.peek().is_some()
                    && edges.all(|edge| {
                        if Facts::is_call_back(edge) {
                            return index as usize == COPIED && self.is_call_of_keras(function);
                        }
                        depth > 0 && self.passes_copy(edge, function, index as usize, depth - 1)
                    })
            }
            _ => false,
        }
    }

    /// The calls of a function from which it is traced.
    fn traced_calls(&self, function: FunctionRef) -> impl Iterator<Item = &CallEdge> {
        let edges = self.facts.incoming(function).iter();
        edges.filter(|edge| Facts::is_call_back(edge) || self.is_traced(edge.caller))
    }

    fn passes_copy(&self, edge: &CallEdge, function: FunctionRef, index: usize, depth: u32) -> bool {
        let (file, Some(call)) = (edge.caller.file, edge.call) else { return false };
        let mut passed = None;
        for_bound(self.facts, file, self.module(file).call(call), function, |value, parameter| {
            if parameter == index {
                passed = Some(value);
            }
        });
        passed.is_some_and(|passed| self.is_of_copy(file, passed, depth))
    }

    /// Whether a function is the method that Keras calls for a layer or model that is called.
    fn is_call_of_keras(&self, function: FunctionRef) -> bool {
        let facts = self.facts;
        let own = facts.module(function.file).function(function.function);
        let name = facts.module(function.file).names.text(own.name);
        facts.modules.class_of(function).is_some_and(|class| {
            let base = facts.library_base(class).map(|base| facts.library.kind_of_class(base));
            matches!(base, Some(Kind::Model | Kind::Layer)) && facts.is_called_by_base(class, name)
        })
    }
}
