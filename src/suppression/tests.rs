use super::*;
use crate::checks::tool::{INVALID_SYNTAX, UNUSED_SUPPRESSION};
use crate::finding::{Applicability, Finding, Group, Level, Rule};

static PRINTS: Rule = Rule {
    code: "HVD004",
    name: "print-with-side-effects",
    group: Group::Restriction,
    level: Level::Error,
    page: "",
};
static ASSIGNED: Rule = Rule {
    code: "HVD005",
    name: "object-not-assigned-once",
    group: Group::Restriction,
    level: Level::Error,
    page: "",
};
static KNOWN: [&Rule; 4] = [&PRINTS, &ASSIGNED, &INVALID_SYNTAX, &UNUSED_SUPPRESSION];

fn range(text: &str, needle: &str) -> TextRange {
    let start = u32::try_from(text.find(needle).expect("needle exists")).expect("small");
    TextRange::at(start.into(), u32::try_from(needle.len()).expect("small").into())
}

/// Comments as a tokenizer would give them, in texts without `#` in strings.
fn comments(text: &str) -> Vec<TextRange> {
    let mut comments = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        if let Some(hash) = line.find('#') {
            let comment = line[hash..].trim_end_matches(['\n', '\r']);
            let byte = |byte: usize| u32::try_from(byte).expect("small").into();
            comments.push(TextRange::at(byte(at + hash), byte(comment.len())));
        }
        at += line.len();
    }
    comments
}

fn parsed(text: &str, statements: &[&str]) -> Vec<Suppression> {
    let statements: Vec<TextRange> = statements.iter().map(|statement| range(text, statement)).collect();
    parse(text, &comments(text), &statements)
}

fn finding(text: &str, rule: &'static Rule, needle: &str) -> Finding {
    Finding::new(rule, rule.level, Location::new(FileId(0), range(text, needle)), "m")
}

fn applied(text: &str, statements: &[&str], findings: Vec<Finding>) -> Applied {
    let suppressions = Suppressions::from([(FileId(0), parsed(text, statements))]);
    apply(findings, &suppressions, Checks { known: &KNOWN, ran: &|_| true })
}

/// Whether a finding at `needle` is suppressed, and no suppression complained about.
fn suppresses(text: &str, statements: &[&str], needle: &str) -> bool {
    let applied = applied(text, statements, vec![finding(text, &PRINTS, needle)]);
    assert_eq!(applied.kept.is_empty(), applied.unused.is_empty(), "either it suppresses or it is unused");
    applied.kept.is_empty()
}

/// What is complained about, and the text after all fixes.
fn unused(text: &str, statements: &[&str], findings: Vec<Finding>) -> (Vec<String>, String) {
    let unused = applied(text, statements, findings).unused;
    let mut fixed = text.to_owned();
    let mut edits: Vec<_> = unused.iter().filter_map(|finding| finding.fix.as_ref()).collect();
    edits.reverse();
    for fix in edits {
        assert_eq!(fix.applicability, Applicability::Safe);
        let range = fix.edits[0].location.range;
        fixed.replace_range(range.start as usize..range.end as usize, &fix.edits[0].content);
    }
    (unused.into_iter().map(|finding| finding.message).collect(), fixed)
}

const IGNORE: &str = "# hvdlint: ignore[print-with-side-effects] -- why";

#[test]
fn a_comment_concerns_the_statement_whose_first_or_last_line_it_ends() {
    assert!(suppresses(&format!("one(x)  {IGNORE}\n"), &["one(x)"], "x"));
    assert!(suppresses(
        &format!("one(  {IGNORE}\n    x,\n)\n"),
        &[&format!("one(  {IGNORE}\n    x,\n)")],
        "x"
    ));
    assert!(suppresses(&format!("one(\n    x,\n)  {IGNORE}\n"), &["one(\n    x,\n)"], "x"));
    assert!(suppresses(&format!("one(); two()  {IGNORE}"), &["one()", "two()"], "two()"), "both on its line");
}

#[test]
fn a_comment_alone_concerns_the_statement_below() {
    assert!(suppresses(&format!("{IGNORE}\none()\n"), &["one()"], "one"));
    assert!(suppresses(&format!("if a:\r\n    {IGNORE}\r\n    one()\r\n"), &["if a:", "one()"], "one"));
    assert!(
        suppresses(&format!("{IGNORE}\n# more\none()\n"), &["one()"], "one"),
        "other comments may follow"
    );
    let decorated = "@a\n@b(x)\ndef f():";
    assert!(suppresses(&format!("{IGNORE}\n{decorated}\n    pass\n"), &[decorated, "pass"], "x"));
}

#[test]
fn a_comment_does_not_concern_its_neighbours() {
    let text = format!("one()  {IGNORE}\ntwo()\n");
    assert!(!suppresses(&text, &["one()", "two()"], "two"));
    let text = format!("for x in y:  {IGNORE}\n    two()\n");
    assert!(!suppresses(&text, &["for x in y:", "two()"], "two"), "of a compound statement, only the header");
    let text = format!("{IGNORE}\n\none()\n");
    assert!(!suppresses(&text, &["one()"], "one"), "a blank line lies between");
    let text = format!("one(\n    x,  {IGNORE}\n)\n");
    assert!(!suppresses(&text, &[&format!("one(\n    x,  {IGNORE}\n)")], "x"), "a line within");
}

#[test]
fn checks_are_named_by_name_or_code_and_no_other_is_suppressed() {
    let text = "one()  # hvdlint: ignore[HVD004,object-not-assigned-once] -- why";
    let both = vec![
        finding(text, &PRINTS, "one"),
        finding(text, &ASSIGNED, "one"),
        finding(text, &INVALID_SYNTAX, "one"),
    ];
    let applied = applied(text, &["one()"], both);
    assert_eq!(applied.suppressed.len(), 2);
    assert_eq!(applied.suppressed[0].1, "why");
    assert_eq!(applied.kept.len(), 1);
    assert!(applied.unused.is_empty());
}

#[test]
fn a_file_form_concerns_the_whole_file() {
    let text = "one()\n# hvdlint: ignore-file[HVD004] -- generated\ntwo()\n";
    assert!(suppresses(text, &["one()", "two()"], "one"));
}

#[test]
fn comments_of_several_tools_share_a_line() {
    let text = "one()  # noqa: E1 # hvdlint: ignore[HVD004] -- see #12 # type: ignore\n";
    let suppressions = parsed(text, &["one()"]);
    assert_eq!(suppressions[0].reason, "see #12");
    assert!(suppresses(text, &["one()"], "one"));
    let (_, fixed) = unused(text, &["one()"], Vec::new());
    assert_eq!(fixed, "one()  # noqa: E1 # type: ignore\n");
    let (_, fixed) = unused("one()  #hvdlint:ignore[HVD004] -- a  # noqa\n", &["one()"], Vec::new());
    assert_eq!(fixed, "one()  # noqa\n");
}

#[test]
fn prose_about_the_tool_is_no_suppression() {
    assert!(parsed("x  # see hvdlint: ignore[HVD004] -- r\n# hvdlint is a tool\n", &["x"]).is_empty());
}

#[test]
fn what_suppresses_nothing_is_reported_and_deleted() {
    let (messages, fixed) = unused(
        "one()  # hvdlint: ignore[HVD004] -- a\r\n\t# hvdlint: ignore[HVD004, HVD005] -- b\r\ntwo()\r\n",
        &["one()", "two()"],
        Vec::new(),
    );
    assert_eq!(
        messages,
        ["there is nothing to suppress for `HVD004`", "there is nothing to suppress for `HVD004`, `HVD005`"]
    );
    assert_eq!(fixed, "one()\r\ntwo()\r\n");
}

#[test]
fn only_the_unused_name_leaves_the_list() {
    let text = "one()  # hvdlint: ignore[HVD004, HVD005 ] -- a";
    let (messages, fixed) = unused(text, &["one()"], vec![finding(text, &ASSIGNED, "one")]);
    assert_eq!(messages, ["there is nothing to suppress for `HVD004`"]);
    assert_eq!(fixed, "one()  # hvdlint: ignore[HVD005 ] -- a");
}

#[test]
fn a_check_that_did_not_run_is_not_unused() {
    let text = "one()  # hvdlint: ignore[HVD004] -- a";
    let suppressions = Suppressions::from([(FileId(0), parsed(text, &["one()"]))]);
    let ran = |rule: &Rule| rule.code != "HVD004";
    assert!(apply(Vec::new(), &suppressions, Checks { known: &KNOWN, ran: &ran }).unused.is_empty());
    let ran = |rule: &Rule| rule.code == "HVD004";
    assert!(apply(Vec::new(), &suppressions, Checks { known: &KNOWN, ran: &ran }).unused.is_empty());
}

#[test]
fn a_faulty_suppression_says_what_is_wrong_and_has_no_effect() {
    for (comment, message) in [
        ("# hvdlint: ignore", "the suppression names no check"),
        ("# hvdlint: ignore -- why", "the suppression names no check"),
        ("# hvdlint: ignore--why", "the suppression names no check"),
        ("# hvdlint: ignore[] -- why", "the suppression names no check"),
        ("# hvdlint: ignore[HVD004", "the suppression's list is not closed"),
        ("# hvdlint: ignore[HVD004]", "the suppression gives no reason"),
        ("# hvdlint: ignore[HVD004] --  ", "the suppression gives no reason"),
        ("# hvdlint: ignore[HVD004] because", "the suppression gives no reason"),
        (
            "# hvdlint: disable[HVD004] -- why",
            "the directive is neither `ignore[...]` nor `ignore-file[...]`",
        ),
    ] {
        let text = format!("one()  {comment}\n");
        let applied = applied(&text, &["one()"], vec![finding(&text, &PRINTS, "one")]);
        assert_eq!(applied.kept.len(), 1, "{comment}");
        assert_eq!(applied.unused.len(), 1, "{comment}");
        assert_eq!(applied.unused[0].message, message, "{comment}");
        assert!(applied.unused[0].fix.is_none(), "nobody knows what was meant by {comment}");
    }
    let (messages, fixed) = unused(&format!("one()\n{IGNORE}\n"), &["one()"], Vec::new());
    assert_eq!(messages, ["the suppression belongs to no statement"]);
    assert_eq!(fixed, "one()\n");
}

#[test]
fn an_unknown_name_is_reported_where_it_stands_and_the_others_work() {
    let text = "one()  # hvdlint: ignore[print-with-side-efects, HVD004] -- a";
    let applied = applied(text, &["one()"], vec![finding(text, &PRINTS, "one")]);
    assert!(applied.kept.is_empty());
    assert_eq!(
        applied.unused[0].message,
        "there is no check `print-with-side-efects`; did you mean `print-with-side-effects`?"
    );
    assert_eq!(
        applied.unused[0].primary.location,
        Location::new(FileId(0), range(text, "print-with-side-efects"))
    );
    assert_eq!(applied.unused.len(), 1);
}
