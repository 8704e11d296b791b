//! How many findings each check has: the table of `--statistics`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Applicability, Report};

/// Writes one line for each check that has findings, the most frequent first.
///
/// # Errors
///
/// Fails when `out` does.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for reported in &report.findings {
        let finding = &reported.finding;
        let (count, fixable) = rows.entry((finding.rule.code, finding.rule.name)).or_default();
        *count += 1;
        *fixable +=
            usize::from(finding.fix.as_ref().is_some_and(|fix| fix.applicability == Applicability::Safe));
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));

    let digits = rows.iter().map(|(_, (count, _))| count.to_string().len()).max().unwrap_or(0);
    for ((code, name), (count, fixable)) in rows {
        write!(out, "{count:>digits$}  {code}  {name}")?;
        match fixable {
            0 => writeln!(out)?,
            all if all == count => writeln!(out, "  (fixable)")?,
            some => writeln!(out, "  ({some} fixable)")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::report::testing::{ALIASED, ASSIGNED, at, documents, finding, replace};
    use crate::report::{Report, write_statistics};

    #[test]
    fn checks_are_counted_most_frequent_first() {
        let documents = documents(&[("a.py", "one two three")]);
        let mut mended = finding(&documents, &ASSIGNED, "a.py", "one", "m");
        mended.fix = Some(replace(at(&documents, "a.py", "one"), "1"));
        let findings = vec![
            finding(&documents, &ALIASED, "a.py", "one", "m"),
            mended,
            finding(&documents, &ASSIGNED, "a.py", "two", "m"),
        ];
        let mut out = Vec::new();
        write_statistics(&Report::new(findings, Vec::new(), 1, &documents), &mut out).expect("memory");
        insta::assert_snapshot!(String::from_utf8_lossy(&out), @"
        2  HVD005  object-not-assigned-once  (1 fixable)
        1  HVD003  tensorflow-member-aliased
        ");
    }
}
