//! Reviewdog's diagnostic format. Its columns count bytes.

use std::io::{self, Write};

use serde::Serialize;

use super::platform::{Platform, text};
use super::{Columns, Offers, Options, Report, Reported, Sources, Span};
use crate::finding::{Finding, Level, Location};

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
    text: &'a str,
}

/// Writes one object and a line feed.
pub(super) fn write(
    report: &Report,
    sources: &Sources<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let platform = Platform::new(report, sources, options);
    let diagnostics =
        platform.findings().map(|reported| diagnostic(reported, platform, &options.offers)).collect();
    let log = Log { source: Source { name: env!("CARGO_PKG_NAME") }, diagnostics };
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn diagnostic<'a>(reported: &'a Reported, platform: Platform<'a>, offers: &'a Offers) -> Diagnostic<'a> {
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
        suggestions: suggestion(finding, offers, platform.sources).into_iter().collect(),
    }
}

/// A suggestion is one range of the finding's file, and is applied alone: only a change that is no more than that
/// becomes one.
fn suggestion<'a>(finding: &Finding, offers: &'a Offers, sources: &Sources<'_>) -> Option<Suggestion<'a>> {
    let edits = &offers.at(finding)?.edits;
    let file = finding.primary.location.file;
    let [edit] = edits.of(file) else { return None };
    let is_whole = edits.files().count() == 1;
    is_whole.then(|| Suggestion {
        range: range(Location { file, range: edit.range }, sources),
        text: &edit.content,
    })
}

fn range(location: Location, sources: &Sources<'_>) -> Span {
    sources.machine_span(location, Columns::Bytes)
}

#[cfg(test)]
mod tests {
    use crate::report::testing::{ALIASED, at, documents, finding, offering, replace, written};
    use crate::report::{Format, Report};

    #[test]
    fn columns_count_bytes_and_a_fix_is_a_suggestion() {
        let documents = documents(&[("a.py", "s = '🙂'; K = tf.keras\n")]);
        let mended = finding(&documents, &ALIASED, "a.py", "K", "`K` is `tf.keras`")
            .mended_by(replace(at(&documents, "a.py", "tf.keras"), "x"));
        let report = Report::new(vec![mended], Vec::new(), 1, &documents);
        insta::assert_snapshot!(written(Format::Rdjson, &report, &documents, &offering(&report)), @r#"
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
        let edits = &mut mended.fix.as_mut().expect("it has a fix").edits;
        edits.extend(replace(at(&documents, "a.py", "K"), "").edits);
        let report = Report::new(vec![mended], Vec::new(), 1, &documents);
        assert!(!written(Format::Rdjson, &report, &documents, &offering(&report)).contains("suggestions"));
    }
}
