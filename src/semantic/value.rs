//! What an expression evaluates to, as far as one module alone can tell.
//!
//! Values are in static single assignment form: a use of a name *is* the value of the definitions that reach
//! it, so a reused name keeps its meanings apart.

use super::id::{CallId, ClassId, FunctionId, ImportId, NameId, ScopeId, ValueId};
use crate::syntax::TextRange;
use crate::syntax::ast::{self, CmpOp};

/// A variable: a name in the scope that owns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable {
    /// The module, function, lambda or class whose variable it is.
    pub scope: ScopeId,
    /// Index into [`super::Scope::symbols`].
    pub symbol: u32,
}

/// A literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Constant {
    /// A string.
    Str(NameId),
    /// An integer that fits.
    Int(i64),
    /// `True` or `False`.
    Bool(bool),
    /// `None`.
    None,
}

/// Built-in types whose instances expressions make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BuiltinType {
    /// `str`
    Str,
    /// `bytes`
    Bytes,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `complex`
    Complex,
    /// `slice`
    Slice,
    /// `type(None)`
    None,
    /// `type(...)`
    Ellipsis,
    /// What `open` returns
    File,
    /// An exception that the interpreter raised
    Exception,
}

/// The displays that make containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Container {
    /// `[...]`
    List,
    /// `(...)`
    Tuple,
    /// `{a, b}`
    Set,
    /// `{k: v}`
    Dict,
    /// `(x for x in y)`, or what calling a generator function gives
    Generator,
}

/// An element of a container display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// The element at a known index of a list or tuple, or of a set.
    At(u32, ValueId),
    /// A value under a key.
    Key(ValueId, ValueId),
    /// `*iterable`, or elements of a comprehension: at an unknown place.
    Any(ValueId),
    /// All that the iterable yields, at unknown places.
    Spread(ValueId),
    /// `**mapping`.
    Merge(ValueId),
}

impl Element {
    /// The element of a list or tuple, or of a set, that is written there by itself.
    #[must_use]
    pub fn written_out(self) -> Option<ValueId> {
        match self {
            Self::At(_, value) => Some(value),
            _ => None,
        }
    }
}

/// The method that a class defines an operator by: an index into the table of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Method(u8);

const METHODS: [&str; 23] = [
    "__add__",
    "__sub__",
    "__mul__",
    "__matmul__",
    "__truediv__",
    "__mod__",
    "__pow__",
    "__lshift__",
    "__rshift__",
    "__or__",
    "__xor__",
    "__and__",
    "__floordiv__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__contains__",
    "__neg__",
    "__pos__",
    "__invert__",
];

impl Method {
    /// The method `@` calls.
    pub const MATMUL: Self = Self::of(ast::Operator::MatMult);
    /// The method `+` calls.
    pub const ADD: Self = Self::of(ast::Operator::Add);

    /// The method `==` calls.
    pub const EQ: Self = Self::of_comparison(CmpOp::Eq).expect("`==` has a method");

    /// The method `!=` calls.
    pub const NE: Self = Self::of_comparison(CmpOp::NotEq).expect("`!=` has a method");

    /// The method `/` calls.
    pub const TRUEDIV: Self = Self::of(ast::Operator::Div);
    /// The method `in` calls, of its right operand.
    pub const CONTAINS: Self = Self::of_comparison(CmpOp::In).expect("`in` has a method");
    /// The method `%` calls.
    pub const MOD: Self = Self::of(ast::Operator::Mod);

    /// A binary operator's method.
    #[must_use]
    pub const fn of(operator: ast::Operator) -> Self {
        Self(match operator {
            ast::Operator::Add => 0,
            ast::Operator::Sub => 1,
            ast::Operator::Mult => 2,
            ast::Operator::MatMult => 3,
            ast::Operator::Div => 4,
            ast::Operator::Mod => 5,
            ast::Operator::Pow => 6,
            ast::Operator::LShift => 7,
            ast::Operator::RShift => 8,
            ast::Operator::BitOr => 9,
            ast::Operator::BitXor => 10,
            ast::Operator::BitAnd => 11,
            ast::Operator::FloorDiv => 12,
        })
    }

    /// A comparison's method; `is` has none. `in` calls its right operand's.
    #[must_use]
    pub const fn of_comparison(operator: CmpOp) -> Option<Self> {
        Some(Self(match operator {
            CmpOp::Eq => 13,
            CmpOp::NotEq => 14,
            CmpOp::Lt => 15,
            CmpOp::LtE => 16,
            CmpOp::Gt => 17,
            CmpOp::GtE => 18,
            CmpOp::In | CmpOp::NotIn => 19,
            CmpOp::Is | CmpOp::IsNot => return None,
        }))
    }

    /// A unary operator's method; `not` has none.
    #[must_use]
    pub const fn of_unary(operator: ast::UnaryOp) -> Option<Self> {
        Some(Self(match operator {
            ast::UnaryOp::USub => 20,
            ast::UnaryOp::UAdd => 21,
            ast::UnaryOp::Invert => 22,
            ast::UnaryOp::Not => return None,
        }))
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        METHODS[usize::from(self.0)]
    }
}

/// Operators, most of which a class can define.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// A binary operator.
    Binary(Method),
    /// An augmented assignment by the binary operator's method; `__iadd__` is tried first.
    InPlace(Method),
    /// A comparison.
    Compare(Method),
    /// A unary operator; both operands are the one that it has.
    Unary(Method),
    /// `not`, which no class can define; operands as in `Unary`.
    Not,
}

/// The constant bounds of a slice with step one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The first index.
    pub lower: i64,
    /// One past the last; `None` for the end.
    pub upper: Option<i64>,
}

/// What a slice takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// From where to where, if that is constant and the step is one.
    pub bounds: Option<Bounds>,
    /// What the bounds and the step are computed from, as far as they are no constants.
    pub limits: Box<[ValueId]>,
    /// The first index.
    pub lower: Option<ValueId>,
    /// One past the last.
    pub upper: Option<ValueId>,
    /// How far it is from one to the next.
    pub step: Option<ValueId>,
}

/// How a value comes about.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing can be said.
    Unknown,
    /// No definition reaches this use.
    Unbound,
    /// A literal.
    Constant(Constant),
    /// An instance of a built-in type that is no literal.
    Instance(BuiltinType),
    /// A function's parameter, by its index in [`super::Function::parameters`].
    Parameter(FunctionId, u32),
    /// A variable read from another scope: any of its definitions.
    Cell(Variable),
    /// A name that nothing in the module defines: a built-in, or something a star import brought.
    Free(NameId),
    /// One of several values, depending on the way taken.
    Phi(Box<[ValueId]>),
    /// A `def` or a lambda.
    Function(FunctionId),
    /// A class statement.
    Class(ClassId),
    /// What an import binds.
    Import(ImportId),
    /// A container display or comprehension.
    Display(Container, Box<[Element]>),
    /// `base.name`; `narrowed` is what was stored there before on every way.
    Attribute {
        /// Of what.
        base: ValueId,
        /// Which.
        name: NameId,
        /// The value that a store in this scope put there, if nothing can have changed it since.
        narrowed: Option<ValueId>,
    },
    /// `base[key]`.
    Item {
        /// Of what.
        base: ValueId,
        /// The key or index.
        key: ValueId,
        /// As in `Attribute`.
        narrowed: Option<ValueId>,
    },
    /// `base[lower:]` of a sequence.
    Slice {
        /// Of what.
        base: ValueId,
        /// What is taken of it.
        cut: Box<Cut>,
    },
    /// What iterating over a value yields.
    Iteration(ValueId),
    /// The `index`th of the values that unpacking yields; `None` for a starred target or one behind it.
    Unpack {
        /// What is unpacked.
        base: ValueId,
        /// Position among the targets, in front of any starred one.
        index: Option<u32>,
        /// Whether this target is the starred one, which gets a list.
        starred: bool,
    },
    /// What a call returns.
    Call(CallId),
    /// An operator's result.
    Operator {
        /// Which.
        operator: Operator,
        /// Left operand.
        left: ValueId,
        /// Right operand.
        right: ValueId,
    },
    /// What `with manager as` binds.
    Enter(ValueId),
    /// What a manager answers at the end of its `with` block; no name is bound to it.
    Leave(ValueId),
    /// What awaiting gives.
    Await(ValueId),
    /// What an `except` clause binds: an instance of the classes.
    Caught(ValueId),
}

/// Why an expression is evaluated: what happens to its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It is a statement of its own.
    Statement,
    /// It is the whole right-hand side of `name = ...` with one plain name.
    Assigned,
    /// It is the whole right-hand side of another assignment: an attribute, an item, several targets.
    Stored,
    /// It is the receiver of a method call or an attribute access.
    Receiver,
    /// It is called.
    Callee,
    /// It is an argument of a call.
    Argument(CallId),
    /// It is an element of a container display.
    Element,
    /// It is returned.
    Returned,
    /// It is yielded.
    Yielded,
    /// It is iterated over by a `for` statement or a comprehension.
    Iterated,
    /// It is a context manager.
    Managed,
    /// It is a condition.
    Condition,
    /// It is a parameter's default.
    Default,
    /// It is applied as a decorator.
    Decorator,
    /// It is a part of another expression.
    Operand,
}

/// A value with the place that it was evaluated at.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// How it comes about.
    pub value: Value,
    /// Where, in bytes.
    pub range: TextRange,
    /// The scope whose code evaluates it; the first of several that share it.
    pub scope: ScopeId,
}

impl Evaluation {
    /// Whether a module has the value once for all of its scopes: literals, and variables of other scopes.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.value, Value::Constant(_) | Value::Cell(_) | Value::Free(_))
    }
}
