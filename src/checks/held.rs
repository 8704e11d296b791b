//! What variables hold: a dataset or an optimizer, something else, or nobody knows.

use super::objects::{Family, noun};
use crate::finding::{Confidence, Location};
use crate::program::{Caller, Facts, Object, Place};
use crate::project::FileId;
use crate::semantic::ValueId;

/// The objects whose variables must hold nothing else.
pub const FAMILY: Family = Family::DatasetsAndOptimizers;

/// What is known of a value: whether it is a dataset or an optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// It is one of them, or, as is only possible, may be; the kind is the first's.
    Object(&'static str, Confidence),
    /// It is neither.
    Other,
    /// Nobody knows.
    Unknown,
}

/// What is known of a value.
#[must_use]
pub fn holds(facts: &Facts<'_>, file: FileId, value: ValueId) -> Holds {
    let mut kinds = Vec::new();
    let mut others = 0;
    let mut known = !facts.is_unknown(file, value);
    for (id, object) in facts.objects(file, value) {
        if let Some(kind) = facts.kind(id).filter(|&kind| FAMILY.has(kind)) {
            kinds.push(kind);
        } else {
            others += 1;
            known &= is_known(facts, object);
        }
    }
    match kinds.first() {
        Some(&kind) if others == 0 => Holds::Object(noun(kind), Confidence::Certain),
        Some(&kind) => Holds::Object(noun(kind), Confidence::Possible),
        None if known => Holds::Other,
        None => Holds::Unknown,
    }
}

/// Whether it is known what the object is.
fn is_known(facts: &Facts<'_>, object: Object) -> bool {
    match object {
        Object::Unknown => false,
        Object::External(_) | Object::Created(..) | Object::Member(..) => facts.symbol(object).is_some(),
        _ => true,
    }
}

/// A binding that follows another of the same variable.
#[derive(Clone, Debug)]
pub struct Reuse {
    /// Where the new binding stands.
    pub place: Location,
    /// Whose code binds.
    pub caller: Caller,
    /// The variable or attribute.
    pub name: String,
    /// The new value.
    pub value: Place,
    /// What the variable held.
    pub before: &'static str,
    /// Where it was bound to that.
    pub bound: Location,
    /// Whether every fact is known.
    pub confidence: Confidence,
    /// It is `del`.
    pub deletion: bool,
    /// Something may read the new value.
    pub read: bool,
}
