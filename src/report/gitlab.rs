//! GitLab's Code Quality report.

use std::io::{self, Write};

use serde::Serialize;

use super::platform::Platform;
use super::{Options, Report, Reported, Sources};
use crate::finding::Level;

#[derive(Serialize)]
struct Issue<'a> {
    description: &'a str,
    check_name: &'static str,
    fingerprint: &'a str,
    severity: &'static str,
    location: Place,
}

#[derive(Serialize)]
struct Place {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

/// Writes one array and a line feed.
pub(super) fn write(
    report: &Report,
    sources: &Sources<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let platform = Platform::new(report, sources, options);
    let issues: Vec<Issue<'_>> = platform.findings().map(|reported| issue(reported, platform)).collect();
    serde_json::to_writer_pretty(&mut *out, &issues)?;
    writeln!(out)
}

fn issue<'a>(reported: &'a Reported, platform: Platform<'a>) -> Issue<'a> {
    let finding = &reported.finding;
    let span = platform.span(finding.primary.location);
    Issue {
        description: &finding.message,
        check_name: finding.rule.name,
        fingerprint: &reported.fingerprint,
        severity: match finding.level {
            Level::Error => "major",
            Level::Warning => "minor",
            Level::Note => "info",
        },
        location: Place {
            path: platform.path_of(finding),
            lines: Lines { begin: span.start.line, end: span.end.line },
        },
    }
}

#[cfg(test)]
mod tests {
    use crate::report::testing::{ALIASED, documents, finding, written};
    use crate::report::{Format, Options, Report};

    #[test]
    fn a_finding_is_an_issue() {
        let documents = documents(&[("a.py", "one\ntwo\n")]);
        let findings = vec![finding(&documents, &ALIASED, "a.py", "two", "`two` is bad")];
        let report = Report::new(findings, Vec::new(), 1, &documents);
        let options = Options { folder: "ml/".to_owned(), ..Options::default() };
        insta::assert_snapshot!(written(Format::Gitlab, &report, &documents, &options), @r#"
        [
          {
            "description": "`two` is bad",
            "check_name": "tensorflow-member-aliased",
            "fingerprint": "7cdf48e449306510151cad449393f791",
            "severity": "minor",
            "location": {
              "path": "ml/a.py",
              "lines": {
                "begin": 2,
                "end": 2
              }
            }
          }
        ]
        "#);
    }

    #[test]
    fn nothing_is_an_empty_array() {
        let documents = documents(&[]);
        assert_eq!(written(Format::Gitlab, &Report::default(), &documents, &Options::default()), "[]\n");
    }
}
