//! What a `tf.distribute` strategy shares out: a loop whose model is made in its scope averages gradients by itself.

use super::facts::Facts;
use super::loops::TrainingLoop;
use crate::api::Kind;
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

impl Facts<'_> {
    /// Whether the models of a loop are made under `with strategy.scope():`.
    #[must_use]
    pub fn is_of_strategy(&self, own: &TrainingLoop) -> bool {
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
}
