//! What the analysis found, in every form that people and machines read it: one filtered list, one file per
//! format.
//!
//! Nothing here touches the disk: a format is a function from a [`Report`] to bytes.

mod concise;
pub mod explain;
mod fingerprint;
mod full;
mod github;
mod gitlab;
pub mod graph;
mod in_files;
mod json;
mod junit;
mod markdown;
pub mod next_steps;
mod offers;
mod paint;
mod patch;
mod platform;
pub mod programs;
pub mod programs_picture;
pub mod proofs;
mod rdjson;
mod sanitize;
mod sarif;
mod sources;
mod statistics;
#[cfg(test)]
pub(crate) mod testing;

use std::cmp::Ordering;
use std::io::{self, Write};

use crate::finding::{Applicability, Finding, Level};
use crate::project::Documents;
use crate::ranks::Proof;

pub use crate::project::SourceControl;
pub use fingerprint::fingerprints;
use in_files::{InFiles, in_files};
pub use offers::{Offer, Offers};
pub(crate) use paint::Ink;
pub use sources::{Columns, Page, Position, Sources, Span};
pub use statistics::write as write_statistics;

/// A finding with the identity that it keeps when the code around it moves.
#[derive(Clone, Debug)]
pub struct Reported {
    /// What was found.
    pub finding: Finding,
    /// Made of the check, the path, the scope, the text and an ordinal; of no line number.
    pub fingerprint: String,
}

/// The one list that every format reads, in the order in which it is shown.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What is reported, sorted by path, position, code and message.
    pub findings: Vec<Reported>,
    /// What comments suppressed, with their reasons, in the same order.
    pub suppressed: Vec<(Reported, String)>,
    /// How many files were checked.
    pub files: usize,
    /// What the baseline knows, in the same order.
    pub known: Vec<Reported>,
    /// What was found and is not said, in the same order.
    pub hidden: Vec<Reported>,
    /// What was fixed, where fixing was asked for.
    pub fixed: Option<Fixed>,
    /// What is proven of the ranks of the programs that use Horovod, where that was asked for.
    pub proofs: Option<Vec<Proof>>,
}

/// What becomes of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is said.
    Reported,
    /// A comment suppresses it, for this reason.
    Suppressed(String),
    /// It is not selected, not in the given paths, or not sure enough.
    Hidden,
}

/// What was fixed before the rest was reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    /// How many findings are gone.
    pub findings: usize,
    /// How many files have changed.
    pub files: usize,
}

impl Report {
    /// Sorts and fingerprints what was found. Give it everything: findings that are not reported take part, so that
    /// the others keep their identity whatever is selected.
    #[must_use]
    pub fn of(mut all: Vec<(Finding, Standing)>, files: usize, documents: &Documents) -> Self {
        all.sort_by(|(a, _), (b, _)| canonical_order(a, b, documents));
        let fingerprints = fingerprints(all.iter().map(|(finding, _)| finding), documents);

        let mut report = Self { files, ..Self::default() };
        for ((finding, standing), fingerprint) in all.into_iter().zip(fingerprints) {
            let reported = Reported { finding, fingerprint };
            match standing {
                Standing::Reported => report.findings.push(reported),
                Standing::Suppressed(reason) => report.suppressed.push((reported, reason)),
                Standing::Hidden => report.hidden.push(reported),
            }
        }
        report
    }

    /// A report of findings that are all reported or suppressed.
    #[must_use]
    pub fn new(
        findings: Vec<Finding>,
        suppressed: Vec<(Finding, String)>,
        files: usize,
        documents: &Documents,
    ) -> Self {
        let open = findings.into_iter().map(|finding| (finding, Standing::Reported));
        let closed = suppressed.into_iter().map(|(finding, reason)| (finding, Standing::Suppressed(reason)));
        Self::of(open.chain(closed).collect(), files, documents)
    }

    /// How many findings are of this level.
    #[must_use]
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|reported| reported.finding.level == level).count()
    }

    /// How many findings `--fix` can mend: those with a safe fix.
    #[must_use]
    pub fn fixable(&self) -> usize {
        self.count_fixes(Applicability::Safe)
    }

    /// How many more `--fix --unsafe-fixes` can.
    #[must_use]
    pub fn fixable_unsafely(&self) -> usize {
        self.count_fixes(Applicability::Unsafe)
    }

    fn count_fixes(&self, applicability: Applicability) -> usize {
        let fixes = self.findings.iter().filter_map(|reported| reported.finding.fix.as_ref());
        fixes.filter(|fix| fix.applicability == applicability).count()
    }
}

/// The order in which findings are shown: by path, position, code and message.
#[must_use]
pub fn canonical_order(a: &Finding, b: &Finding, documents: &Documents) -> Ordering {
    let path =
        |finding: &Finding| documents.get(&finding.primary.location.file).map(|document| &document.path);
    let place = |finding: &Finding| finding.primary.location.range;
    path(a)
        .cmp(&path(b))
        .then_with(|| place(a).start.cmp(&place(b).start))
        .then_with(|| a.rule.code.cmp(b.rule.code))
        .then_with(|| place(a).end.cmp(&place(b).end))
        .then_with(|| a.message.cmp(&b.message))
}

/// A form in which a report can be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Format {
    /// Source with labels, help and fixes, for people.
    #[default]
    Full,
    /// One line for each finding.
    Concise,
    /// The tool's own machine format.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of GitHub workflows.
    Github,
    /// GitLab's Code Quality report.
    Gitlab,
    /// The XML of `JUnit`.
    Junit,
    /// Reviewdog's JSON.
    Rdjson,
}

/// Who reads a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Audience {
    /// They look at cells.
    People,
    /// They look at files.
    Machines,
}

impl Format {
    fn audience(self) -> Audience {
        match self {
            Self::Full | Self::Concise => Audience::People,
            Self::Json | Self::Sarif | Self::Github | Self::Gitlab | Self::Junit | Self::Rdjson => {
                Audience::Machines
            }
        }
    }
}

/// How a report is written; what is written is in the [`Report`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether people's formats use colours.
    pub color: bool,
    /// Whether suppressed findings are shown as such.
    pub show_suppressed: bool,
    /// The status that the process will end with, where it is known.
    pub exit_code: Option<u8>,
    /// Where the source comes from, where it is known.
    pub source_control: Option<SourceControl>,
    /// The project's folder in its repository, with a `/` at its end; empty where that is the same. What platforms
    /// read has paths from the repository's root.
    pub folder: String,
    /// What formats offer to apply.
    pub offers: Offers,
    /// What distinguishes this SARIF run from others of the same commit.
    pub sarif_category: Option<String>,
}

impl Format {
    /// Whether readers of the format apply fixes at a click, so that it has [`Options::offers`].
    #[must_use]
    pub fn has_offers(self) -> bool {
        matches!(self, Self::Sarif | Self::Rdjson)
    }
}

/// Writes `report` in `format`.
///
/// # Errors
///
/// Fails when `out` does.
pub fn write(
    format: Format,
    report: &Report,
    sources: &Sources<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    if format.audience() == Audience::Machines
        && let Some(InFiles { report, documents, options }) = in_files(report, sources, options)
    {
        return write(format, &report, &Sources::new(&documents), &options, out);
    }
    match format {
        Format::Full => full::write(report, sources, options, out),
        Format::Concise => concise::write(report, sources, options, out),
        Format::Json => json::write(report, sources, out),
        Format::Sarif => sarif::write(report, sources, options, out),
        Format::Github => github::write(report, sources, options, out),
        Format::Gitlab => gitlab::write(report, sources, options, out),
        Format::Junit => junit::write(report, sources, options, out),
        Format::Rdjson => rdjson::write(report, sources, options, out),
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{ALIASED, ASSIGNED, at, documents, finding, replace};
    use super::*;

    #[test]
    fn findings_are_sorted_by_path_position_code_and_message() {
        let documents = documents(&[("b.py", "one two"), ("a.py", "one two")]);
        let here = |path, needle, message| finding(&documents, &ASSIGNED, path, needle, message);
        let expected = [
            here("a.py", "two", "m"),
            finding(&documents, &ALIASED, "b.py", "one two", "m"),
            here("b.py", "one", "a"),
            here("b.py", "one", "b"),
            here("b.py", "two", "a"),
        ];
        let report = Report::new(expected.iter().rev().cloned().collect(), Vec::new(), 2, &documents);
        let key = |finding: &Finding| (finding.primary.location, finding.rule.code, finding.message.clone());
        let sorted: Vec<_> = report.findings.iter().map(|reported| key(&reported.finding)).collect();
        assert_eq!(sorted, expected.iter().map(key).collect::<Vec<_>>());
    }

    #[test]
    fn only_safe_fixes_count_as_fixable() {
        let documents = documents(&[("a.py", "one")]);
        let mut safe = finding(&documents, &ASSIGNED, "a.py", "one", "m");
        safe.fix = Some(replace(at(&documents, "a.py", "one"), "1"));
        let mut risky = safe.clone();
        risky.fix = risky.fix.map(|fix| crate::finding::Fix { applicability: Applicability::Unsafe, ..fix });
        let report = Report::new(vec![safe, risky], Vec::new(), 1, &documents);
        assert_eq!((report.fixable(), report.fixable_unsafely()), (1, 1));
        assert_eq!(report.count(Level::Error), 2);
    }
}
