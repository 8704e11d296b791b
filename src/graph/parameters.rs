//! What the parameters of traced functions are: what calls pass, and what TensorFlow and Keras pass.

use super::nature::Nature;
use super::natures::Reader;
use crate::api::{Effect, Kind, Returns, Symbol};
use crate::program::{CallEdge, Caller, Facts, FunctionRef, Object, Reason};
use crate::project::FileId;
use crate::semantic::{Call, CallId, ParameterKind, Passing, Value};

impl Reader<'_, '_> {
    pub(super) fn parameter(&self, function: FunctionRef, index: u32) -> Nature {
        let module = self.facts.module(function.file);
        let own = module.function(function.function);
        let Some(parameter) = own.parameters.get(index as usize) else { return Nature::UNKNOWN };
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
        let passed = self.facts.incoming(function).iter();
        let passed = passed.map(|edge| self.passed(function, index, edge, tracer.is_some()));
        let passed = passed.fold(Nature::default(), Nature::with);
        if self.is_annotated_as_tensor(function, index) {
            // People write so of lists of tensors, too.
            return if passed.has(Nature::OBJECT) { passed } else { Nature::TENSOR };
        }
        let mut nature = passed;
        if let Some(Reason::OfKeras(file, call)) = traced.map(|traced| traced.reason) {
            nature = nature.with(self.given_by_keras(function, index, (file, call)));
        }
        if nature.is_empty() && traced.is_some() && self.facts.incoming(function).is_empty() {
            return Nature::UNKNOWN;
        }
        nature
    }

    fn is_annotated_as_tensor(&self, function: FunctionRef, index: u32) -> bool {
        let own = self.facts.module(function.file).function(function.function);
        own.parameters[index as usize].annotation.is_some_and(|annotation| {
            self.facts.objects(function.file, annotation).any(|(_, object)| {
                matches!(object, Object::External(_))
                    && self.facts.symbol(object).is_some_and(|symbol| {
                        symbol.is_class() && self.facts.library.kind_of_class(symbol) == Kind::Tensor
                    })
            })
        })
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

    /// The first parameters of what Keras calls are batches; those of a loss or metric belong to one output.
    fn given_by_keras(&self, function: FunctionRef, index: u32, (file, call): (FileId, CallId)) -> Nature {
        let own = self.facts.module(function.file).function(function.function);
        let is_method = own.class.is_some();
        let parameter = &own.parameters[index as usize];
        let first = u32::from(is_method);
        if index == first || !is_method && index < 2 || is_method && index == 2 && parameter.default.is_none()
        {
            let is_compiled = self.facts.called_symbols(file, call).any(|own| own.has(Effect::Compiles));
            if is_compiled { Nature::TENSOR } else { Nature::NEST }
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
        if let Some(partial) = self.partial(file, call, function) {
            return self.passed_by_partial(partial, (file, id), function, index);
        }
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
            let runs = [Effect::Trains, Effect::Evaluates, Effect::Predicts, Effect::Compiles];
            let of_keras = symbols().any(|symbol| runs.iter().any(|&effect| symbol.has(effect)));
            return if of_keras { Nature::default() } else { Nature::UNKNOWN };
        }
        let nature =
            self.argument(file, function, call, index, u32::from(self.binds_self(file, call, function)));
        let is_outside = self.tracing.get(Caller { file, scope: call.scope }).is_none();
        match (is_outside, is_tracer && nature == Nature::ARRAY) {
            (true, true) => Nature::TENSOR,
            (true, false) => nature.as_argument(),
            (false, _) => nature,
        }
    }

    /// The call that bound some of a function's arguments which another calls, or hands to the library:
    /// `dataset.map(functools.partial(parse, size=224))`.
    fn partial(&self, file: FileId, call: &Call, function: FunctionRef) -> Option<(FileId, CallId)> {
        let given = call.arguments.iter().map(|argument| argument.value).chain([call.callee]);
        given.into_iter().find_map(|value| self.facts.partial_of((file, value), function))
    }

    /// What a parameter gets where a partial application is called: what it bound, or what its caller gives.
    fn passed_by_partial(
        &self,
        (file, partial): (FileId, CallId),
        (from, id): (FileId, CallId),
        function: FunctionRef,
        index: u32,
    ) -> Nature {
        let target = self.facts.module(function.file);
        let own = target.function(function.function);
        let name = target.names.text(own.parameters[index as usize].name);
        let module = self.facts.module(file);
        // The function itself is the first argument; a method's receiver is bound with it.
        let mut positions = (if own.class.is_some() && own.statement.is_some() { 0 } else { -1 })..;
        for argument in &module.call(partial).arguments {
            let is_here = match argument.passing {
                Passing::Positional => positions.next() == Some(i64::from(index)),
                Passing::Keyword(own) => module.names.text(own) == name,
                Passing::Spread | Passing::Merge => return Nature::UNKNOWN,
            };
            if is_here {
                return self.of(file, argument.value);
            }
        }
        let traces = |symbol: &Symbol| symbol.has(Effect::Traces);
        if self.facts.called_symbols(from, id).any(traces) { Nature::NEST } else { Nature::UNKNOWN }
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
