//! The objects that must be created once: which they are, and what they are called.

use crate::api::Kind;
use crate::program::{Facts, ObjectId};
use crate::project::FileId;
use crate::semantic::{Element, Value, ValueId};

/// The objects of a restriction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Datasets and optimizers: numbers 5 to 7.
    DatasetsAndOptimizers,
    /// Checkpoints and their managers: number 10.
    Checkpoints,
}

impl Family {
    /// Whether objects of this kind belong to it.
    #[must_use]
    pub fn has(self, kind: Kind) -> bool {
        match self {
            Self::DatasetsAndOptimizers => matches!(kind, Kind::Dataset | Kind::Optimizer),
            Self::Checkpoints => matches!(kind, Kind::Checkpoint | Kind::CheckpointManager),
        }
    }

    /// The objects of the family that a value may be.
    pub fn among<'f>(
        self,
        facts: &'f Facts<'_>,
        file: FileId,
        value: ValueId,
    ) -> impl Iterator<Item = ObjectId> + 'f {
        facts
            .objects(file, value)
            .map(|(id, _)| id)
            .filter(move |&object| facts.kind(object).is_some_and(|kind| self.has(kind)))
    }
}

/// What objects of a kind are called in messages.
#[must_use]
pub fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Dataset => "dataset",
        Kind::Optimizer => "optimizer",
        Kind::Checkpoint => "checkpoint",
        Kind::CheckpointManager => "checkpoint manager",
        _ => "object",
    }
}

/// The noun with its article.
#[must_use]
pub fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// The values that a display holds directly.
pub fn elements(value: &Value) -> impl Iterator<Item = ValueId> + '_ {
    let elements = match value {
        Value::Display(_, elements) => &elements[..],
        _ => &[],
    };
    elements.iter().filter_map(|element| match *element {
        Element::At(_, value) | Element::Any(value) | Element::Key(_, value) => Some(value),
        Element::Spread(_) | Element::Merge(_) => None,
    })
}
