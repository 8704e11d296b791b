//! Calls by which a layer or a model may make its variables: the first that asks it to compute something.

use super::facts::Facts;
use super::object::ObjectId;
use crate::api::{Effect, Kind, Role, Symbol};
use crate::project::FileId;
use crate::semantic::{Call, CallId, Module, Passing};

/// The parameters by which layers are told the shape of their inputs when they are made.
const SHAPES: [&str; 4] = ["input_shape", "batch_input_shape", "input_dim", "input_tensor"];

/// What the parameters are called by which layers are told how their weights begin.
const INITIALIZER: &str = "initializer";

/// What stands for an input of a model.
const INPUTS: [&str; 2] = ["tensorflow.keras.Input", "tensorflow.keras.layers.InputLayer"];

/// The class of models that are made of their inputs and outputs.
const MODEL: &str = "tensorflow.keras.Model";

/// What is done with a model before it has variables, besides that it is compiled.
const BEFORE: [&str; 2] = ["tensorflow.keras.Sequential.add", "tensorflow.keras.Sequential.pop"];

impl Facts<'_> {
    /// Whether a call may be the first that asks a layer or a model to compute, which then makes its variables.
    #[must_use]
    pub(super) fn may_build(&self, file: FileId, id: CallId) -> bool {
        let call = self.module(file).call(id);
        self.asked_to_compute(file, id).into_iter().any(|own| {
            !self.has_variables(own)
                && self.made_at(own).is_some_and(|(of, made)| {
                    of != file || self.module(of).call(made).statement != call.statement
                })
                && !self.is_asked_before(own, file, id)
        })
    }

    /// The layers and models that a call asks to compute: `layer(x)`, `model.predict(x)`.
    fn asked_to_compute(&self, file: FileId, id: CallId) -> Vec<ObjectId> {
        let call = self.module(file).call(id);
        let has_weights = |own: &ObjectId| matches!(self.kind(*own), Some(Kind::Layer | Kind::Model));
        let asks = |own: &Symbol| [Effect::Predicts, Effect::Evaluates].iter().any(|&effect| own.has(effect));
        let asked = self.receiver(file, call).filter(|_| self.called_symbols(file, id).any(asks));
        let asked = asked.unwrap_or(call.callee);
        self.solution.values(file, asked).iter().copied().filter(has_weights).collect()
    }

    /// Whether a layer or a model has its variables as soon as it is made, or none at all.
    fn has_variables(&self, object: ObjectId) -> bool {
        let Some((file, made)) = self.made_at(object) else { return true };
        let module = self.module(file);
        let call = module.call(made);
        let tells_shape = |own: &Call| {
            own.arguments.iter().any(|own| match own.passing {
                Passing::Keyword(name) => SHAPES.contains(&module.names.text(name)),
                _ => false,
            })
        };
        let is_input = |own: &Symbol| INPUTS.contains(&own.name());
        let is_told = |&id: &CallId| {
            let own = module.call(id);
            tells_shape(own) || self.called_symbols(file, id).any(is_input)
        };
        let is_part = |&id: &CallId| {
            let own = module.call(id);
            call.range.contains_range(own.range)
                || module.calls.iter().any(|around| {
                    around.range != own.range
                        && around.range.contains_range(own.range)
                        && self
                            .receiver(file, around)
                            .is_some_and(|receiver| self.solution.values(file, receiver).contains(&object))
                })
        };
        let begins = |own: &Symbol| match own.role() {
            Role::Class { .. } => {
                own.name() == MODEL && !call.arguments.is_empty()
                    || self.kind(object) == Some(Kind::Layer)
                        && !own.parameters().iter().any(|own| own.name().ends_with(INITIALIZER))
            }
            // What a function makes, `load_model(path)`, it makes as a whole.
            _ => true,
        };
        self.called_symbols(file, made).any(begins)
            || (0..module.calls.len()).map(CallId::new).filter(is_part).any(|own| is_told(&own))
    }

    /// Whether something has asked a layer or a model for its variables before a call; for one in a function, whether
    /// something may have, such as the training.
    fn is_asked_before(&self, object: ObjectId, file: FileId, id: CallId) -> bool {
        let module = self.module(file);
        let call = module.call(id);
        let mut loops = self.programs.iter().flat_map(|program| &program.loops);
        if call.scope != Module::TOP && loops.any(|own| own.models.contains(&object)) {
            return true;
        }
        let holds = |value| self.solution.values(file, value).contains(&object);
        let is_before = |own: &Call| match (own.scope == Module::TOP, call.scope == Module::TOP) {
            (_, false) if own.scope != call.scope => true,
            (true, true) | (false, false) => {
                own.range.end() <= module.statement(call.statement).range.start()
            }
            _ => false,
        };
        let asks = |(index, own): (usize, &Call)| {
            let makes = || {
                let mut symbols = self.called_symbols(file, CallId::new(index)).peekable();
                symbols.peek().is_some() && symbols.all(|own| matches!(own.role(), Role::Class { .. }))
            };
            let needs_none = |own: &Symbol| own.has(Effect::Compiles) || BEFORE.contains(&own.name());
            let is_of_object = || {
                self.receiver(file, own).is_some_and(holds)
                    && !self.called_symbols(file, CallId::new(index)).any(needs_none)
            };
            holds(own.callee)
                || is_of_object()
                || own.arguments.iter().any(|own| holds(own.value)) && !makes()
        };
        let others = module.calls.iter().enumerate().filter(|(index, _)| CallId::new(*index) != id);
        others.filter(|(_, own)| is_before(own)).any(asks)
    }
}
