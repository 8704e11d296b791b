//! Calls by which a layer or a model may make its variables: the first that asks it to compute something.

use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::object::ObjectId;
use crate::api::{Effect, Kind, Role, Symbol};
use crate::project::FileId;
use crate::semantic::{Call, CallId, Module, Passing};

/// The parameters by which layers are told the shape of their inputs when they are made.
const SHAPES: [&str; 4] = ["input_shape", "batch_input_shape", "input_dim", "input_tensor"];

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
            !self.is_asked_before(own, file, id)
                && !self.has_variables(own)
                && self.made_at(own).is_some_and(|(of, made)| {
                    of != file || self.module(of).call(made).statement != call.statement
                })
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
        let call = self.module(file).call(made);
        let begins = |own: &Symbol| match own.role() {
            Role::Class { .. } => {
                own.name() == MODEL && !call.arguments.is_empty()
                    || self.kind(object) == Some(Kind::Layer) && !own.draws_weights()
            }
            // What a function makes, `load_model(path)`, it makes as a whole.
            _ => true,
        };
        // `model.add(Dense(4, input_shape=[3]))`
        let adding = self.calls_of_layers().of(object).iter().filter(|&&(of, id)| {
            let receiver = self.receiver(of, self.module(of).call(id));
            receiver.is_some_and(|own| self.solution.values(of, own).contains(&object))
        });
        self.called_symbols(file, made).any(begins)
            || self.is_told_shape(file, made)
            || adding.into_iter().any(|&(of, id)| self.is_told_shape(of, id))
    }

    /// Whether a call, or one among its arguments, tells the shape of inputs.
    fn is_told_shape(&self, file: FileId, id: CallId) -> bool {
        let module = self.module(file);
        let range = module.call(id).range;
        let tells = |own: &Call| {
            own.arguments.iter().any(|own| match own.passing {
                Passing::Keyword(name) => SHAPES.contains(&module.names.text(name)),
                _ => false,
            })
        };
        // The calls in a call's arguments follow it.
        let following = module.calls.iter().enumerate().skip(id.index());
        let mut within = following.take_while(|(_, own)| own.range.start() < range.end());
        within.any(|(index, own)| {
            let is_input = |own: &Symbol| INPUTS.contains(&own.name());
            tells(own) || self.called_symbols(file, CallId::new(index)).any(is_input)
        })
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
        let start = module.statement(call.statement).range.start();
        let is_before = |own: &Call| {
            if own.scope == call.scope { own.range.end() <= start } else { call.scope != Module::TOP }
        };
        let others = self.calls_of_layers().of(object).iter().filter(|&&own| own.0 == file && own.1 != id);
        others.map(|own| own.1).any(|own| is_before(module.call(own)) && self.asks(object, file, own))
    }

    /// Whether a call that has to do with a layer or a model may ask it for its variables.
    fn asks(&self, object: ObjectId, file: FileId, id: CallId) -> bool {
        let call = self.module(file).call(id);
        let holds = |value| self.solution.values(file, value).contains(&object);
        let makes = || {
            let mut symbols = self.called_symbols(file, id).peekable();
            symbols.peek().is_some() && symbols.all(|own| matches!(own.role(), Role::Class { .. }))
        };
        let needs_none = |own: &Symbol| own.has(Effect::Compiles) || BEFORE.contains(&own.name());
        let is_of_object =
            || self.receiver(file, call).is_some_and(holds) && !self.called_symbols(file, id).any(needs_none);
        holds(call.callee) || is_of_object() || call.arguments.iter().any(|own| holds(own.value)) && !makes()
    }

    fn calls_of_layers(&self) -> &CallsOfLayers {
        self.calls_of_layers.get_or_init(|| CallsOfLayers::new(self))
    }
}

/// The calls of layers and models, by what is called, of which it is a method, or what is given.
#[derive(Debug, Default)]
pub(super) struct CallsOfLayers(FxHashMap<ObjectId, Vec<(FileId, CallId)>>);

impl CallsOfLayers {
    fn new(facts: &Facts<'_>) -> Self {
        let mut found = Self::default();
        for file in facts.files() {
            for (index, call) in facts.module(file).calls.iter().enumerate() {
                let given = call.arguments.iter().map(|own| own.value);
                for value in given.chain(facts.receiver(file, call)).chain([call.callee]) {
                    for &object in facts.solution.values(file, value) {
                        if matches!(facts.kind(object), Some(Kind::Layer | Kind::Model)) {
                            found.0.entry(object).or_default().push((file, CallId::new(index)));
                        }
                    }
                }
            }
        }
        found
    }

    fn of(&self, object: ObjectId) -> &[(FileId, CallId)] {
        self.0.get(&object).map_or(&[], Vec::as_slice)
    }
}
