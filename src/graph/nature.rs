//! What values are while code is traced: tensors, Python values, or not known.
//!
//! Value flow knows what libraries make; here operators, items and calls of a traced function are added, so that
//! `x * 2 > y` is a tensor if `x` is one. The answers grow until they stop: a value is what any way to it makes it.

use rustc_hash::FxHashSet;

use crate::api::{Calls, Effect, Kind, Returns, Role, Symbol};
use crate::program::{CallEdge, Caller, Facts, FunctionRef, Object, Place, Reason, Tracing};
use crate::project::FileId;
use crate::semantic::{
    BuiltinType, Call, CallId, Constant, Container, Element, Method, Operator, Passing, Value, ValueId,
};

/// A set of what a value may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nature(u8);

impl Nature {
    /// A symbolic tensor.
    pub const TENSOR: Self = Self(1);
    /// A `tf.Variable`.
    pub const VARIABLE: Self = Self(2);
    /// A tensor or a structure of tensors: a batch, what a model returns.
    pub const NEST: Self = Self(4);
    /// A number, a string or a truth value.
    pub const PLAIN: Self = Self(8);
    /// `None`.
    pub const NONE: Self = Self(16);
    /// A `NumPy` array.
    pub const ARRAY: Self = Self(32);
    /// Another Python object: a list, a shape, a model.
    pub const OBJECT: Self = Self(64);
    /// Nobody knows.
    pub const UNKNOWN: Self = Self(128);

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn is_within(self, other: Self) -> bool {
        !self.is_empty() && self.0 & !other.0 == 0
    }

    /// Whether it can only be a tensor or a variable.
    #[must_use]
    pub fn is_tensor(self) -> bool {
        self.is_within(Self::TENSOR.with(Self::VARIABLE))
    }

    /// Whether it can only be a tensor, a variable, or a structure of tensors.
    #[must_use]
    pub fn is_of_tensors(self) -> bool {
        self.is_within(Self::TENSOR.with(Self::VARIABLE).with(Self::NEST))
    }

    /// Whether it can only be a number, a string or a truth value.
    #[must_use]
    pub fn is_plain(self) -> bool {
        self == Self::PLAIN
    }

    /// Whether it can only be `None`.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Whether it may be `None`.
    #[must_use]
    pub fn may_be_none(self) -> bool {
        self.has(Self::NONE)
    }

    /// Whether anything of it is not known.
    #[must_use]
    pub fn is_unknown(self) -> bool {
        self.is_empty() || self.has(Self::UNKNOWN)
    }
}

/// What the values of the files are.
#[derive(Debug)]
pub struct Natures {
    /// By file, by value; nothing for files that do not concern training.
    files: Vec<Vec<Nature>>,
}

/// More rounds than any chain of calls in a program is long; what has not settled by then is as known as it is.
const ROUNDS: usize = 12;

impl Natures {
    /// Finds the natures. The values at `merged` become tensors where a staged branch or loop puts them together.
    #[must_use]
    pub fn new(facts: &Facts<'_>, tracing: &Tracing, merged: &FxHashSet<Place>) -> Self {
        let mut files: Vec<Vec<Nature>> = facts.modules.files().map(|_| Vec::new()).collect();
        for file in facts.files() {
            files[file.index()] = vec![Nature::default(); facts.module(file).values.len()];
        }
        let mut natures = Self { files };
        for _ in 0..ROUNDS {
            let mut changed = false;
            for file in facts.files() {
                for index in 0..facts.module(file).values.len() {
                    let value = ValueId::new(index);
                    let mut next = Reader { facts, tracing, natures: &natures }.read(file, value);
                    if merged.contains(&(file, value))
                        && next.is_within(Nature::PLAIN.with(Nature::TENSOR).with(Nature::VARIABLE))
                    {
                        next = Nature::TENSOR;
                    }
                    let own = &mut natures.files[file.index()][index];
                    let is_merged = merged.contains(&(file, value)) && next == Nature::TENSOR;
                    let joined = if is_merged { next } else { own.with(next) };
                    changed |= joined != *own;
                    *own = joined;
                }
            }
            if !changed {
                break;
            }
        }
        natures
    }

    /// What a value is.
    #[must_use]
    pub fn of(&self, file: FileId, value: ValueId) -> Nature {
        self.files[file.index()].get(value.index()).copied().unwrap_or(Nature::UNKNOWN)
    }
}

struct Reader<'r, 'a> {
    facts: &'r Facts<'a>,
    tracing: &'r Tracing,
    natures: &'r Natures,
}

impl Reader<'_, '_> {
    fn of(&self, file: FileId, value: ValueId) -> Nature {
        self.natures.of(file, value)
    }

    fn read(&self, file: FileId, id: ValueId) -> Nature {
        let module = self.facts.module(file);
        match &module.value(id).value {
            Value::Unknown => Nature::UNKNOWN,
            Value::Unbound => Nature::default(),
            Value::Constant(Constant::None) => Nature::NONE,
            Value::Constant(_) => Nature::PLAIN,
            Value::Instance(builtin) => match builtin {
                BuiltinType::None => Nature::NONE,
                BuiltinType::Bool
                | BuiltinType::Int
                | BuiltinType::Float
                | BuiltinType::Complex
                | BuiltinType::Str
                | BuiltinType::Bytes => Nature::PLAIN,
                _ => Nature::OBJECT,
            },
            Value::Parameter(function, index) => {
                self.parameter(FunctionRef { file, function: *function }, *index)
            }
            Value::Cell(variable) => {
                let definitions = module.shared_definitions(*variable);
                definitions.fold(Nature::default(), |nature, own| nature.with(self.of(file, own.value)))
            }
            Value::Phi(values) => {
                values.iter().fold(Nature::default(), |nature, &value| nature.with(self.of(file, value)))
            }
            Value::Display(..) | Value::Function(_) | Value::Class(_) => Nature::OBJECT,
            Value::Attribute { base, narrowed, .. } => match narrowed {
                Some(narrowed) => self.of(file, *narrowed),
                None if self.of(file, *base).is_tensor() => Nature::OBJECT,
                None => self.objects(file, id),
            },
            Value::Item { base, narrowed, .. } => match narrowed {
                Some(narrowed) => self.of(file, *narrowed),
                None => self.part(file, *base, id),
            },
            Value::Slice { base, .. } => self.part(file, *base, id),
            Value::Unpack { base, index, starred } => match (&module.value(*base).value, index) {
                (Value::Display(Container::Tuple | Container::List, elements), Some(index)) if !starred => {
                    let own = elements.iter().find_map(|element| match element {
                        Element::At(at, value) if at == index => Some(*value),
                        _ => None,
                    });
                    own.map_or(Nature::UNKNOWN, |value| self.of(file, value))
                }
                _ if *starred => Nature::OBJECT,
                _ => self.part(file, *base, id),
            },
            Value::Iteration(base) => self.iteration(file, *base, id),
            Value::Call(call) => self.call(file, *call),
            Value::Operator { operator, left, right } => self.operator(file, *operator, *left, *right),
            Value::Enter(_) | Value::Await(_) | Value::Caught(_) | Value::Free(_) | Value::Import(_) => {
                self.objects(file, id)
            }
        }
    }

    /// What value flow knows.
    fn objects(&self, file: FileId, value: ValueId) -> Nature {
        let objects = self.facts.solution.values(file, value);
        if objects.is_empty() {
            return Nature::UNKNOWN;
        }
        objects.iter().fold(Nature::default(), |nature, &id| {
            let own = match self.facts.solution.object(id) {
                Object::Unknown => Nature::UNKNOWN,
                Object::Literal(crate::program::Literal::None) => Nature::NONE,
                Object::Literal(_) => Nature::PLAIN,
                Object::Type(builtin) => match builtin {
                    BuiltinType::None => Nature::NONE,
                    BuiltinType::Bool | BuiltinType::Int | BuiltinType::Float | BuiltinType::Str => {
                        Nature::PLAIN
                    }
                    _ => Nature::OBJECT,
                },
                object @ Object::Created(..) => match self.facts.kind(id) {
                    Some(Kind::Tensor) => Nature::TENSOR,
                    Some(Kind::Variable) => Nature::VARIABLE,
                    _ => match self.facts.symbol(object) {
                        Some(symbol) if self.facts.is_of_numbers(symbol) => Nature::ARRAY,
                        Some(_) => Nature::OBJECT,
                        None => Nature::UNKNOWN,
                    },
                },
                Object::External(_) => match self.facts.symbol(self.facts.solution.object(id)) {
                    Some(symbol) if *symbol.role() == Role::Attribute => Nature::UNKNOWN,
                    Some(_) => Nature::OBJECT,
                    None => Nature::UNKNOWN,
                },
                _ => Nature::OBJECT,
            };
            nature.with(own)
        })
    }

    fn part(&self, file: FileId, base: ValueId, own: ValueId) -> Nature {
        let of = self.of(file, base);
        if of.is_tensor() {
            Nature::TENSOR
        } else if of.is_of_tensors() {
            Nature::NEST
        } else if of == Nature::ARRAY {
            Nature::ARRAY.with(Nature::PLAIN)
        } else {
            let objects = self.objects(file, own);
            if objects.is_unknown() && of.has(Nature::NEST) { Nature::UNKNOWN } else { objects }
        }
    }

    fn iteration(&self, file: FileId, base: ValueId, own: ValueId) -> Nature {
        if self.facts.is_dataset(file, base) {
            return Nature::NEST;
        }
        let module = self.facts.module(file);
        if let Value::Call(call) = module.value(base).value
            && self.facts.called_builtins(file, call).any(|symbol| symbol.has(Effect::Converts))
        {
            // `range(3)` of Python numbers.
            let arguments = &module.call(call).arguments;
            if !arguments.is_empty()
                && arguments.iter().all(|argument| self.of(file, argument.value) == Nature::PLAIN)
            {
                return Nature::PLAIN;
            }
        }
        self.part(file, base, own)
    }

    fn operator(&self, file: FileId, operator: Operator, left: ValueId, right: ValueId) -> Nature {
        let (a, b) = (self.of(file, left), self.of(file, right));
        let tensors = Nature::TENSOR.with(Nature::VARIABLE).with(Nature::NEST);
        if let Operator::Compare(method) = operator
            && method == Method::CONTAINS
        {
            return Nature::PLAIN;
        }
        if a.is_empty() || b.is_empty() {
            return Nature::default();
        }
        let is_text = |value: ValueId| {
            matches!(
                self.facts.module(file).value(value).value,
                Value::Constant(Constant::Str(_)) | Value::Instance(BuiltinType::Str)
            )
        };
        if is_text(left) {
            return Nature::PLAIN;
        }
        if a.is_within(tensors) || b.is_within(tensors) {
            let other = if a.is_within(tensors) { b } else { a };
            // A list next to a structure is a list.
            return if other == Nature::OBJECT { Nature::UNKNOWN } else { Nature::TENSOR };
        }
        let both = a.with(b);
        if both == Nature::PLAIN {
            return Nature::PLAIN;
        }
        if both.is_within(Nature::PLAIN.with(Nature::ARRAY)) {
            return Nature::ARRAY;
        }
        if both.has(tensors) && !both.has(Nature::UNKNOWN) {
            return Nature::TENSOR.with(Nature::PLAIN);
        }
        Nature::UNKNOWN
    }

    fn call(&self, file: FileId, id: CallId) -> Nature {
        let edges = self.facts.callees(file, id);
        if edges.is_empty() {
            return Nature::UNKNOWN;
        }
        let call = self.facts.module(file).call(id);
        let own_code = edges.iter().any(|edge| {
            Facts::is_call_back(edge)
                && matches!(self.facts.solution.object(edge.callee), Object::Function(_))
        });
        let mut nature = Nature::default();
        for edge in edges {
            nature = nature.with(match self.facts.solution.object(edge.callee) {
                Object::Function(function) => {
                    if Facts::is_call_back(edge) && !self.passes_result(file, id, function) {
                        continue;
                    }
                    self.returned(function)
                }
                object @ Object::External(_) => match self.facts.symbol(object) {
                    Some(_) if own_code && matches!(self.facts.symbol(object), Some(symbol) if symbol.last_name() == "__call__") => {
                        continue;
                    }
                    Some(symbol) => self.of_symbol(file, call, symbol),
                    None => Nature::UNKNOWN,
                },
                Object::Builtin(_) => match self.facts.symbol(self.facts.solution.object(edge.callee)) {
                    Some(symbol) => self.of_builtin(file, call, symbol),
                    None => Nature::UNKNOWN,
                },
                Object::Class(_) => Nature::OBJECT,
                _ => self.objects(file, call.result),
            });
        }
        nature
    }

    /// Whether a library returns what the project's function returns: a layer its `call`.
    fn passes_result(&self, file: FileId, id: CallId, function: FunctionRef) -> bool {
        let module = self.facts.module(function.file);
        let name = module.names.text(module.function(function.function).name);
        self.facts.called_symbols(file, id).any(|symbol| {
            symbol.last_name() == "__call__"
                && matches!(symbol.calls().first(), Some(Calls::Receiver(method)) if method == name)
        })
    }

    fn returned(&self, function: FunctionRef) -> Nature {
        let own = self.facts.module(function.file).function(function.function);
        if own.generator || own.asynchronous {
            return Nature::OBJECT;
        }
        if own.returns.is_empty() {
            return Nature::NONE;
        }
        own.returns
            .iter()
            .fold(Nature::default(), |nature, &value| nature.with(self.of(function.file, value)))
    }

    fn of_symbol(&self, file: FileId, call: &Call, symbol: &Symbol) -> Nature {
        if symbol.has(Effect::TakesGradients) || symbol.has(Effect::ConsumesIterator) {
            return Nature::NEST;
        }
        if self.facts.is_of_numbers(symbol) {
            return Nature::ARRAY.with(Nature::PLAIN);
        }
        let kind = |class: &str| {
            self.facts.library.lookup(class).map(|class| self.facts.library.kind_of_class(class))
        };
        match symbol.returns() {
            Returns::Instance(class) => match kind(class) {
                Some(Kind::Tensor) => Nature::TENSOR,
                Some(Kind::Variable) => Nature::VARIABLE,
                _ => self.objects(file, call.result),
            },
            Returns::Perhaps(class) if kind(class) == Some(Kind::Tensor) => Nature::NEST,
            Returns::Nothing => Nature::NONE,
            Returns::Unknown if symbol.has(Effect::ReadsType) => Nature::PLAIN,
            _ => self.objects(file, call.result),
        }
    }

    fn of_builtin(&self, file: FileId, call: &Call, symbol: &Symbol) -> Nature {
        let mut arguments = call.arguments.iter();
        if symbol.has(Effect::Converts) {
            if symbol.has(Effect::ConsumesIterator)
                && arguments.clone().any(|argument| self.facts.is_dataset(file, argument.value))
            {
                return Nature::NEST;
            }
            if !symbol.has(Effect::ReadsValue)
                && arguments.any(|argument| self.of(file, argument.value).is_tensor())
            {
                return Nature::TENSOR;
            }
        }
        let objects = self.objects(file, call.result);
        if objects.is_unknown()
            && call.arguments.iter().all(|argument| self.of(file, argument.value).is_plain())
        {
            return Nature::PLAIN;
        }
        objects
    }

    // ---- parameters ----

    fn parameter(&self, function: FunctionRef, index: u32) -> Nature {
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
        if matches!(
            parameter.kind,
            crate::semantic::ParameterKind::Variadic | crate::semantic::ParameterKind::Keywords
        ) {
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

impl Facts<'_> {
    /// Whether a symbol is of a library whose functions compute with values, as `NumPy` does.
    #[must_use]
    pub fn is_of_numbers(&self, symbol: &Symbol) -> bool {
        let package = symbol.name().split('.').next().unwrap_or_default();
        self.library.lookup(package).is_some_and(|module| module.has(Effect::ReadsValue))
    }

    /// Python's own functions that a call may call.
    pub fn called_builtins(&self, file: FileId, call: CallId) -> impl Iterator<Item = &Symbol> + '_ {
        self.callees(file, call).iter().filter_map(|edge| match self.solution.object(edge.callee) {
            object @ Object::Builtin(_) => self.symbol(object),
            _ => None,
        })
    }

    /// Whether a value is a dataset or an iterator over one, perhaps numbered by `enumerate`.
    #[must_use]
    pub fn is_dataset(&self, file: FileId, value: ValueId) -> bool {
        if self.may_be(file, value, Kind::Dataset) || self.may_be(file, value, Kind::DatasetIterator) {
            return true;
        }
        match self.module(file).value(value).value {
            Value::Call(call) => {
                let own = self.module(file).call(call);
                self.called_builtins(file, call).any(|symbol| symbol.has(Effect::Converts))
                    && own.arguments.first().is_some_and(|argument| {
                        self.may_be(file, argument.value, Kind::Dataset)
                            || self.may_be(file, argument.value, Kind::DatasetIterator)
                    })
            }
            _ => false,
        }
    }
}
