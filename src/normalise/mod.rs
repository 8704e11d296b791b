//! Fixes of restrictions: a violation is rewritten into the published subset without changing what the program does.
//!
//! Each file is a way of rewriting with the conditions under which it keeps the meaning; where they are not known to
//! hold there is no fix. Checks name the places, [`crate::rewrite`] makes the edits, [`crate::fix`] proves that the
//! finding is gone.

mod hoist;
mod import;
mod names;
mod order;
mod rename;
mod substitute;

use crate::finding::{Applicability, Edit, Fix};

pub use hoist::{hoist, named};
pub use import::move_to_top;
pub use names::{fresh, is_visible_outside};
pub use rename::rename;
pub use substitute::{import_at_once, import_instead, substitute};

/// A fix that is right by itself.
fn fix(applicability: Applicability, message: impl Into<String>, mut edits: Vec<Edit>) -> Fix {
    edits.sort_by_key(|edit| edit.location);
    edits.dedup();
    Fix { applicability, message: message.into(), edits, unit: None }
}
