//! Imports.

use super::id::{ImportId, NameId, StatementId};
use crate::syntax::TextRange;

/// An imported thing: one alias of an import statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Which of the module's it is.
    pub id: ImportId,
    /// How many dots stand in front.
    pub level: u32,
    /// The dotted module name; may be empty after dots.
    pub module: Box<str>,
    /// What is taken from the module: nothing (`import m`), a name, or everything.
    pub what: Imported,
    /// The alias, in bytes.
    pub range: TextRange,
    /// The statement.
    pub statement: StatementId,
}

impl Import {
    /// The package that the module is of: its name's first part.
    #[must_use]
    pub fn package(&self) -> &str {
        self.module.split('.').next().unwrap_or_default()
    }
}

/// What an import takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Imported {
    /// `import a.b.c`: binds `a`.
    Root,
    /// `import a.b.c as d`: binds the last module.
    Module,
    /// `from a import name`.
    Name(NameId),
    /// `from a import *`.
    Star,
}
