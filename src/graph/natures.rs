//! What values are while code is traced: tensors, Python values, or not known.
//!
//! Value flow knows what libraries make; here operators, items and calls of a traced function are added, so that
//! `x * 2 > y` is a tensor if `x` is one. The answers grow until they stop: a value is what any way to it makes it.

use std::cell::RefCell;

use rustc_hash::FxHashSet;

use super::nature::Nature;
use super::news::News;
use crate::api::{Calls, Effect, Kind, Returns, Role, Symbol};
use crate::program::{Facts, FunctionRef, Object, ObjectId, Place, Tracing};
use crate::project::FileId;
use crate::semantic::{
    BuiltinType, Call, CallId, Constant, Container, Element, Method, Operator, Value, ValueId,
};

/// What the values of the files are.
#[derive(Debug)]
pub struct Natures {
    /// By file, by value; nothing for files that do not concern training.
    files: Vec<Vec<Nature>>,
}

/// Whether tensors have an attribute, and structures of them have none: `batch.shape`.
pub(super) fn is_of_tensors(facts: &Facts<'_>, name: &str) -> bool {
    let tensor = facts.library.lookup(TENSOR);
    tensor.is_some_and(|tensor| facts.library.member(tensor, name).is_some())
}

/// The class of tensors.
const TENSOR: &str = "tensorflow.Tensor";

/// More rounds than any chain of calls in a program is long; what has not settled by then is as known as it is.
const ROUNDS: usize = 12;

impl Natures {
    /// Finds the natures. The values at `merged` become tensors where a staged branch or loop puts them together.
    #[must_use]
    pub fn new(facts: &Facts<'_>, tracing: &Tracing, merged: &FxHashSet<Place>) -> Self {
        let count = |file: FileId| {
            if facts.concerned.contains(&file) { facts.module(file).values.len() } else { 0 }
        };
        let counts: Vec<usize> = facts.modules.files().map(count).collect();
        let mut natures =
            Self { files: counts.iter().map(|&count| vec![Nature::default(); count]).collect() };
        let mut news = News::of_all(&counts);
        for _ in 0..ROUNDS {
            for file in facts.files() {
                for index in 0..facts.module(file).values.len() {
                    let place @ (_, value) = (file, ValueId::new(index));
                    if !news.take(place) {
                        continue;
                    }
                    let reader = Reader { facts, tracing, natures: &natures, read: RefCell::default() };
                    let mut next = reader.read(file, value);
                    for read in reader.read.into_inner() {
                        news.tell(read, place);
                    }
                    if !tracing.is_of_graph(facts, file, facts.module(file).value(value).scope) {
                        next = next.outside();
                    }
                    let is_merged = merged.contains(&place);
                    if is_merged && next.is_within(Nature::PLAIN.with(Nature::ONE_TENSOR)) {
                        next = Nature::TENSOR;
                    }
                    let own = &mut natures.files[file.index()][index];
                    let joined = if is_merged && next == Nature::TENSOR { next } else { own.with(next) };
                    if std::mem::replace(own, joined) != joined {
                        news.changed(place);
                    }
                }
            }
            if news.is_empty() {
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

/// Reads what values are from what others are known to be.
pub(super) struct Reader<'r, 'a> {
    pub(super) facts: &'r Facts<'a>,
    pub(super) tracing: &'r Tracing,
    natures: &'r Natures,
    /// What it has asked for.
    read: RefCell<Vec<Place>>,
}

impl Reader<'_, '_> {
    pub(super) fn of(&self, file: FileId, value: ValueId) -> Nature {
        self.read.borrow_mut().push((file, value));
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
            Value::Attribute { base, name, narrowed } => match narrowed {
                Some(narrowed) => self.of(file, *narrowed),
                None => match self.of(file, *base) {
                    // It is not known yet; what is said too early stays.
                    of if of.is_empty() => Nature::default(),
                    of if of.is_tensor() => Nature::OBJECT,
                    of if of.is_of_tensors() && is_of_tensors(self.facts, module.names.text(*name)) => {
                        Nature::OBJECT
                    }
                    _ => self.objects(file, id),
                },
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
            Value::Enter(_)
            | Value::Leave(_)
            | Value::Await(_)
            | Value::Caught(_)
            | Value::Free(_)
            | Value::Import(_) => self.objects(file, id),
        }
    }

    /// What value flow knows.
    pub(super) fn objects(&self, file: FileId, value: ValueId) -> Nature {
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
                    Some(Kind::Tensor) => self.made(id),
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

    /// What a tensor is that value flow knows: where it does not tell the places apart that make it, it may be either.
    fn made(&self, tensor: ObjectId) -> Nature {
        let Some((file, call)) = self.facts.made_at(tensor) else {
            return Nature::TENSOR.with(Nature::EAGER);
        };
        let scope = self.facts.module(file).call(call).scope;
        if self.tracing.is_of_graph(self.facts, file, scope) { Nature::TENSOR } else { Nature::EAGER }
    }

    fn part(&self, file: FileId, base: ValueId, own: ValueId) -> Nature {
        let of = self.of(file, base);
        if of.is_empty() {
            Nature::default()
        } else if of.is_tensor() {
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
        let part = self.part(file, base, own);
        // Of a dictionary of tensors come its keys.
        if part == Nature::NEST { part.with(Nature::PLAIN) } else { part }
    }

    fn operator(&self, file: FileId, operator: Operator, left: ValueId, right: ValueId) -> Nature {
        let (a, b) = (self.of(file, left), self.of(file, right));
        let tensors = Nature::TENSORS;
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
        let call = self.facts.module(file).call(id);
        if edges.is_empty() {
            return self.objects(file, call.result);
        }
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
    pub(super) fn passes_result(&self, file: FileId, id: CallId, function: FunctionRef) -> bool {
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
        if arguments.clone().any(|argument| self.of(file, argument.value).is_empty()) {
            return Nature::default();
        }
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
}
