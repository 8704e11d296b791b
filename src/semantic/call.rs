//! Calls and their arguments.

use super::id::{BlockId, NameId, ScopeId, StatementId, ValueId};
use super::value::Role;
use crate::syntax::TextRange;

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passing {
    /// By position.
    Positional,
    /// By name.
    Keyword(NameId),
    /// `*args`
    Spread,
    /// `**kwargs`
    Merge,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its value.
    pub value: ValueId,
    /// How it is passed.
    pub passing: Passing,
    /// The argument's expression, without the keyword.
    pub range: TextRange,
}

/// What makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// A call expression.
    Expression,
    /// A decorator.
    Decorator,
    /// `raise C`, which makes an instance.
    Raise,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub callee: ValueId,
    /// With what.
    pub arguments: Vec<Argument>,
    /// What makes it.
    pub kind: CallKind,
    /// What happens to its result.
    pub role: Role,
    /// The result.
    pub result: ValueId,
    /// The whole call, in bytes.
    pub range: TextRange,
    /// The callee's expression.
    pub callee_range: TextRange,
    /// In which statement.
    pub statement: StatementId,
    /// Whose code calls.
    pub scope: ScopeId,
    /// The block, of `scope`.
    pub block: BlockId,
}
