//! One line for each finding: `path:line:column: level[name] message (code)`.

use std::io::{self, Write};

use super::paint::{Ink, Painted};
use super::sanitize::visible_line;
use super::{Options, Report, Reported, Sources};

/// Writes the lines; suppressed findings follow with their reasons if they are wanted.
pub(super) fn write(
    report: &Report,
    sources: &Sources<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    for reported in &report.findings {
        let level = reported.finding.level;
        let name = format!("{level}[{}]", reported.finding.rule.name);
        let head = Painted { text: &name, ink: level.into(), color: options.color };
        writeln!(out, "{}", line(reported, sources, head))?;
    }
    if options.show_suppressed {
        for (reported, reason) in &report.suppressed {
            writeln!(out, "{}", suppressed(reported, reason, sources, options.color))?;
        }
    }
    Ok(())
}

/// The line for a suppressed finding.
pub(super) fn suppressed(reported: &Reported, reason: &str, sources: &Sources<'_>, color: bool) -> String {
    let name = format!("suppressed[{}]", reported.finding.rule.name);
    let head = Painted { text: &name, ink: Ink::Dim, color };
    format!("{} -- {}", line(reported, sources, head), visible_line(reason))
}

fn line(reported: &Reported, sources: &Sources<'_>, head: Painted<'_>) -> String {
    let finding = &reported.finding;
    let location = finding.primary.location;
    format!(
        "{}: {head} {} ({})",
        visible_line(&sources.place(location)),
        visible_line(&finding.message),
        finding.rule.code
    )
}

#[cfg(test)]
mod tests {
    use crate::report::testing::{ALIASED, ASSIGNED, documents, finding, written};
    use crate::report::{Format, Options, Report};

    #[test]
    fn a_finding_is_a_line() {
        let documents = documents(&[("b.py", "x = '名'; opt = SGD()\r\n"), ("a\x1b.py", "K = tf.keras\n")]);
        let report = Report::new(
            vec![
                finding(&documents, &ASSIGNED, "b.py", "opt", "`opt` is assigned\ntwice"),
                finding(&documents, &ALIASED, "a\x1b.py", "tf", "`K` is `tf.keras`"),
            ],
            vec![(finding(&documents, &ASSIGNED, "b.py", "SGD", "m"), "known".to_owned())],
            2,
            &documents,
        );
        insta::assert_snapshot!(written(Format::Concise, &report, &documents, &Options::default()), @"
        a␛.py:1:5: warning[tensorflow-member-aliased] `K` is `tf.keras` (HVD003)
        b.py:1:10: error[object-not-assigned-once] `opt` is assigned␊twice (HVD005)
        ");
        let options = Options { color: true, show_suppressed: true, ..Options::default() };
        insta::assert_debug_snapshot!(written(Format::Concise, &report, &documents, &options), @r#""a␛.py:1:5: \u{1b}[33mwarning[tensorflow-member-aliased]\u{1b}[0m `K` is `tf.keras` (HVD003)\nb.py:1:10: \u{1b}[31merror[object-not-assigned-once]\u{1b}[0m `opt` is assigned␊twice (HVD005)\nb.py:1:16: \u{1b}[2msuppressed[object-not-assigned-once]\u{1b}[0m m (HVD005) -- known\n""#);
    }

    #[test]
    fn nothing_is_no_line() {
        let documents = documents(&[("a.py", "")]);
        let report = Report::new(Vec::new(), Vec::new(), 1, &documents);
        assert_eq!(written(Format::Concise, &report, &documents, &Options::default()), "");
    }
}
