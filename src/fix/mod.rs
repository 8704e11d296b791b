//! Applies the fixes of findings: in memory first, where the changed project is analysed again; only what is proved
//! to be good is shown as a diff or written.
//!
//! The way of a fix:
//!
//! 1. A check gives its finding a [`Fix`](crate::finding::Fix): edits, and how safe they are. [`settle()`] lowers that
//!    where a comment would be lost.
//! 2. Fixes become parcels, which are applied as a whole: a fix by itself, or all fixes of a unit. [`Edits`] puts
//!    them in order and says which contradict each other.
//! 3. [`mend`] applies as many parcels as go together, examines the project that they would make, and keeps them if
//!    [`verify`] finds that what they fix is gone and nothing is new, and no name is read that nothing binds. Otherwise
//!    it looks for the guilty ones. Then it begins again, because fixes enable others: restrictions first, then units.
//! 4. [`diff`] shows the outcome, or [`write()`] replaces the files.

mod comments;
mod diff;
mod edits;
mod offers;
mod origin;
mod original;
mod parcel;
mod rounds;
mod search;
mod settle;
mod unbound;
pub mod verify;
mod write;

pub use diff::{Line, LineKind, diff};
pub use edits::{Edits, Replacement};
pub use offers::offers;
pub use original::{Change, Originals};
pub use parcel::{Cause, Refusal};
pub use rounds::{Mended, mend, mend_one};
pub use settle::settle;
pub use write::{Target, WriteProblem, write};
