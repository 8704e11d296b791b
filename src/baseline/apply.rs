//! Takes known findings out of a report, and finds the entries whose findings are gone.

use std::collections::BTreeSet;

use super::{Baseline, Entry, Scope};
use crate::checks::tool::STALE_BASELINE_ENTRY;
use crate::finding::{Finding, Level, Location};
use crate::project::{Documents, FileId};
use crate::report::{Report, Reported};

impl Baseline {
    /// Sets the findings that are known aside.
    pub fn apply(&self, report: &mut Report) {
        let (known, open) = std::mem::take(&mut report.findings).into_iter().partition(|own| self.knows(own));
        report.findings = open;
        report.known = known;
    }

    /// The entries whose findings are no more, as far as the run can tell, in the order of the file. A second entry
    /// for one finding is stale, too.
    #[must_use]
    pub fn stale(&self, report: &Report, scope: &Scope) -> Vec<&Entry> {
        let standing = report.findings.iter().chain(&report.known).chain(&report.hidden);
        let standing: BTreeSet<&str> = standing.map(|reported| reported.fingerprint.as_str()).collect();
        let mut seen = BTreeSet::new();
        self.entries
            .iter()
            .filter(|entry| {
                let is_first = seen.insert(&entry.fingerprint);
                scope.covers(&entry.path) && !(is_first && standing.contains(entry.fingerprint.as_str()))
            })
            .collect()
    }

    /// The entries that a baseline written anew keeps although their findings are not in this report.
    pub fn kept<'b>(&'b self, report: &'b Report, scope: &'b Scope) -> impl Iterator<Item = &'b Entry> {
        let stale: BTreeSet<&Entry> = self.stale(report, scope).into_iter().collect();
        let shown = report.findings.iter().chain(&report.known);
        let shown: BTreeSet<&str> = shown.map(|reported| reported.fingerprint.as_str()).collect();
        self.entries
            .iter()
            .filter(move |entry| !stale.contains(entry) && !shown.contains(entry.fingerprint.as_str()))
    }

    /// Reports stale entries, at their lines of the baseline, which becomes a document with the number `file`.
    pub fn report_stale(
        &self,
        report: &mut Report,
        scope: &Scope,
        level: Level,
        file: FileId,
        documents: &mut Documents,
    ) {
        let finding = |entry: &Entry| {
            let message = format!("`{}` in `{}` is no more", entry.check, place(entry));
            let location = Location { file, range: entry.range };
            Finding::new(&STALE_BASELINE_ENTRY, level, location, message)
                .help("write the baseline anew with --write-baseline")
        };
        let stale: Vec<Finding> = self.stale(report, scope).into_iter().map(finding).collect();
        if stale.is_empty() {
            return;
        }
        documents.insert(file, self.document());
        let own = Report::new(stale, Vec::new(), 0, documents);
        report.findings.extend(own.findings);
        let path = |reported: &Reported| {
            documents.get(&reported.finding.primary.location.file).map(|document| document.path.clone())
        };
        // Only this file's findings are new, and they are in order.
        report.findings.sort_by_cached_key(path);
    }
}

fn place(entry: &Entry) -> String {
    if entry.scope.is_empty() { entry.path.clone() } else { format!("{}:{}", entry.path, entry.scope) }
}
