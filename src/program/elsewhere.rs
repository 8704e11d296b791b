//! Loops that something else distributes than they show: a `tf.distribute` strategy in whose scope the model is made,
//! or methods that the program puts in the place of the model's own.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::loops::TrainingLoop;
use super::object::{Literal, Object, ObjectId};
use super::solver::CallEdge;
use crate::api::{Kind, Role};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// What replaces attributes by names that are values.
const BY_NAME: &str = "builtins.setattr";

impl Facts<'_> {
    /// Whether something else may see to it that the ranks of a loop stay equal.
    #[must_use]
    pub fn is_distributed_elsewhere(&self, own: &TrainingLoop) -> bool {
        self.is_of_strategy(own) || own.models.iter().any(|model| self.changed_by_name().contains(model))
    }

    /// Whether the models of a loop are made under `with strategy.scope():`.
    fn is_of_strategy(&self, own: &TrainingLoop) -> bool {
        let mut made = own.models.iter().filter_map(|&model| self.made_at(model)).peekable();
        made.peek().is_some() && made.all(|(file, call)| self.is_made_for_strategy(file, call))
    }

    fn is_made_for_strategy(&self, file: FileId, call: CallId) -> bool {
        let module = self.module(file);
        let of_strategy = |manager: ValueId| match module.value(manager).value {
            Value::Call(scope) => {
                let receiver = self.receiver(file, module.call(scope));
                receiver.is_some_and(|receiver| self.may_be(file, receiver, Kind::Strategy))
            }
            _ => false,
        };
        module.managers_around(module.call(call).statement).any(of_strategy)
    }

    /// The objects whose methods are replaced by name: `setattr(model, method.__name__, own)`. Found once, when it is
    /// first asked for.
    fn changed_by_name(&self) -> &FxHashSet<ObjectId> {
        self.changed_by_name.get_or_init(|| {
            let setattr = self.library.lookup(BY_NAME);
            let is_setattr = |edge: &&CallEdge| {
                let callee = self.solution.object(edge.callee);
                matches!(callee, Object::Builtin(_)) && self.symbol(callee) == setattr
            };
            let mut found = FxHashSet::default();
            for edge in self.solution.edges.iter().filter(is_setattr) {
                let file = edge.caller.file;
                let Some(call) = edge.call.map(|call| self.module(file).call(call)) else { continue };
                let [base, name, _] = &call.arguments[..] else { continue };
                let replaces = |object: Object| {
                    self.objects(file, name.value).any(|(_, name)| match name {
                        Object::Literal(Literal::Str(name)) => {
                            self.has_method(object, self.solution.names.text(name))
                        }
                        _ => true,
                    })
                };
                found.extend(
                    self.objects(file, base.value).filter(|&(_, own)| replaces(own)).map(|(id, _)| id),
                );
            }
            found
        })
    }

    /// Whether a library gives an object a method.
    fn has_method(&self, object: Object, name: &str) -> bool {
        let method = self.symbol(object).and_then(|class| self.library.member(class, name));
        method.is_some_and(|method| *method.role() == Role::Method)
    }
}
