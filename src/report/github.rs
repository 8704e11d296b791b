//! Annotations in the log of a GitHub workflow: one command for each finding, the worst first, because GitHub shows
//! only some of a step.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::platform::{Platform, text};
use super::{Options, Report, Reported, Sources};
use crate::finding::Level;

/// Writes the commands.
pub(super) fn write(
    report: &Report,
    sources: &Sources<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let platform = Platform::new(report, sources, options);
    let mut findings: Vec<&Reported> = platform.findings().collect();
    findings.sort_by_key(|reported| Reverse(reported.finding.level));
    for reported in findings {
        let finding = &reported.finding;
        let command = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let span = platform.span(finding.primary.location);
        write!(
            out,
            "::{command} title={},file={},line={},endLine={}",
            property(&format!("hvdlint {} ({})", finding.rule.name, finding.rule.code)),
            property(&platform.path_of(finding)),
            span.start.line,
            span.end.line,
        )?;
        // Columns of several lines are refused.
        if span.start.line == span.end.line {
            write!(out, ",col={},endColumn={}", span.start.column, span.end.column)?;
        }
        writeln!(out, "::{}", data(&text(finding)))?;
    }
    Ok(())
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use crate::report::testing::{ALIASED, ASSIGNED, documents, finding, written};
    use crate::report::{Format, Options, Report};

    #[test]
    fn the_worst_come_first_and_what_has_a_meaning_is_escaped() {
        let documents = documents(&[("a b,c%.py", "one\ntwo three\n")]);
        let findings = vec![
            finding(&documents, &ALIASED, "a b,c%.py", "one\ntwo", "50% of: a, b"),
            finding(&documents, &ASSIGNED, "a b,c%.py", "three", "m").help("do it"),
        ];
        let report = Report::new(findings, Vec::new(), 1, &documents);
        let options = Options { folder: "ml/".to_owned(), ..Options::default() };
        insta::assert_snapshot!(written(Format::Github, &report, &documents, &options), @"
        ::error title=hvdlint object-not-assigned-once (HVD005),file=ml/a b%2Cc%25.py,line=2,endLine=2,col=5,endColumn=10::m%0Ahelp: do it
        ::warning title=hvdlint tensorflow-member-aliased (HVD003),file=ml/a b%2Cc%25.py,line=1,endLine=2::50%25 of: a, b
        ");
    }

    #[test]
    fn nothing_is_no_line() {
        let documents = documents(&[]);
        assert_eq!(written(Format::Github, &Report::default(), &documents, &Options::default()), "");
    }
}
