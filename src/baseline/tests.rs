use std::path::Path;

use super::*;
use crate::finding::{Finding, Level};
use crate::project::FileId;
use crate::report::Report;
use crate::report::testing::{ALIASED, ASSIGNED, documents, finding};

const NAME: &str = "known.txt";

fn read(text: &str) -> Baseline {
    Baseline::parse(text, Path::new(NAME), NAME).expect("a baseline")
}

fn report(documents: &Documents, needles: &[&str]) -> Report {
    let here = |needle: &&str| finding(documents, &ALIASED, "a.py", needle, "m").in_scope("f");
    Report::new(needles.iter().map(here).collect(), Vec::new(), 1, documents)
}

fn scope(reported: &[&str], others: &[&str], is_whole: bool) -> Scope {
    let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
    Scope { reported: set(reported), others: set(others), is_whole }
}

fn stale(baseline: &Baseline, report: &Report, scope: &Scope) -> Vec<String> {
    baseline.stale(report, scope).into_iter().map(|entry| entry.path.clone()).collect()
}

#[test]
fn what_is_written_is_known_and_stays_known_when_lines_move() {
    let before = documents(&[("a.py", "one two\n")]);
    let baseline = read(&text(&report(&before, &["one", "two"]).findings, [], &before));
    let after = documents(&[("a.py", "# more\n\none two three\n")]);
    let mut report = report(&after, &["one", "two", "three"]);
    baseline.apply(&mut report);
    assert_eq!((report.known.len(), report.findings.len()), (2, 1));
    assert_eq!(stale(&baseline, &report, &scope(&["a.py"], &[], true)), [""; 0]);
}

#[test]
fn entries_are_sorted_lines_whatever_the_order_of_the_findings() {
    let documents = documents(&[("a.py", "one two\n"), ("#50%\t.py", "three\n")]);
    let mut findings = report(&documents, &["one", "two"]).findings;
    let odd: Vec<Finding> = vec![finding(&documents, &ASSIGNED, "#50%\t.py", "three", "m")];
    findings.extend(Report::new(odd, Vec::new(), 1, &documents).findings);
    let written = text(&findings, [], &documents);
    let lines: Vec<&str> = written.lines().skip(2).collect();
    assert!(lines.is_sorted() && lines.len() == 3, "{written}");
    assert!(lines[0].starts_with("%2350%25%09.py\t\tobject-not-assigned-once\t"), "{written}");
    assert_eq!(read(&written).entries[0].path, "#50%\t.py");
    findings.reverse();
    assert_eq!(text(&findings, [], &documents), written);
    assert_eq!(text([], &read(&written).entries, &documents), written);
}

#[test]
fn only_what_the_run_sees_is_stale() {
    let documents = documents(&[("a.py", "one\n")]);
    let baseline = read("a.py\t\tc\t00\nb.py\t\tc\t01\ngone.py\t\tc\t02\n");
    let report = report(&documents, &["one"]);
    assert_eq!(stale(&baseline, &report, &scope(&["a.py"], &["b.py"], false)), ["a.py"]);
    assert_eq!(stale(&baseline, &report, &scope(&["a.py", "b.py"], &[], true)), ["a.py", "b.py", "gone.py"]);
    let kept: Vec<_> =
        baseline.kept(&report, &scope(&["a.py"], &["b.py"], false)).map(|entry| entry.path.clone()).collect();
    assert_eq!(kept, ["b.py", "gone.py"]);
}

#[test]
fn an_entry_that_is_there_twice_is_stale_once() {
    let documents = documents(&[("a.py", "one\n")]);
    let report = report(&documents, &["one"]);
    let entry = text(&report.findings, [], &documents).lines().last().expect("an entry").to_owned();
    let baseline = read(&format!("{entry}\n{entry}\n"));
    assert_eq!(stale(&baseline, &report, &scope(&["a.py"], &[], true)), ["a.py"]);
}

#[test]
fn stale_entries_are_findings_in_the_baseline() {
    let mut documents = documents(&[("a.py", "one\n")]);
    let baseline = read("# heading\nz.py\tf\tc\t00\n");
    let mut report = report(&documents, &["one"]);
    baseline.report_stale(&mut report, &scope(&[], &[], true), Level::Note, FileId(7), &mut documents);
    let last = &report.findings.last().expect("two findings").finding;
    assert_eq!(last.level, Level::Note);
    assert_eq!(last.message, "`c` in `z.py:f` is no more");
    assert_eq!((last.rule.name, last.primary.location.file), ("stale-baseline-entry", FileId(7)));
    assert_eq!(documents[&FileId(7)].path, NAME);
}

#[test]
fn a_line_that_is_no_entry_is_shown() {
    let error = Baseline::parse("# x\na.py\tc\n", Path::new(NAME), NAME).expect_err("two columns");
    assert_eq!((error.line, error.source_line.as_str()), (2, "a.py c"));
}
