//! Reviewdog's diagnostic format. Its columns count bytes.

use std::io::{self, Write};

use serde::Serialize;

use super::platform::{Platform, text};
use super::{Columns, Options, Report, Reported, Sources, Span};
use crate::finding::{Applicability, Finding, Level, Location};

#[derive(Serialize)]
struct Log<'a> {
    source: Source,
    diagnostics: Vec<Diagnostic<'a>>,
}

#[derive(Serialize)]
struct Source {
    name: &'static str,
}

#[derive(Serialize)]
struct Diagnostic<'a> {
    message: String,
    location: Place,
    severity: &'static str,
    code: Code,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion<'a>>,
}

#[derive(Serialize)]
struct Place {
    path: String,
    range: Span,
}

#[derive(Serialize)]
struct Code {
    value: &'static str,
}

#[derive(Serialize)]
struct Suggestion<'a> {
    range: Span,
    text: std::borrow::Cow<'a, str>,
}

/// Writes one object and a line feed.
pub(super) fn write(
    report: &Report,
    sources: &Sources<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let platform = Platform::new(report, sources, options);
    let diagnostics = platform.findings().map(|reported| diagnostic(reported, platform)).collect();
    let log = Log { source: Source { name: env!("CARGO_PKG_NAME") }, diagnostics };
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn diagnostic<'a>(reported: &'a Reported, platform: Platform<'a>) -> Diagnostic<'a> {
    let finding = &reported.finding;
    Diagnostic {
        message: text(finding),
        location: Place {
            path: platform.path_of(finding),
            range: range(finding.primary.location, platform.sources),
        },
        severity: match finding.level {
            Level::Error => "ERROR",
            Level::Warning => "WARNING",
            Level::Note => "INFO",
        },
        code: Code { value: finding.rule.name },
        suggestions: suggestion(finding, platform.sources).into_iter().collect(),
    }
}

/// A suggestion is one range of the finding's file, and is applied alone: only a safe fix that is no more than that
/// becomes one.
fn suggestion<'a>(finding: &'a Finding, sources: &Sources<'_>) -> Option<Suggestion<'a>> {
    let fix = finding.fix.as_ref()?;
    let [edit] = fix.edits.as_slice() else { return None };
    let file = finding.primary.location.file;
    let is_whole =
        fix.unit.is_none() && fix.applicability == Applicability::Safe && edit.location.file == file;
    is_whole.then(|| Suggestion {
        range: range(edit.location, sources),
        text: sources.physical_content(file, &edit.content),
    })
}

fn range(location: Location, sources: &Sources<'_>) -> Span {
    sources.machine_span(location, Columns::Bytes)
}

#[cfg(test)]
mod tests {
    use crate::project::FileId;
    use crate::report::testing::{ALIASED, at, documents, finding, replace, written};
    use crate::report::{Format, Options, Report};

    #[test]
    fn columns_count_bytes_and_a_fix_is_a_suggestion() {
        let documents = documents(&[("a.py", "s = '🙂'; K = tf.keras\n")]);
        let mended = finding(&documents, &ALIASED, "a.py", "K", "`K` is `tf.keras`")
            .mended_by(replace(at(&documents, "a.py", "tf.keras"), "x"));
        let report = Report::new(vec![mended], Vec::new(), 1, &documents);
        insta::assert_snapshot!(written(Format::Rdjson, &report, &documents, &Options::default()), @r#"
        {
          "source": {
            "name": "hvdlint"
          },
          "diagnostics": [
            {
              "message": "`K` is `tf.keras`",
              "location": {
                "path": "a.py",
                "range": {
                  "start": {
                    "line": 1,
                    "column": 13
                  },
                  "end": {
                    "line": 1,
                    "column": 14
                  }
                }
              },
              "severity": "WARNING",
              "code": {
                "value": "tensorflow-member-aliased"
              },
              "suggestions": [
                {
                  "range": {
                    "start": {
                      "line": 1,
                      "column": 17
                    },
                    "end": {
                      "line": 1,
                      "column": 25
                    }
                  },
                  "text": "x"
                }
              ]
            }
          ]
        }
        "#);
    }

    #[test]
    fn a_part_of_a_change_is_no_suggestion() {
        let documents = documents(&[("a.py", "K = tf.keras\n")]);
        let mut mended = finding(&documents, &ALIASED, "a.py", "K", "m")
            .mended_by(replace(at(&documents, "a.py", "tf.keras"), "x"));
        mended.fix.as_mut().expect("it has a fix").unit = Some(FileId(0));
        let report = Report::new(vec![mended], Vec::new(), 1, &documents);
        assert!(!written(Format::Rdjson, &report, &documents, &Options::default()).contains("suggestions"));
    }
}
