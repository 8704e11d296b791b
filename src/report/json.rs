//! The tool's own machine format, version 1.

use std::io::{self, Write};

use serde::Serialize;

use super::{Columns, Report, Reported, Sources, Span};
use crate::finding::{Applicability, Edit, Fix, Label, Location};

#[derive(Serialize)]
struct Log<'a> {
    version: u32,
    findings: Vec<Entry<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct Summary {
    files: usize,
    findings: usize,
    fixable: usize,
    suppressed: usize,
    /// Only where fixing was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<usize>,
}

#[derive(Serialize)]
struct Entry<'a> {
    code: &'static str,
    name: &'static str,
    group: &'static str,
    level: String,
    confidence: String,
    message: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
    labels: Vec<Labelled<'a>>,
    notes: &'a [String],
    help: Option<&'a str>,
    flow: Vec<Labelled<'a>>,
    fix: Option<Mend<'a>>,
    fingerprint: &'a str,
}

#[derive(Serialize)]
struct Place<'a> {
    path: &'a str,
    #[serde(flatten)]
    span: Span,
}

#[derive(Serialize)]
struct Labelled<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    message: &'a str,
}

#[derive(Serialize)]
struct Mend<'a> {
    applicability: &'static str,
    message: &'a str,
    /// A program's entry module: fixes with the same unit are right only together.
    unit: Option<&'a str>,
    edits: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
struct Replacement<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    content: &'a str,
}

/// Writes one object and a line feed.
pub(super) fn write(report: &Report, sources: &Sources<'_>, out: &mut dyn Write) -> io::Result<()> {
    let log = Log {
        version: 1,
        findings: report.findings.iter().map(|reported| entry(reported, sources)).collect(),
        summary: Summary {
            files: report.files,
            findings: report.findings.len(),
            fixable: report.fixable(),
            suppressed: report.suppressed.len(),
            fixed: report.fixed.map(|fixed| fixed.findings),
        },
    };
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn entry<'a>(reported: &'a Reported, sources: &Sources<'a>) -> Entry<'a> {
    let finding = &reported.finding;
    Entry {
        code: finding.rule.code,
        name: finding.rule.name,
        group: finding.rule.group.name(),
        level: finding.level.to_string(),
        confidence: finding.confidence.to_string(),
        message: &finding.message,
        place: place(finding.primary.location, sources),
        labels: labelled(&finding.labels, sources),
        notes: &finding.notes,
        help: finding.help.as_deref(),
        flow: labelled(&finding.flow, sources),
        fix: finding.fix.as_ref().map(|fix| mend(fix, sources)),
        fingerprint: &reported.fingerprint,
    }
}

fn place<'a>(location: Location, sources: &Sources<'a>) -> Place<'a> {
    Place { path: sources.path(location.file), span: sources.machine_span(location, Columns::CodePoints) }
}

fn labelled<'a>(labels: &'a [Label], sources: &Sources<'a>) -> Vec<Labelled<'a>> {
    let labelled =
        |label: &'a Label| Labelled { place: place(label.location, sources), message: &label.message };
    labels.iter().map(labelled).collect()
}

fn mend<'a>(fix: &'a Fix, sources: &Sources<'a>) -> Mend<'a> {
    let replacement =
        |edit: &'a Edit| Replacement { place: place(edit.location, sources), content: &edit.content };
    Mend {
        applicability: match fix.applicability {
            Applicability::Safe => "safe",
            Applicability::Unsafe => "unsafe",
        },
        message: &fix.message,
        unit: fix.unit.map(|unit| sources.path(unit)),
        edits: fix.edits.iter().map(replacement).collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::report::testing::{ALIASED, ASSIGNED, at, documents, finding, replace, written};
    use crate::report::{Format, Options, Report};

    #[test]
    fn everything_about_a_finding_is_there() {
        let documents = documents(&[("a.py", "s = '🙂'; K = tf.keras\n"), ("pkg/b.py", "\tstep(x)\r\n")]);
        let mut full = finding(&documents, &ALIASED, "a.py", "K", "`K` is `tf.keras`")
            .label(at(&documents, "pkg/b.py", "step"), "used here")
            .note("A note.")
            .help("use `tf.keras`");
        full.flow = full.labels.clone();
        full.fix = Some(replace(at(&documents, "a.py", "tf.keras"), "x"));
        let report = Report::new(vec![full], Vec::new(), 3, &documents);
        insta::assert_snapshot!(written(Format::Json, &report, &documents, &Options::default()), @r#"
        {
          "version": 1,
          "findings": [
            {
              "code": "HVD003",
              "name": "tensorflow-member-aliased",
              "group": "restriction",
              "level": "warning",
              "confidence": "certain",
              "message": "`K` is `tf.keras`",
              "path": "a.py",
              "start": {
                "line": 1,
                "column": 10
              },
              "end": {
                "line": 1,
                "column": 11
              },
              "labels": [
                {
                  "path": "pkg/b.py",
                  "start": {
                    "line": 1,
                    "column": 2
                  },
                  "end": {
                    "line": 1,
                    "column": 6
                  },
                  "message": "used here"
                }
              ],
              "notes": [
                "A note."
              ],
              "help": "use `tf.keras`",
              "flow": [
                {
                  "path": "pkg/b.py",
                  "start": {
                    "line": 1,
                    "column": 2
                  },
                  "end": {
                    "line": 1,
                    "column": 6
                  },
                  "message": "used here"
                }
              ],
              "fix": {
                "applicability": "safe",
                "message": "use the module's own name",
                "unit": null,
                "edits": [
                  {
                    "path": "a.py",
                    "start": {
                      "line": 1,
                      "column": 14
                    },
                    "end": {
                      "line": 1,
                      "column": 22
                    },
                    "content": "x"
                  }
                ]
              },
              "fingerprint": "4da9fc1e51ef9ba472fbf24abe533f73"
            }
          ],
          "summary": {
            "files": 3,
            "findings": 1,
            "fixable": 1,
            "suppressed": 0
          }
        }
        "#);
    }

    #[test]
    fn what_is_not_there_is_null_or_empty() {
        let documents = documents(&[("a.py", "x\x1b")]);
        let bare = finding(&documents, &ASSIGNED, "a.py", "x", "m \x1b");
        let report = Report::new(vec![bare.clone()], vec![(bare, "r".to_owned())], 1, &documents);
        let text = written(Format::Json, &report, &documents, &Options::default());
        let json: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
        let entry = &json["findings"][0];
        assert!(entry["fix"].is_null() && entry["help"].is_null());
        assert_eq!(entry["labels"], serde_json::json!([]));
        assert_eq!(entry["flow"], serde_json::json!([]));
        assert_eq!(entry["message"], "m \u{1b}");
        assert!(!text.contains('\x1b'), "JSON escapes control characters");
        assert_eq!(
            json["summary"],
            serde_json::json!({"files": 1, "findings": 1, "fixable": 0, "suppressed": 1})
        );
    }

    #[test]
    fn an_empty_report_is_an_object_too() {
        let documents = documents(&[]);
        let report = Report::new(Vec::new(), Vec::new(), 0, &documents);
        insta::assert_snapshot!(written(Format::Json, &report, &documents, &Options::default()), @r#"
        {
          "version": 1,
          "findings": [],
          "summary": {
            "files": 0,
            "findings": 0,
            "fixable": 0,
            "suppressed": 0
          }
        }
        "#);
    }
}
