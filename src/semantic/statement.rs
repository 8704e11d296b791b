//! Statements, as far as a question is asked about them.

use super::id::{BlockId, ScopeId, StatementId};
use crate::syntax::TextRange;

/// A statement's kind, as far as a question is asked about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// `def`
    Function,
    /// `class`
    Class,
    /// `return`
    Return,
    /// `del`
    Delete,
    /// `a = b`, with one plain name as its target?
    Assign {
        /// Exactly one target, and it is a plain name.
        simple: bool,
    },
    /// `a += b`
    AugmentedAssign,
    /// `for`
    For,
    /// `while`
    While,
    /// `if`
    If,
    /// `with`
    With,
    /// `match`
    Match,
    /// `raise`
    Raise,
    /// `try`
    Try,
    /// `assert`
    Assert,
    /// `import` and `from ... import`
    Import {
        /// It names `__future__`.
        future: bool,
    },
    /// `global` and `nonlocal`
    ScopeDeclaration,
    /// An expression statement.
    Expression {
        /// It is a string literal alone.
        docstring: bool,
    },
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `pass`, `type X = ...`, a number alone.
    Other,
}

/// An `elif` or `else` of an `if` statement.
#[derive(Clone, Copy, Debug)]
pub struct Clause {
    /// The `if`.
    pub statement: StatementId,
    /// All of it, from its keyword on.
    pub range: TextRange,
    /// The condition; `else` has none.
    pub test: Option<TextRange>,
}

/// Which suite of its parent a statement stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suite {
    /// The only or first one.
    Body,
    /// `else`, `elif`, or a later `case`.
    Alternative,
    /// `except`.
    Handler,
    /// `finally`.
    Finally,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// All of it, in bytes.
    pub range: TextRange,
    /// Up to the colon for a compound statement, else all of it; decorators included.
    pub header: TextRange,
    /// The compound statement that it stands in, within the same scope or around it.
    pub parent: Option<StatementId>,
    /// Where in its parent.
    pub suite: Suite,
    /// The scope that executes it.
    pub scope: ScopeId,
    /// The block that executes it.
    pub block: BlockId,
}
