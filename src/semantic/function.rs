//! Functions, lambdas and classes.

use super::id::{ClassId, NameId, ScopeId, StatementId, ValueId};
use crate::syntax::TextRange;

/// How an argument reaches a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterKind {
    /// In front of `/`.
    PositionalOnly,
    /// An ordinary one.
    Ordinary,
    /// `*args`
    Variadic,
    /// Behind `*`.
    KeywordOnly,
    /// `**kwargs`
    Keywords,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: NameId,
    /// How it is passed.
    pub kind: ParameterKind,
    /// Its value within the function.
    pub value: ValueId,
    /// Its default, evaluated where the function is defined.
    pub default: Option<ValueId>,
    /// Its annotation, evaluated where the function is defined.
    pub annotation: Option<ValueId>,
    /// Where its name stands.
    pub range: TextRange,
}

impl Parameter {
    /// Whether one argument that is passed by its position may go to it.
    #[must_use]
    pub fn has_position(&self) -> bool {
        matches!(self.kind, ParameterKind::PositionalOnly | ParameterKind::Ordinary)
    }
}

/// A function or lambda.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its own scope.
    pub scope: ScopeId,
    /// Its name; `<lambda1>` for lambdas.
    pub name: NameId,
    /// Where its name stands; a lambda's whole range.
    pub range: TextRange,
    /// In order: positional-only, ordinary, variadic, keyword-only, keywords.
    pub parameters: Vec<Parameter>,
    /// What it may return, statement by statement.
    pub returns: Vec<ValueId>,
    /// What it may yield, `yield from` as `Iteration`.
    pub yields: Vec<ValueId>,
    /// It contains `yield`.
    pub generator: bool,
    /// `async def`.
    pub asynchronous: bool,
    /// The class whose body defines it.
    pub class: Option<ClassId>,
    /// Its value before decorators.
    pub value: ValueId,
    /// The decorators as written, outermost first.
    pub decorators: Vec<ValueId>,
    /// The statement; `None` for lambdas.
    pub statement: Option<StatementId>,
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its body's scope.
    pub scope: ScopeId,
    /// Its name.
    pub name: NameId,
    /// Where its name stands.
    pub range: TextRange,
    /// Base classes in order.
    pub bases: Vec<ValueId>,
    /// The names that its body annotates, in order: the fields of a data class.
    pub annotated: Vec<NameId>,
    /// Its value before decorators.
    pub value: ValueId,
    /// The decorators as written, outermost first.
    pub decorators: Vec<ValueId>,
    /// The statement.
    pub statement: StatementId,
}
