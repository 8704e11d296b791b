//! The XML of `JUnit`, which most build servers show: a suite for each file, a failed case for each finding.

use std::fmt::{self, Display};
use std::io::{self, Write};

use super::platform::{Platform, text};
use super::sanitize::visible;
use super::{Options, Report, Reported, Sources};

/// Writes the document. Servers take an empty one for a failure, so a clean run has one case that passed.
pub(super) fn write(
    report: &Report,
    sources: &Sources<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let platform = Platform::new(report, sources, options);
    let failures = report.findings.len();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    let tests = failures.max(1);
    writeln!(out, r#"<testsuites name="hvdlint" tests="{tests}" failures="{failures}" errors="0">"#)?;
    if failures == 0 {
        writeln!(out, r#"  <testsuite name="hvdlint" tests="1" failures="0" errors="0">"#)?;
        writeln!(out, r#"    <testcase name="hvdlint" classname="hvdlint"/>"#)?;
        writeln!(out, "  </testsuite>")?;
    }
    let file = |reported: &Reported| reported.finding.primary.location.file;
    for suite in report.findings.chunk_by(|a, b| file(a) == file(b)) {
        let (path, count) = (platform.path(file(&suite[0])), suite.len());
        let path = Escaped(&path);
        writeln!(
            out,
            r#"  <testsuite name="{path}" tests="{count}" failures="{count}" errors="0" file="{path}">"#
        )?;
        for reported in suite {
            case(reported, platform, out)?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

fn case(reported: &Reported, platform: Platform<'_>, out: &mut dyn Write) -> io::Result<()> {
    let finding = &reported.finding;
    let (path, start) = (platform.path_of(finding), platform.span(finding.primary.location).start);
    let (path, name, code) = (Escaped(&path), finding.rule.name, finding.rule.code);
    let place = format!("{}:{}", start.line, start.column);
    writeln!(out, r#"    <testcase name="{name} ({code}) at {place}" classname="{path}">"#)?;
    let (message, level, text) = (Escaped(&finding.message), finding.level, text(finding));
    writeln!(
        out,
        r#"      <failure type="{level}" message="{message}">{path}:{place}: {}</failure>"#,
        Escaped(&text)
    )?;
    writeln!(out, "    </testcase>")
}

/// Text within XML: control characters, which it can't hold, are made visible.
struct Escaped<'t>(&'t str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in visible(self.0).chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\n' => f.write_str("&#10;")?,
                '\t' => f.write_str("&#9;")?,
                '\u{fffe}' | '\u{ffff}' => write!(f, "{}", char::REPLACEMENT_CHARACTER)?,
                other => write!(f, "{other}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::report::testing::{ALIASED, ASSIGNED, documents, finding, written};
    use crate::report::{Format, Options, Report};

    #[test]
    fn a_file_is_a_suite_and_a_finding_a_failure() {
        let documents = documents(&[("a&b.py", "one two\n"), ("c.py", "x\n")]);
        let findings = vec![
            finding(&documents, &ALIASED, "a&b.py", "two", "\"<\x1b>\"\n").help("do it"),
            finding(&documents, &ASSIGNED, "a&b.py", "one", "m"),
            finding(&documents, &ASSIGNED, "c.py", "x", "m"),
        ];
        let report = Report::new(findings, Vec::new(), 2, &documents);
        insta::assert_snapshot!(written(Format::Junit, &report, &documents, &Options::default()), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="hvdlint" tests="3" failures="3" errors="0">
          <testsuite name="a&amp;b.py" tests="2" failures="2" errors="0" file="a&amp;b.py">
            <testcase name="object-not-assigned-once (HVD005) at 1:1" classname="a&amp;b.py">
              <failure type="error" message="m">a&amp;b.py:1:1: m</failure>
            </testcase>
            <testcase name="tensorflow-member-aliased (HVD003) at 1:5" classname="a&amp;b.py">
              <failure type="warning" message="&quot;&lt;␛&gt;&quot;&#10;">a&amp;b.py:1:5: &quot;&lt;␛&gt;&quot;&#10;&#10;help: do it</failure>
            </testcase>
          </testsuite>
          <testsuite name="c.py" tests="1" failures="1" errors="0" file="c.py">
            <testcase name="object-not-assigned-once (HVD005) at 1:1" classname="c.py">
              <failure type="error" message="m">c.py:1:1: m</failure>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn a_clean_run_is_a_case_that_passed() {
        let documents = documents(&[]);
        insta::assert_snapshot!(written(Format::Junit, &Report::default(), &documents, &Options::default()), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="hvdlint" tests="1" failures="0" errors="0">
          <testsuite name="hvdlint" tests="1" failures="0" errors="0">
            <testcase name="hvdlint" classname="hvdlint"/>
          </testsuite>
        </testsuites>
        "#);
    }
}
