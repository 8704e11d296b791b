//! Comments that suppress findings: where they stand, what they name, and which of them do nothing.
//!
//! `# hvdlint: ignore[check-name, HVD005] -- reason` at the end of a statement's first or last line, or alone on
//! the line above it; `# hvdlint: ignore-file[check-name] -- reason` anywhere. There is no blanket form, and a
//! reason is required: a comment that lacks either, or names an unknown check, suppresses nothing and is itself
//! reported as `unused-suppression`.

mod apply;
mod insert;
mod parse;

use thiserror::Error;

use crate::finding::Location;
use crate::project::FileId;
use crate::syntax::TextRange;

pub use apply::{Applied, Checks, apply};
pub use insert::insertion;
pub use parse::parse;

/// One directive in a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// From its `#` to the end of its reason.
    pub range: TextRange,
    /// What is deleted to remove it: the blanks before it too, or the whole line where it stands alone.
    pub deletion: TextRange,
    /// What it concerns.
    pub scope: Scope,
    /// The names and codes between its brackets.
    pub names: Vec<Name>,
    /// Behind `--`.
    pub reason: String,
    /// Why it can't suppress anything.
    pub fault: Option<Fault>,
}

/// A name or code in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As it is written.
    pub text: String,
    /// Where.
    pub range: TextRange,
}

/// Which findings a suppression concerns: those that begin in one of its statements, or all in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole file.
    File,
    /// The statements on its line or below it; of compound ones, the headers.
    Statements(Vec<TextRange>),
}

impl Scope {
    fn covers(&self, location: Location) -> bool {
        let start = location.text_range().start();
        match self {
            Self::File => true,
            Self::Statements(ranges) => ranges.iter().any(|range| range.contains_inclusive(start)),
        }
    }
}

/// What is wrong with a suppression, whatever the findings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// Neither `ignore` nor `ignore-file`.
    #[error("the directive is neither `ignore[...]` nor `ignore-file[...]`")]
    UnknownDirective,
    /// No brackets, or nothing between them.
    #[error("the suppression names no check")]
    NoNames,
    /// The closing bracket is missing.
    #[error("the suppression's list is not closed")]
    Unclosed,
    /// No `--`, or nothing behind it.
    #[error("the suppression gives no reason")]
    NoReason,
    /// No statement on its line or below it.
    #[error("the suppression belongs to no statement")]
    NoStatement,
}

/// The suppressions of each file.
pub type Suppressions = std::collections::BTreeMap<FileId, Vec<Suppression>>;

#[cfg(test)]
mod tests;
