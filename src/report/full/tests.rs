use crate::finding::{Applicability, Confidence, Finding};
use crate::project::Documents;
use crate::report::testing::{ALIASED, ASSIGNED, at, documents, finding, nth, replace, written};
use crate::report::{Format, Options, Report};

fn full(documents: &Documents, findings: Vec<Finding>) -> String {
    let report = Report::new(findings, Vec::new(), documents.len(), documents);
    written(Format::Full, &report, documents, &Options::default())
}

#[test]
fn places_in_several_files_are_labelled_and_help_notes_and_flow_follow() {
    let documents = documents(&[
        ("train.py", "import util\n\nopt = Adam()\nfor batch in data:\n    util.step(opt)\n"),
        ("util.py", "def step(o):\n    other = o\n"),
    ]);
    let mut finding = finding(&documents, &ASSIGNED, "util.py", "other", "an optimizer has a second name")
        .here("second name")
        .label(at(&documents, "train.py", "Adam()"), "created here")
        .label(at(&documents, "train.py", "util.step(opt)"), "passed here")
        .help("use `o`")
        .note("No fix is offered for this program.")
        .confidence(Confidence::Possible);
    finding.flow = vec![finding.labels[1].clone(), finding.primary.clone()];
    insta::assert_snapshot!(full(&documents, vec![finding]), @"
    error[object-not-assigned-once]: an optimizer has a second name
      ┌─ util.py:2:5
      │
    2 │     other = o
      │     ^^^^^ second name
      │
      ┌─ train.py:3:7
      │
    3 │ opt = Adam()
      │       ------ created here
    4 │ for batch in data:
    5 │     util.step(opt)
      │     -------------- passed here
      │
      = help: use `o`
      = note: No fix is offered for this program.
      = note: how execution gets there:
          train.py:5:5: passed here
          util.py:2:5: second name
      = note: possible, not certain: the analysis could not follow every value

    Found 1 error in 2 files
    ");
}

#[test]
fn more_than_four_places_are_counted() {
    let documents = documents(&[("a.py", "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = 7\n")]);
    let mut finding = finding(&documents, &ASSIGNED, "a.py", "a = 1", "assigned seven times");
    for other in ["b = 2", "c = 3", "d = 4", "e = 5", "f = 6", "g = 7"] {
        finding = finding.label(at(&documents, "a.py", other), "again");
    }
    insta::assert_snapshot!(full(&documents, vec![finding]), @"
    error[object-not-assigned-once]: assigned seven times
      ┌─ a.py:1:1
      │
    1 │ a = 1
      │ ^^^^^
    2 │ b = 2
      │ ----- again
    3 │ c = 3
      │ ----- again
    4 │ d = 4
      │ ----- again
    5 │ e = 5
      │ ----- again
      │
      = and 2 more places

    Found 1 error in 1 file
    ");
}

#[test]
fn escape_sequences_in_source_path_and_message_do_not_reach_the_terminal() {
    let documents = documents(&[("a\x1b.py", "x = '\x1b[2J'; opt = 1\rname = 2\r\nlast\n")]);
    let finding = finding(&documents, &ASSIGNED, "a\x1b.py", "name", "bad \x1b]0;title\x07")
        .label(at(&documents, "a\x1b.py", "opt"), "first \u{9b}1m")
        .help("try\x1b[1m");
    let shown = full(&documents, vec![finding]);
    assert!(!shown.contains(['\x1b', '\x07', '\u{9b}', '\r']));
    insta::assert_snapshot!(shown, @"
    error[object-not-assigned-once]: bad ␛]0;title␇
      ┌─ a␛.py:2:1
      │
    1 │ x = '␛[2J'; opt = 1
      │             --- first �1m
    2 │ name = 2
      │ ^^^^
      │
      = help: try␛[1m

    Found 1 error in 1 file
    ");
}

#[test]
fn wide_characters_and_tabs_keep_the_carets_in_place() {
    let documents = documents(&[("a.py", "if x:\n\t名 = '🙂'; opt = 1\n")]);
    insta::assert_snapshot!(full(&documents, vec![finding(&documents, &ASSIGNED, "a.py", "opt", "m")]), @"
    error[object-not-assigned-once]: m
      ┌─ a.py:2:11
      │
    2 │     名 = '🙂'; opt = 1
      │                ^^^

    Found 1 error in 1 file
    ");
}

#[test]
fn a_fix_is_shown_as_a_diff() {
    let documents = documents(&[
        ("a.py", "import tensorflow as tf\n\nkeras = tf.keras\nx = keras.Model()\n"),
        ("b.py", "from a import keras\n"),
    ]);
    let mut finding = finding(&documents, &ALIASED, "a.py", "keras = tf.keras", "`keras` is an alias");
    let mut fix = replace(nth(&documents, "a.py", "keras = tf.keras", 0), "from tensorflow import keras");
    fix.applicability = Applicability::Unsafe;
    fix.edits.extend(replace(at(&documents, "b.py", "from a import keras\n"), "").edits);
    finding.fix = Some(fix);
    insta::assert_snapshot!(full(&documents, vec![finding]), @"
    warning[tensorflow-member-aliased]: `keras` is an alias
      ┌─ a.py:3:1
      │
    3 │ keras = tf.keras
      │ ^^^^^^^^^^^^^^^^

      unsafe fix: use the module's own name
         3 - keras = tf.keras
         3 + from tensorflow import keras
        b.py
         1 - from a import keras

    Found 1 warning in 2 files; 1 fixable with --fix --unsafe-fixes
    ");
}

#[test]
fn the_summary_counts() {
    let documents = documents(&[("a.py", "x = 1\n")]);
    let mut mended = finding(&documents, &ASSIGNED, "a.py", "x", "m");
    mended.fix = Some(replace(at(&documents, "a.py", "x"), "y"));
    let warning = finding(&documents, &ALIASED, "a.py", "1", "m");
    let suppressed = vec![(warning.clone(), "measured \x1b".to_owned())];
    let report = Report::new(vec![mended, warning.clone(), warning], suppressed, 2, &documents);
    let options = Options { show_suppressed: true, ..Options::default() };
    let shown = written(Format::Full, &report, &documents, &options);
    let tail: Vec<&str> = shown.lines().rev().take(3).collect();
    insta::assert_debug_snapshot!(tail, @r#"
    [
        "Found 1 error and 2 warnings in 2 files; 1 fixable with --fix; 1 suppressed",
        "",
        "a.py:1:5: suppressed[tensorflow-member-aliased] m (HVD003) -- measured ␛",
    ]
    "#);
}

#[test]
fn nothing_to_say_is_said_kindly() {
    let documents = documents(&[("a.py", "x = 1\n")]);
    insta::assert_snapshot!(full(&documents, Vec::new()), @"All is well: nothing to report in 1 file");
}

#[test]
fn colours_only_set_off_what_is_there() {
    let documents = documents(&[("a.py", "opt = Adam()\n")]);
    let mut finding = finding(&documents, &ASSIGNED, "a.py", "opt", "m").help("h");
    finding.fix = Some(replace(at(&documents, "a.py", "opt"), "adam"));
    let report = Report::new(vec![finding], Vec::new(), 1, &documents);
    let plain = written(Format::Full, &report, &documents, &Options::default());
    let coloured = written(Format::Full, &report, &documents, &Options { color: true, ..Options::default() });
    assert!(!plain.contains('\x1b'));
    assert!(coloured.contains('\x1b'));
    assert_eq!(without_colours(&coloured), plain);
}

#[test]
fn a_finding_in_an_empty_file_or_at_its_end_is_shown() {
    let documents = documents(&[("a.py", ""), ("b.py", "x\n")]);
    let mut end = finding(&documents, &ASSIGNED, "b.py", "x\n", "at the end");
    end.primary.location.range.start = 2;
    insta::assert_snapshot!(full(&documents, vec![finding(&documents, &ASSIGNED, "a.py", "", "m"), end]), @"
    error[object-not-assigned-once]: m
      ┌─ a.py:1:1
      │
    1 │ 
      │ ^

    error[object-not-assigned-once]: at the end
      ┌─ b.py:2:1
      │
    2 │ 
      │ ^

    Found 2 errors in 2 files
    ");
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}
