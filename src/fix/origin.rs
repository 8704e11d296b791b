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
}

impl Origin<'_> {
    /// Path, line and column that a finding of the changed texts had; `latest` are edits behind the other changes.
    pub(super) fn place(self, finding: &Finding, latest: Option<&Edits>) -> String {
        let mut location = finding.primary.location;
        for edits in latest.into_iter().chain(self.changes.iter().rev()) {
            let start = edits.origin(location.file, location.range.start);
            location.range = SpanRange { start, end: start };
        }
        Sources::new(self.documents).place(location)
    }
}
