//! The tool's own machine format, version 1.

mod proofs;

use std::io::{self, Write};

use serde::Serialize;

use super::{Columns, Report, Reported, Sources, Span};
use crate::finding::{Applicability, Edit, Fix, Label, Location};

/// What `--output json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Log<'a> {
    /// Grows when a program that reads this has to be changed.
    version: u32,
    /// By path, position, code and message.
    findings: Vec<Entry<'a>>,
    summary: Summary,
    /// What is proven of the ranks of each program that uses Horovod, where `--verbose` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    proofs: Option<Vec<proofs::Program<'a>>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Summary {
    /// How many files were checked.
    files: usize,
    findings: usize,
    /// How many `--fix` can mend.
    fixable: usize,
    /// How many comments suppress.
    suppressed: usize,
    /// Findings that the baseline knows, where there are any.
    #[serde(skip_serializing_if = "is_zero")]
    known: usize,
    /// How many are fixed, where fixing was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<usize>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Entry<'a> {
    /// Of the check; never changes.
    code: &'static str,
    /// Of the check.
    name: &'static str,
    /// Of the check.
    group: &'static str,
    /// `error`, `warning` or `note`.
    level: String,
    /// `certain` or `possible`.
    confidence: String,
    /// A clause.
    message: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
    /// Further places that make it a finding.
    labels: Vec<Labelled<'a>>,
    notes: &'a [String],
    /// What to do.
    help: Option<&'a str>,
    /// The way from the training loop, in order of execution.
    flow: Vec<Labelled<'a>>,
    fix: Option<Mend<'a>>,
    /// Stays the same when lines around the finding move.
    fingerprint: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Place<'a> {
    /// Relative to the project root, with `/`.
    path: &'a str,
    #[serde(flatten)]
    span: Span,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Labelled<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    message: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Mend<'a> {
    /// `safe` or `unsafe`.
    applicability: &'static str,
    message: &'a str,
    /// A program's entry module: fixes with the same unit are right only together.
    unit: Option<&'a str>,
    edits: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Replacement<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    /// What stands there afterwards.
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
            known: report.known.len(),
            fixed: report.fixed.map(|fixed| fixed.findings),
        },
        proofs: report.proofs.as_ref().map(|proofs| proofs::programs(proofs, sources)),
    };
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
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

    /// `UPDATE=1` rewrites it.
    #[test]
    fn the_schema_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/report/json.schema.json");
        let generator = schemars::generate::SchemaSettings::draft07().for_serialize().into_generator();
        let schema = generator.into_root_schema_for::<super::Log<'_>>();
        let text = serde_json::to_string_pretty(&schema).expect("is JSON") + "\n";
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, text).expect("can be written");
        } else {
            assert_eq!(
                std::fs::read_to_string(path).ok(),
                Some(text),
                "`UPDATE=1` renews src/report/json.schema.json"
            );
        }
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
