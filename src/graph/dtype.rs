//! The types of the elements of tensors, as far as literals and arguments tell.

use super::Graph;
use crate::api::{Effect, Kind, Role};
use crate::program::{Ancestor, Facts, FunctionRef, Object, Place};
use crate::project::FileId;
use crate::semantic::{BuiltinType, Constant, Container, Element, Operator, Passing, Value, ValueId};

/// What Python's numbers become.
pub(super) const INT: &str = "int32";
pub(super) const FLOAT: &str = "float32";
pub(super) const BOOL: &str = "bool";
pub(super) const STRING: &str = "string";
/// Some type with fractions.
pub(super) const SOME_FLOAT: &str = "float";

/// How many values are looked through.
const DEPTH: u32 = 12;

impl<'a> Graph<'a> {
    /// The type of a value's elements: `int32` for `1` and for `tf.constant(1)`.
    pub(super) fn dtype(&self, file: FileId, value: ValueId) -> Option<&'a str> {
        self.dtype_within(file, value, DEPTH)
    }

    fn dtype_within(&self, file: FileId, id: ValueId, depth: u32) -> Option<&'a str> {
        let depth = depth.checked_sub(1)?;
        let module = self.module(file);
        let all = |values: Vec<ValueId>| {
            let mut dtypes = values.into_iter().map(|value| self.dtype_within(file, value, depth));
            let first = dtypes.next()??;
            dtypes.all(|dtype| dtype == Some(first)).then_some(first)
        };
        match &module.value(id).value {
            Value::Constant(Constant::Int(_)) | Value::Instance(BuiltinType::Int) => Some(INT),
            Value::Constant(Constant::Bool(_)) | Value::Instance(BuiltinType::Bool) => Some(BOOL),
            Value::Constant(Constant::Str(_)) | Value::Instance(BuiltinType::Str) => Some(STRING),
            Value::Instance(BuiltinType::Float) => Some(FLOAT),
            Value::Phi(values) => all(values.iter().copied().filter(|&value| value != id).collect()),
            Value::Cell(variable) => {
                all(module.shared_definitions(*variable).map(|definition| definition.value).collect())
            }
            Value::Operator { operator, left, right } => match operator {
                Operator::Compare(_) | Operator::Not => Some(BOOL),
                Operator::Unary(_) => self.dtype_within(file, *left, depth),
                Operator::Binary(_) | Operator::InPlace(_) => {
                    let (a, b) =
                        (self.dtype_within(file, *left, depth), self.dtype_within(file, *right, depth));
                    let is_tensor = |value| self.nature(file, value).is_tensor();
                    let (a, b) = match (a, b) {
                        (Some(a), Some(b)) => (a, b),
                        // Tensors of one operation have one type.
                        (Some(one), None) | (None, Some(one)) if is_tensor(*left) && is_tensor(*right) => {
                            return Some(one);
                        }
                        _ => return None,
                    };
                    if a == b {
                        return Some(a);
                    }
                    let plain = |value| self.nature(file, value).is_plain();
                    match (plain(*left), plain(*right)) {
                        (true, true) if [a, b].contains(&FLOAT) => Some(FLOAT),
                        (false, true) => Some(a),
                        (true, false) => Some(b),
                        _ => None,
                    }
                }
            },
            Value::Item { base, .. } | Value::Iteration(base) | Value::Slice { base, .. }
                if self.nature(file, *base).is_tensor() =>
            {
                self.dtype_within(file, *base, depth)
            }
            Value::Iteration(base) => self.dtype_of_elements((file, *base), None, depth),
            Value::Unpack { base, index: Some(index), starred: false } => match module.value(*base).value {
                Value::Iteration(iterated) => self.dtype_of_elements((file, iterated), Some(*index), depth),
                _ => None,
            },
            Value::Display(Container::List | Container::Tuple, elements) => {
                let values = elements.iter().map(|element| element.written_out());
                all(values.collect::<Option<Vec<_>>>()?)
            }
            Value::Call(call) => self.dtype_of_call(file, *call, depth),
            Value::Parameter(function, index) => {
                self.dtype_of_parameter(FunctionRef { file, function: *function }, *index, depth)
            }
            _ => None,
        }
    }

    fn dtype_of_call(&self, file: FileId, id: crate::semantic::CallId, depth: u32) -> Option<&'a str> {
        let call = self.module(file).call(id);
        let mut losses = self.facts.objects(file, call.callee).peekable();
        if losses.peek().is_some() && losses.all(|(own, _)| self.facts.kind(own) == Some(Kind::Loss)) {
            return Some(FLOAT);
        }
        let mut symbols = self.facts.called_symbols(file, id);
        let symbol = symbols.next()?;
        if symbols.next().is_some() {
            return None;
        }
        if symbol.has(Effect::KeepsType) {
            return self.dtype_within(file, call.arguments.first()?.value, depth);
        }
        symbol.parameter("dtype")?;
        if let Some(argument) = self.facts.argument(file, call, symbol, "dtype") {
            return self.named_dtype(file, argument.value);
        }
        if let Some(value) = self.facts.argument(file, call, symbol, "value") {
            return self.dtype_within(file, value.value, depth);
        }
        (symbol.position_of("shape") == Some(0)).then_some(FLOAT)
    }

    /// The type of what a dataset of given data has, or of a part of it: `for x, y in from_tensor_slices((xs, ys))`.
    fn dtype_of_elements(&self, (file, value): Place, part: Option<u32>, depth: u32) -> Option<&'a str> {
        let depth = depth.checked_sub(1)?;
        let mut datasets = self.facts.of_kind(file, value, Kind::Dataset).into_iter();
        let only = datasets.next().filter(|_| datasets.next().is_none())?;
        let (file, id) = self.facts.made_at(only)?;
        let module = self.module(file);
        let call = module.call(id);
        if !self.facts.called_symbols(file, id).all(|symbol| symbol.has(Effect::KeepsType)) {
            return None;
        }
        if let Some(receiver) = self.facts.receiver(file, call)
            && self.facts.is_dataset(file, receiver)
        {
            return self.dtype_of_elements((file, receiver), part, depth);
        }
        let given = call.arguments.first()?.value;
        match (&module.value(given).value, part) {
            (Value::Display(Container::Tuple, elements), Some(part)) => {
                elements.iter().find_map(|element| match *element {
                    Element::At(at, value) if at == part => self.dtype_within(file, value, depth),
                    _ => None,
                })
            }
            (Value::Display(Container::Tuple, _), None) | (_, Some(_)) => None,
            _ => self.dtype_within(file, given, depth),
        }
    }

    /// Whether a tensor has fractions, of however many bits.
    pub(super) fn has_fractions(&self, file: FileId, value: ValueId) -> bool {
        self.has_fractions_within(file, value, DEPTH)
    }

    fn has_fractions_within(&self, file: FileId, id: ValueId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if let Some(known) = self.dtype_within(file, id, depth) {
            return known.starts_with("float");
        }
        let module = self.module(file);
        let has = |value: ValueId| self.has_fractions_within(file, value, depth);
        match &module.value(id).value {
            Value::Phi(values) => values.iter().all(|&value| value == id || has(value)),
            Value::Operator { operator: Operator::Binary(_) | Operator::InPlace(_), left, right } => {
                let is_tensor = |value| self.nature(file, value).is_tensor();
                is_tensor(*left) && has(*left) || is_tensor(*right) && has(*right)
            }
            Value::Call(call) => {
                let own = module.call(*call);
                let mut called = self.facts.objects(file, own.callee).peekable();
                let is_network = |(id, _)| matches!(self.facts.kind(id), Some(Kind::Model | Kind::Loss));
                if called.peek().is_some() && called.all(is_network) {
                    return true;
                }
                let mut symbols = self.facts.called_symbols(file, *call).peekable();
                symbols.peek().is_some()
                    && symbols.all(|symbol| {
                        symbol.has(Effect::GivesFractions)
                            || symbol.has(Effect::KeepsType)
                                && own.arguments.first().is_some_and(|argument| has(argument.value))
                    })
            }
            _ => false,
        }
    }

    /// The type that an expression such as `tf.float32` names.
    fn named_dtype(&self, file: FileId, value: ValueId) -> Option<&'a str> {
        self.facts.objects(file, value).find_map(|(_, object)| match object {
            Object::External(_) => {
                let symbol = self.facts.symbol(object)?;
                (*symbol.role() == Role::Attribute).then(|| symbol.last_name())
            }
            _ => None,
        })
    }

    fn dtype_of_parameter(&self, function: FunctionRef, index: u32, depth: u32) -> Option<&'a str> {
        let own = self.module(function.file).function(function.function);
        let skipped = u32::from(own.class.is_some() && own.statement.is_some());
        let mut found = None;
        for edge in self.facts.incoming(function) {
            if Facts::is_call_back(edge) {
                if self.facts.is_decorator(edge.caller.file, edge.call?) {
                    continue;
                }
                return None;
            }
            let call = self.module(edge.caller.file).call(edge.call?);
            let position = index.checked_sub(skipped)? as usize;
            let positional =
                call.arguments.iter().take_while(|argument| argument.passing == Passing::Positional);
            let argument = positional.clone().nth(position)?;
            let own = self.dtype_within(edge.caller.file, argument.value, depth)?;
            if found.is_some_and(|found| found != own) {
                return None;
            }
            found = Some(own);
        }
        found
    }

    /// Whether a value is a callable or another object that no operation can choose.
    pub(super) fn is_object(&self, file: FileId, value: ValueId) -> bool {
        let objects = self.facts.solution.values(file, value);
        !objects.is_empty()
            && objects.iter().all(|&id| match self.facts.solution.object(id) {
                Object::Function(_) | Object::Class(_) | Object::Builtin(_) => true,
                // A library's base class may make tensors of its instances, as `tf.experimental.ExtensionType` does.
                Object::Instance(class, _) => {
                    let mut order = self.facts.hierarchy.order(class).iter();
                    order.all(|ancestor| matches!(ancestor, Ancestor::Project(_) | Ancestor::Builtin(_)))
                }
                object @ Object::External(_) => {
                    self.facts.symbol(object).is_some_and(|symbol| *symbol.role() == Role::Function)
                }
                Object::Created(..) => matches!(
                    self.facts.kind(id),
                    Some(Kind::Layer | Kind::Model | Kind::Optimizer | Kind::Metric | Kind::Loss)
                ),
                _ => false,
            })
    }
}
