//! What the parameters of traced functions are: what calls pass, and what TensorFlow and Keras pass.

use super::nature::{Nature, Reader};
use crate::api::{Effect, Kind, Returns};
use crate::program::{CallEdge, Caller, Facts, FunctionRef, Object, Reason};
use crate::project::FileId;
use crate::semantic::{Call, CallId, ParameterKind, Passing, Value};

impl Reader<'_, '_> {
    pub(super) fn parameter(&self, function: FunctionRef, index: u32) -> Nature {
        let module = self.facts.module(function.file);
        let own = module.function(function.function);
        let Some(parameter) = own.parameters.get(index as usize) else { return Nature::UNKNOWN };
        let annotated = parameter.annotation.is_some_and(|annotation| {
            self.facts.objects(function.file, annotation).any(|(_, object)| {
                matches!(object, Object::External(_))
                    && self.facts.symbol(object).is_some_and(|symbol| {
                        symbol.is_class() && self.facts.library.kind_of_class(symbol) == Kind::Tensor
                    })
            })
        });
        if annotated {
            return Nature::TENSOR;
        }
        if matches!(parameter.kind, ParameterKind::Variadic | ParameterKind::Keywords) {
            return Nature::OBJECT;
        }
        if own.class.is_some() && index == 0 && own.statement.is_some() {
            return self.objects(function.file, parameter.value);
        }
        let scope = self.facts.code_of(function);
        let traced = self.tracing.get(scope);
        let tracer = traced.and_then(|traced| match traced.reason {
            Reason::Given(file, call) => Some((file, call)),
            _ => None,
        });
        if let Some((file, call)) = tracer
            && self.has_signature(file, call)
        {
            return Nature::NEST;
        }
        let mut nature = Nature::default();
        if matches!(traced.map(|traced| traced.reason), Some(Reason::OfKeras(..))) {
            nature = nature.with(self.given_by_keras(function, index));
        }
        for edge in self.facts.incoming(function) {
            nature = nature.with(self.passed(function, index, edge, tracer.is_some()));
        }
        if nature.is_empty() && traced.is_some() && self.facts.incoming(function).is_empty() {
            return Nature::UNKNOWN;
        }
        nature
    }

    /// Whether `tf.function` is told the types of its arguments, so that all are tensors.
    fn has_signature(&self, file: FileId, call: CallId) -> bool {
        let module = self.facts.module(file);
        let has = |call: CallId| {
            self.facts.called_symbols(file, call).any(|symbol| {
                let argument = self.facts.argument(file, module.call(call), symbol, "input_signature");
                argument.is_some_and(|argument| !self.of(file, argument.value).is_none())
            })
        };
        has(call) || matches!(module.value(module.call(call).callee).value, Value::Call(made) if has(made))
    }

    /// The first parameters of what Keras calls are batches.
    fn given_by_keras(&self, function: FunctionRef, index: u32) -> Nature {
        let own = self.facts.module(function.file).function(function.function);
        let is_method = own.class.is_some();
        let parameter = &own.parameters[index as usize];
        let first = u32::from(is_method);
        if index == first || !is_method && index < 2 || is_method && index == 2 && parameter.default.is_none()
        {
            Nature::NEST
        } else {
            Nature::UNKNOWN
        }
    }

    /// What a call passes for a parameter.
    fn passed(&self, function: FunctionRef, index: u32, edge: &CallEdge, is_tracer: bool) -> Nature {
        let file = edge.caller.file;
        let Some(id) = edge.call else { return Nature::UNKNOWN };
        let module = self.facts.module(file);
        let call = module.call(id);
        if Facts::is_call_back(edge) {
            let symbols = || self.facts.called_symbols(file, id);
            if self.facts.is_decorator(file, id)
                || symbols().any(|symbol| matches!(symbol.returns(), Returns::Wrapped(_)))
            {
                // It is only wrapped here.
                return Nature::default();
            }
            if symbols().any(|symbol| symbol.has(Effect::Traces)) {
                return Nature::NEST;
            }
            if self.passes_result(file, id, function) {
                return self.argument(file, function, call, index, 1);
            }
            // What Keras passes on is said by the reason.
            let runs = [Effect::Trains, Effect::Evaluates, Effect::Predicts];
            let of_keras = symbols().any(|symbol| runs.iter().any(|&effect| symbol.has(effect)));
            return if of_keras { Nature::default() } else { Nature::UNKNOWN };
        }
        let nature =
            self.argument(file, function, call, index, u32::from(self.binds_self(file, call, function)));
        let is_outside = self.tracing.get(Caller { file, scope: call.scope }).is_none();
        if is_tracer && is_outside && nature == Nature::ARRAY { Nature::TENSOR } else { nature }
    }

    /// Whether a call passes the receiver on its own.
    fn binds_self(&self, file: FileId, call: &Call, function: FunctionRef) -> bool {
        let own = self.facts.module(function.file).function(function.function);
        own.class.is_some()
            && own.statement.is_some()
            && self
                .facts
                .objects(file, call.callee)
                .all(|(_, object)| !matches!(object, Object::Function(own) if own == function))
    }

    fn argument(&self, file: FileId, function: FunctionRef, call: &Call, index: u32, skipped: u32) -> Nature {
        let target = self.facts.module(function.file);
        let parameter = &target.function(function.function).parameters[index as usize];
        let name = target.names.text(parameter.name);
        let module = self.facts.module(file);
        let keyword = call.arguments.iter().find(
            |argument| matches!(argument.passing, Passing::Keyword(own) if module.names.text(own) == name),
        );
        if let Some(argument) = keyword {
            return self.of(file, argument.value);
        }
        let mut position = skipped;
        for argument in &call.arguments {
            match argument.passing {
                Passing::Positional if position == index => return self.of(file, argument.value),
                Passing::Positional => position += 1,
                Passing::Spread | Passing::Merge => return Nature::UNKNOWN,
                Passing::Keyword(_) => {}
            }
        }
        parameter.default.map_or(Nature::UNKNOWN, |default| self.of(function.file, default))
    }
}
