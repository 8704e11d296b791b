//! Scopes: modules, functions, lambdas and class bodies, with their variables.

use rustc_hash::FxHashMap;

use super::flow::Flow;
use super::id::{ClassId, FunctionId, NameId, ScopeId, ValueId};
use crate::syntax::TextRange;

/// What kind of code a scope is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScopeKind {
    /// The module itself.
    Module,
    /// A `def`.
    Function(FunctionId),
    /// A lambda.
    Lambda(FunctionId),
    /// A class body.
    Class(ClassId),
}

/// A variable's name and how it is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: NameId,
    /// Another scope reads it.
    pub captured: bool,
    /// Another scope binds it, by `global` or `nonlocal`.
    pub rebound: bool,
}

/// A scope with its variables and control flow.
#[derive(Clone, Debug)]
pub struct Scope {
    /// What it is.
    pub kind: ScopeKind,
    /// The scope around it.
    pub parent: Option<ScopeId>,
    /// `Trainer.step`, `main.<lambda1>`; empty for the module.
    pub qualified_name: String,
    /// The whole of it, in bytes.
    pub range: TextRange,
    /// Its variables.
    pub symbols: Vec<Symbol>,
    /// Basic blocks and branches.
    pub flow: Flow,
    /// The variables' values where the scope ends; only for modules and classes.
    pub exports: FxHashMap<NameId, ValueId>,
}
