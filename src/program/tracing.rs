//! Which code TensorFlow traces: its Python statements run while a graph is made and not at each call.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::solver::Caller;
use super::travel::code;
use crate::api::Effect;
use crate::semantic::CallId;

impl Facts<'_> {
    /// The scopes whose code is traced: functions given to `tf.function`, as an argument or by decoration, and all
    /// that they call. What `fit` calls back is traced too, unless it was told to run eagerly.
    #[must_use]
    pub fn traced(&self) -> FxHashSet<Caller> {
        let mut work: Vec<Caller> = Vec::new();
        for file in self.files() {
            let calls = &self.module(file).calls;
            for (index, call) in calls.iter().enumerate() {
                if !self.called_symbols(file, CallId::new(index)).any(|symbol| symbol.has(Effect::Traces)) {
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
}
