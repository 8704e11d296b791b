//! Which code TensorFlow traces: its Python statements run while a graph is made and not at each call.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::solver::Caller;
use super::travel::code;
use crate::api::Effect;
use crate::project::FileId;
use crate::semantic::{CallId, Value};

impl Facts<'_> {
    /// The scopes whose code is traced: functions given to `tf.function`, as an argument or by decoration, and all
    /// that they call. What `fit` calls back is traced too, unless it was told to run eagerly.
    #[must_use]
    pub fn traced(&self) -> FxHashSet<Caller> {
        let mut work: Vec<Caller> = Vec::new();
        for file in self.files() {
            let calls = &self.module(file).calls;
            for (index, call) in calls.iter().enumerate() {
                // `@tf.function(reduce_retracing=True)` is a call of what a call gives.
                let makes_it = match self.module(file).value(call.callee).value {
                    Value::Call(made) => self.calls_to_trace(file, made),
                    _ => false,
                };
                if !makes_it && !self.calls_to_trace(file, CallId::new(index)) {
                    continue;
                }
                let given = call.arguments.iter().flat_map(|argument| self.objects(file, argument.value));
                work.extend(
                    given.filter_map(|(_, object)| code(object)).map(|function| self.code_of(function)),
                );
            }
        }
        for caller in self.scopes() {
            let of_fit = self.outgoing(caller).iter().filter(|edge| self.is_step_of_fit(edge));
            let steps = of_fit.filter_map(|edge| code(self.solution.object(edge.callee)));
            work.extend(steps.map(|function| self.code_of(function)));
        }
        let mut traced = FxHashSet::default();
        while let Some(caller) = work.pop() {
            if traced.insert(caller) {
                work.extend(self.reached_functions(caller).map(|(_, function)| self.code_of(function)));
            }
        }
        traced
    }

    fn calls_to_trace(&self, file: FileId, call: CallId) -> bool {
        self.called_symbols(file, call).any(|symbol| symbol.has(Effect::Traces))
    }
}
