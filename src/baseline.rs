//! The baseline: findings that a project has known for long, in a file with a line for each; they are not reported.
//!
//! An entry names its finding by the fingerprint, which edits elsewhere in the file do not change. The path, the
//! scope and the check stand beside it for people, and keep the lines in order.

mod apply;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::checks::tool;
use crate::finding::{Rule, SpanRange};
use crate::project::{ConfigError, Document, Documents};
use crate::report::Reported;

/// What a baseline begins with.
const HEADING: &str = "# Findings that are known and not reported. `hvdlint check --write-baseline` writes this file.\n\
                       # Path, scope, check and fingerprint of each, with tabs between.\n";

/// A baseline that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    /// Its name in reports.
    path: String,
    text: Arc<str>,
    /// In the order of the file.
    entries: Vec<Entry>,
    fingerprints: BTreeSet<String>,
}

/// A line of a baseline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Relative to the project root, with `/`.
    pub path: String,
    /// Qualified name of the function or class; empty at module level.
    pub scope: String,
    /// Name of the check.
    pub check: String,
    /// The finding's identity.
    pub fingerprint: String,
    /// Where the line is in its file, without its end.
    range: SpanRange,
}

impl Baseline {
    /// Reads the text of the file at `path`, which reports call `name`.
    ///
    /// # Errors
    ///
    /// The first line that is no entry.
    pub fn parse(text: &str, path: &Path, name: impl Into<String>) -> Result<Self, ConfigError> {
        let mut entries = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let own = line.trim_end_matches(['\r', '\n']);
            let range = start..start + own.len();
            start += line.len();
            if own.is_empty() || own.starts_with('#') {
                continue;
            }
            let [file, scope, check, fingerprint] = own.split('\t').collect::<Vec<_>>()[..] else {
                let help = "write the baseline anew with --write-baseline";
                let what = "this line of the baseline is not a path, a scope, a check and a fingerprint";
                return Err(ConfigError::new(path, text, range, what, help));
            };
            entries.push(Entry {
                path: unescaped(file),
                scope: scope.to_owned(),
                check: check.to_owned(),
                fingerprint: fingerprint.to_owned(),
                range: span(&range),
            });
        }
        let fingerprints = entries.iter().map(|entry| entry.fingerprint.clone()).collect();
        Ok(Self { path: name.into(), text: text.into(), entries, fingerprints })
    }

    /// Whether the finding is known. What the tool says about files that can't be read is never.
    fn knows(&self, reported: &Reported) -> bool {
        can_be_known(reported.finding.rule) && self.fingerprints.contains(&reported.fingerprint)
    }

    fn document(&self) -> Document {
        Document::new(self.path.clone(), Arc::clone(&self.text))
    }
}

fn can_be_known(rule: &Rule) -> bool {
    ![tool::INVALID_SYNTAX.code, tool::STALE_BASELINE_ENTRY.code].contains(&rule.code)
}

/// The text of a baseline with an entry for each of `findings` and with the entries in `kept`.
#[must_use]
pub fn text<'f>(
    findings: impl IntoIterator<Item = &'f Reported>,
    kept: impl IntoIterator<Item = &'f Entry>,
    documents: &Documents,
) -> String {
    let known = findings.into_iter().filter(|reported| can_be_known(reported.finding.rule));
    let mut lines: BTreeSet<String> = known
        .map(|Reported { finding, fingerprint }| {
            let path = documents.get(&finding.primary.location.file).map_or("", |document| &document.path);
            line(path, &finding.scope, finding.rule.name, fingerprint)
        })
        .collect();
    lines.extend(
        kept.into_iter().map(|entry| line(&entry.path, &entry.scope, &entry.check, &entry.fingerprint)),
    );
    let mut text = HEADING.to_owned();
    for line in lines {
        writeln!(text, "{line}").expect("a string takes all");
    }
    text
}

fn line(path: &str, scope: &str, check: &str, fingerprint: &str) -> String {
    format!("{}\t{scope}\t{check}\t{fingerprint}", escaped(path))
}

/// The characters that would end a path, or begin a comment.
const ESCAPES: [(char, &str); 5] = [('%', "%25"), ('\t', "%09"), ('\n', "%0A"), ('\r', "%0D"), ('#', "%23")];

fn escaped(path: &str) -> String {
    ESCAPES.iter().fold(path.to_owned(), |path, (character, code)| path.replace(*character, code))
}

fn unescaped(path: &str) -> String {
    ESCAPES.iter().rev().fold(path.to_owned(), |path, (character, code)| {
        path.replace(code, character.encode_utf8(&mut [0; 4]))
    })
}

fn span(range: &std::ops::Range<usize>) -> SpanRange {
    let byte = |byte| u32::try_from(byte).expect("a baseline is smaller than 4 GiB");
    SpanRange { start: byte(range.start), end: byte(range.end) }
}

/// What of the project a run is about: only there can it tell that an entry is stale.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Paths of the files that are reported and could be read whole.
    pub reported: BTreeSet<String>,
    /// Paths of all other files of the project.
    pub others: BTreeSet<String>,
    /// Whether a file that is in neither is one that is no more, and not one that is left out.
    pub is_whole: bool,
}

impl Scope {
    fn covers(&self, path: &str) -> bool {
        self.reported.contains(path) || (self.is_whole && !self.others.contains(path))
    }
}

#[cfg(test)]
mod tests;
