//! What binds variables, reads them, and stores into objects.

use super::id::{BlockId, NameId, ScopeId, StatementId, ValueId};
use super::value::Variable;
use crate::syntax::TextRange;

/// What binds a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    /// `name = ...`, the only target.
    Assignment,
    /// A target among several, or inside a tuple.
    Unpacking,
    /// `name += ...`
    Augmented,
    /// `name := ...`
    Walrus,
    /// `for name in`, also in comprehensions.
    Loop,
    /// `with ... as name`
    With,
    /// An import.
    Import,
    /// `def`
    Function,
    /// `class`
    Class,
    /// A parameter.
    Parameter,
    /// `except ... as name`
    Handler,
    /// A capture in `match`.
    Capture,
    /// `del name`, and the end of an `except ... as name` clause.
    Deletion,
}

/// A binding of a variable.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What is bound.
    pub variable: Variable,
    /// To what.
    pub value: ValueId,
    /// By what.
    pub kind: DefinitionKind,
    /// Where its name stands.
    pub range: TextRange,
    /// In which statement; `None` for parameters.
    pub statement: Option<StatementId>,
    /// The scope whose code binds it: the variable's own unless `global` or `nonlocal` is in play.
    pub scope: ScopeId,
    /// The block, of `scope`.
    pub block: BlockId,
    /// Position in the order of evaluation, among uses and definitions.
    pub order: u32,
    /// No other scope can see it: it is overwritten in the same block before anything is called.
    pub hidden: bool,
}

/// A reading of a variable.
#[derive(Clone, Debug)]
pub struct Use {
    /// What is read.
    pub variable: Option<Variable>,
    /// What it may be.
    pub value: ValueId,
    /// Where.
    pub range: TextRange,
    /// The scope whose code reads it.
    pub scope: ScopeId,
    /// The block, of `scope`.
    pub block: BlockId,
    /// Position in the order of evaluation, among uses and definitions.
    pub order: u32,
}

/// The key of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreKey {
    /// `base.name = ...`
    Attribute(NameId),
    /// `base[key] = ...`
    Item(ValueId),
    /// `base[a:b] = ...`
    Slice,
}

/// `base.name = value`, `base[key] = value`.
#[derive(Clone, Debug)]
pub struct Store {
    /// Into what.
    pub base: ValueId,
    /// Under which key.
    pub key: StoreKey,
    /// What.
    pub value: ValueId,
    /// The target.
    pub range: TextRange,
    /// In which statement.
    pub statement: StatementId,
    /// Whose code does it.
    pub scope: ScopeId,
}
