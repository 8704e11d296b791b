//! What people read: the source with labels, the help, the fix, and a line that sums it up.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use codespan_reporting::diagnostic::{Diagnostic, Label as Mark, Severity};
use codespan_reporting::files::{Error, Files, line_starts};
use codespan_reporting::term::{self, Config, termcolor};

use super::paint::{Ink, Painted};
use super::sanitize::{Visible, visible, visible_line};
use super::{Options, Report, Sources, concise, patch, proofs};
use crate::finding::{Confidence, Finding, Label, Level, Location};
use crate::project::{CellNumber, FileId};

/// So many secondary labels are shown; the rest are counted.
const LABELS: usize = 4;
/// So many steps of a flow are shown; the rest are counted.
const STEPS: usize = 6;

/// Writes the findings, what was suppressed if that is wanted, and the summary.
pub(super) fn write(
    report: &Report,
    sources: &Sources<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let findings = report.findings.iter().map(|reported| &reported.finding);
    let screen = Screen::new(findings.clone(), sources);
    let config = Config::default();
    for finding in findings {
        let diagnostic = diagnostic(finding, sources, &screen);
        let shown = if options.color {
            let mut ansi = termcolor::Ansi::new(&mut *out);
            term::emit_to_write_style(&mut ansi, &config, &screen, &diagnostic)
        } else {
            term::emit_to_io_write(out, &config, &screen, &diagnostic)
        };
        shown.map_err(|error| match error {
            Error::Io(error) => error,
            other => io::Error::other(other),
        })?;
        if let Some(fix) = &finding.fix {
            writeln!(out, "{}", patch::render(fix, finding.primary.location, sources, options.color))?;
        }
    }
    if options.show_suppressed && !report.suppressed.is_empty() {
        for (reported, reason) in &report.suppressed {
            writeln!(out, "{}", concise::suppressed(reported, reason, sources, options.color))?;
        }
        writeln!(out)?;
    }
    if let Some(proofs) = &report.proofs {
        proofs::show(proofs, sources, options.color, out)?;
    }
    let ink = if report.findings.is_empty() { Ink::Added } else { Ink::Bold };
    writeln!(out, "{}", Painted { text: &summary(report), ink, color: options.color })
}

fn diagnostic(finding: &Finding, sources: &Sources<'_>, screen: &Screen) -> Diagnostic<PageId> {
    let severity = match finding.level {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Note => Severity::Note,
    };
    let mark = |label: &Label, mark: fn(PageId, Range<usize>) -> Mark<PageId>| {
        mark(page_id(label.location, sources), screen.range(label.location, sources))
            .with_message(visible_line(&label.message))
    };
    let mut marks = vec![mark(&finding.primary, Mark::primary)];
    marks.extend(finding.labels.iter().take(LABELS).map(|label| mark(label, Mark::secondary)));
    Diagnostic::new(severity)
        .with_code(finding.rule.name)
        .with_message(visible_line(&finding.message))
        .with_labels(marks)
        .with_notes(notes(finding, sources))
}

fn notes(finding: &Finding, sources: &Sources<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(more) = more(finding.labels.len(), LABELS, "place") {
        notes.push(more);
    }
    if let Some(help) = &finding.help {
        notes.push(format!("help: {}", visible(help)));
    }
    notes.extend(finding.notes.iter().map(|note| format!("note: {}", visible(note))));
    if !finding.flow.is_empty() {
        let mut lines = vec!["note: how execution gets there:".to_owned()];
        lines.extend(finding.flow.iter().take(STEPS).map(|step| format!("  {}", self::step(step, sources))));
        lines.extend(more(finding.flow.len(), STEPS, "step").map(|more| format!("  {more}")));
        notes.push(lines.join("\n"));
    }
    if finding.confidence == Confidence::Possible {
        notes.push("note: possible, not certain: the analysis could not follow every value".to_owned());
    }
    notes
}

fn step(step: &Label, sources: &Sources<'_>) -> String {
    let place = sources.place(step.location);
    let place = visible_line(&place);
    let message = if step.message.is_empty() { "this place".into() } else { visible_line(&step.message) };
    format!("{place}: {message}")
}

fn more(all: usize, shown: usize, noun: &str) -> Option<String> {
    let rest = all.checked_sub(shown).filter(|rest| *rest > 0)?;
    Some(format!("and {rest} more {noun}{}", if rest == 1 { "" } else { "s" }))
}

/// The last line: files, findings by level, what `--fix` can mend, what is suppressed.
fn summary(report: &Report) -> String {
    let count = |number: usize, noun: &str| match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    };
    let files = count(report.files, "file");
    let levels: Vec<String> = [Level::Error, Level::Warning, Level::Note]
        .into_iter()
        .map(|level| (report.count(level), level.to_string()))
        .filter(|(number, _)| *number > 0)
        .map(|(number, level)| count(number, &level))
        .collect();
    let fixed = match report.fixed {
        Some(fixed) if fixed.findings > 0 => {
            format!("Fixed {} in {}. ", count(fixed.findings, "finding"), count(fixed.files, "file"))
        }
        _ => String::new(),
    };
    let mut parts = vec![match levels.as_slice() {
        [] => format!("All is well: nothing to report in {files}"),
        [one] => format!("Found {one} in {files}"),
        [first, last] => format!("Found {first} and {last} in {files}"),
        _ => format!("Found {} in {files}", levels.join(", ")),
    }];
    if report.fixable() > 0 {
        parts.push(format!("{} fixable with --fix", report.fixable()));
    }
    if report.fixable_unsafely() > 0 {
        let more = if report.fixable() > 0 { " more" } else { "" };
        parts.push(format!("{}{more} fixable with --fix --unsafe-fixes", report.fixable_unsafely()));
    }
    if !report.suppressed.is_empty() {
        parts.push(format!("{} suppressed", report.suppressed.len()));
    }
    if !report.known.is_empty() {
        parts.push(format!("{} in the baseline", report.known.len()));
    }
    format!("{fixed}{}", parts.join("; "))
}

/// A file, or a cell of it.
type PageId = (FileId, Option<CellNumber>);

fn page_id(location: Location, sources: &Sources<'_>) -> PageId {
    (location.file, sources.page(location.file, sources.bytes(location).start).cell)
}

/// The pages that the findings show, as they may be shown on a terminal.
struct Screen {
    pages: BTreeMap<PageId, ScreenPage>,
}

struct ScreenPage {
    name: String,
    /// Where it begins in the document.
    start: usize,
    source: Visible,
    line_starts: Vec<usize>,
}

impl Screen {
    fn new<'f>(findings: impl Iterator<Item = &'f Finding>, sources: &Sources<'_>) -> Self {
        let mut pages = BTreeMap::new();
        for finding in findings {
            for label in std::iter::once(&finding.primary).chain(finding.labels.iter().take(LABELS)) {
                pages.entry(page_id(label.location, sources)).or_insert_with(|| {
                    let page = sources.page(label.location.file, sources.bytes(label.location).start);
                    let source = Visible::new(page.text);
                    ScreenPage {
                        name: visible_line(&page.to_string()).into_owned(),
                        start: page.start,
                        line_starts: line_starts(&source.text).collect(),
                        source,
                    }
                });
            }
        }
        Self { pages }
    }

    fn page(&self, id: PageId) -> Result<&ScreenPage, Error> {
        self.pages.get(&id).ok_or(Error::FileMissing)
    }

    fn range(&self, location: Location, sources: &Sources<'_>) -> Range<usize> {
        let bytes = sources.bytes(location);
        self.pages.get(&page_id(location, sources)).map_or(0..0, |page| {
            let within = |byte: usize| byte.saturating_sub(page.start);
            page.source.range(within(bytes.start)..within(bytes.end))
        })
    }
}

impl<'a> Files<'a> for Screen {
    type FileId = PageId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: PageId) -> Result<&'a str, Error> {
        Ok(&self.page(id)?.name)
    }

    fn source(&'a self, id: PageId) -> Result<&'a str, Error> {
        Ok(&self.page(id)?.source.text)
    }

    fn line_index(&'a self, id: PageId, byte: usize) -> Result<usize, Error> {
        Ok(self.page(id)?.line_starts.partition_point(|start| *start <= byte).saturating_sub(1))
    }

    fn line_range(&'a self, id: PageId, line: usize) -> Result<Range<usize>, Error> {
        let page = self.page(id)?;
        let max = page.line_starts.len() - 1;
        let start = *page.line_starts.get(line).ok_or(Error::LineTooLarge { given: line, max })?;
        let end = page.line_starts.get(line + 1).copied().unwrap_or(page.source.text.len());
        Ok(start..end)
    }
}

#[cfg(test)]
mod tests;
