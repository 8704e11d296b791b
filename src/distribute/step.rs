//! A step of distribution: what is missing, and how it is made.

use super::names::Import;
use crate::finding::{Applicability, Edit, Finding, Level, Location, Rule};
use crate::project::FileId;

/// A step that a program still needs.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is missing, where; without a fix.
    pub finding: Finding,
    /// How it is made.
    pub outcome: Outcome,
    /// The files in which its edits are right also where Horovod is not started.
    pub everywhere: Vec<FileId>,
}

/// How a step is made.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// By edits.
    Change {
        /// Whether it keeps what the program means, but for the number of ranks.
        applicability: Applicability,
        /// What it does, in the imperative.
        message: String,
        /// The edits; those of several steps may be equal.
        edits: Vec<Edit>,
        /// The names that they use, which may have to be imported.
        uses: Vec<(FileId, Import)>,
    },
    /// Not at all: a full sentence that says why, and withholds the fixes of the program.
    Blocked(String),
    /// It has to be made by hand, but the others are right without it.
    ByHand,
}

impl Outcome {
    /// The files in which it uses names.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        let uses: &[(FileId, Import)] = match self {
            Self::Change { uses, .. } => uses,
            _ => &[],
        };
        uses.iter().map(|&(file, _)| file)
    }
}

impl Step {
    /// A step that edits make.
    #[must_use]
    pub fn change(
        finding: Finding,
        message: impl Into<String>,
        edits: Vec<Edit>,
        uses: Vec<(FileId, Import)>,
    ) -> Self {
        let outcome =
            Outcome::Change { applicability: Applicability::Safe, message: message.into(), edits, uses };
        Self { finding, outcome, everywhere: Vec::new() }
    }

    /// A step that can't be made, and why.
    #[must_use]
    pub fn blocked(finding: Finding, reason: impl Into<String>) -> Self {
        Self { finding, outcome: Outcome::Blocked(reason.into()), everywhere: Vec::new() }
    }

    /// The same, with edits that are right in these files also where Horovod is not started.
    #[must_use]
    pub fn right_everywhere_in(self, files: Vec<FileId>) -> Self {
        Self { everywhere: files, ..self }
    }

    /// The finding of a step, a warning.
    #[must_use]
    pub fn missing(rule: &'static Rule, location: Location, message: impl Into<String>) -> Finding {
        Finding::new(rule, Level::Warning, location, message)
    }
}
