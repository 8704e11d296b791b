//! Where something stood before all fixes: what is told of a changed text speaks of the one that people see.

use super::edits::Edits;
use crate::finding::{Finding, SpanRange};
use crate::project::Documents;
use crate::report::Sources;

/// The texts before all fixes, and the changes since, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'o> {
    pub(super) documents: &'o Documents,
    pub(super) changes: &'o [Edits],
    /// The texts as these changes leave them.
    pub(super) now: &'o Documents,
}

/// Changes that are tried, with the texts that they make.
pub(super) type Tried<'t> = (&'t Edits, &'t Documents);

impl Origin<'_> {
    /// Path, line and column that a finding of the changed texts had, or of those that `tried` makes of them.
    pub(super) fn place(self, finding: &Finding, tried: Option<Tried<'_>>) -> String {
        let mut location = finding.primary.location;
        if !self.documents.contains_key(&location.file) {
            // A file in which nothing was found before is not changed.
            return Sources::new(tried.map_or(self.now, |(_, made)| made)).place(location);
        }
        for edits in tried.map(|(edits, _)| edits).into_iter().chain(self.changes.iter().rev()) {
            let start = edits.origin(location.file, location.range.start);
            location.range = SpanRange { start, end: start };
        }
        Sources::new(self.documents).place(location)
    }
}
