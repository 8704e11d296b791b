//! Each verb on the layouts that it meets.

use std::sync::Arc;

use super::text::{Lexed, Text};
use crate::finding::Edit;
use crate::project::FileId;
use crate::semantic::{self, Module, StatementId};

/// The text after the edits that `make` gives.
fn rewritten(text: &str, make: impl Fn(Text<'_>) -> Vec<Edit>) -> String {
    let module = semantic::analyse(text);
    let file = Lexed::new(Arc::from(text));
    let mut edits = make(Text { file: FileId(0), module: &module, lexed: &file, moved: &[] });
    edits.sort_by_key(|edit| (edit.location.range.start, edit.location.range.end));
    let mut result = text.to_owned();
    for edit in edits.iter().rev() {
        result.replace_range(
            edit.location.range.start as usize..edit.location.range.end as usize,
            &edit.content,
        );
    }
    result
}

/// The `n`th statement that is written as `code`.
fn statement(source: &Text<'_>, code: &str) -> StatementId {
    let ids = (0..source.module.statements.len()).map(StatementId::new);
    let mut found = ids.filter(|&id| source.slice(source.module.statement(id).range).starts_with(code));
    found.next().expect("the test names a statement")
}

fn call(module: &Module) -> &semantic::Call {
    &module.calls[0]
}

const GUARD: &str = "if hvd.rank() == 0:";

fn guarded(text: &str, code: &str) -> String {
    rewritten(text, |source| {
        let own = statement(&source, code);
        source.guard(own, own, GUARD)
    })
}

#[test]
fn a_statement_is_put_under_a_guard() {
    assert_eq!(guarded("print(a)\n", "print"), "if hvd.rank() == 0:\n    print(a)\n");
    assert_eq!(
        guarded("if x:\n\tprint(a,\n\t\tb)  # c\n", "print"),
        "if x:\n\tif hvd.rank() == 0:\n\t\tprint(a,\n\t\t\tb)  # c\n"
    );
}

#[test]
fn strings_over_several_lines_stay_as_they_are() {
    assert_eq!(
        guarded("print('''a\n  b\n''',\n  c)\n", "print"),
        "if hvd.rank() == 0:\n    print('''a\n  b\n''',\n      c)\n"
    );
}

#[test]
fn lines_with_several_statements_are_unfolded() {
    assert_eq!(guarded("a = 1; print(a)\n", "print"), "a = 1\nif hvd.rank() == 0:\n    print(a)\n");
    assert_eq!(
        guarded("if x: print(a); b = 2\n", "print"),
        "if x:\n    if hvd.rank() == 0:\n        print(a)\n    b = 2\n"
    );
    assert_eq!(
        guarded("for a in b:\n  if x: print(a)\n  else: c()\n", "print"),
        "for a in b:\n  if x:\n    if hvd.rank() == 0:\n      print(a)\n  else: c()\n"
    );
}

#[test]
fn line_ends_are_kept() {
    assert_eq!(guarded("x\r\nprint(a)\r\n", "print"), "x\r\nif hvd.rank() == 0:\r\n    print(a)\r\n");
}

#[test]
fn a_guard_can_have_another_case() {
    let text = rewritten("if x:\n    path = save()  # here\ny\n", |source| {
        let own = statement(&source, "path");
        source.guard_else(own, own, GUARD, &["path = None".to_owned()])
    });
    assert_eq!(
        text,
        "if x:\n    if hvd.rank() == 0:\n        path = save()  # here\n    else:\n        path = None\ny\n"
    );
}

#[test]
fn lines_come_behind_a_statement_and_its_comments() {
    let behind = |text: &str, code: &str| {
        rewritten(text, |source| source.after(statement(&source, code), &["x = 1", "if x:", "    y"]))
    };
    assert_eq!(behind("a  # b\nc\n", "a"), "a  # b\nx = 1\nif x:\n    y\nc\n");
    assert_eq!(behind("a; c", "a"), "a\nx = 1\nif x:\n    y\nc");
    assert_eq!(behind("a", "a"), "a\nx = 1\nif x:\n    y");
    assert_eq!(
        behind("with a:\n    b\n    # c\n# d\ne\n", "with"),
        "with a:\n    b\n    # c\nx = 1\nif x:\n    y\n# d\ne\n"
    );
    assert_eq!(behind("with a: b\n", "with"), "with a: b\nx = 1\nif x:\n    y\n");
}

#[test]
fn lines_come_in_front_of_a_statement() {
    let before = |text: &str, code: &str| {
        rewritten(text, |source| source.before(statement(&source, code), &["x = 1"]))
    };
    assert_eq!(before("if a:\n  # b\n  c\n", "c"), "if a:\n  # b\n  x = 1\n  c\n");
    assert_eq!(before("if a: c\n", "c"), "if a:\n    x = 1\n    c\n");
    assert_eq!(before("@a\ndef f(): pass\n", "@a"), "x = 1\n@a\ndef f(): pass\n");
}

#[test]
fn a_removed_statement_leaves_a_valid_suite_and_its_comment() {
    let removed = |text: &str, code: &str| rewritten(text, |source| source.remove(statement(&source, code)));
    assert_eq!(removed("a\nb\nc\n", "b"), "a\nc\n");
    assert_eq!(removed("a\nb  # why\nc\n", "b"), "a\n# why\nc\n");
    assert_eq!(removed("a; b; c\n", "b"), "a; c\n");
    assert_eq!(removed("a; b\n", "b"), "a\n");
    assert_eq!(removed("if x:\n    b\nelse:\n    c\n", "c"), "if x:\n    b\nelse:\n    pass\n");
    assert_eq!(removed("if x:\n    b\n    c\n", "c"), "if x:\n    b\n");
}

#[test]
fn a_line_comes_behind_the_docstring() {
    let begun =
        |text: &str| rewritten(text, |source| source.at_beginning_of(statement(&source, "def"), "global g"));
    assert_eq!(begun("def f():\n    '''d'''\n    a\n"), "def f():\n    '''d'''\n    global g\n    a\n");
    assert_eq!(begun("def f(): return 1\n"), "def f():\n    global g\n    return 1\n");
}

#[test]
fn lines_above_a_statement_leave_it_its_comments() {
    let above =
        |text: &str| rewritten(text, |source| source.above(statement(&source, "for"), &["flag = False"]));
    assert_eq!(
        above("a\n# one\n# two\nfor b in c:\n    d\n"),
        "a\nflag = False\n# one\n# two\nfor b in c:\n    d\n"
    );
    assert_eq!(
        above("if a:\r\n  # one\r\n  for b in c: d\r\n"),
        "if a:\r\n  flag = False\r\n  # one\r\n  for b in c: d\r\n"
    );
    // Of what came before, or no comments.
    assert_eq!(above("# one\n\nfor b in c: d\n"), "# one\n\nflag = False\nfor b in c: d\n");
    assert_eq!(
        above("a = '''\n# one'''\nfor b in c: d\n"),
        "a = '''\n# one'''\nflag = False\nfor b in c: d\n"
    );
    assert_eq!(
        above("if a:\n    a\n    # one\nfor b in c: d\n"),
        "if a:\n    a\n    # one\nflag = False\nfor b in c: d\n"
    );
}

#[test]
fn the_step_of_indentation_is_that_of_the_place() {
    assert_eq!(
        guarded("def f():\n  return 1\n\ndef g():\n    print(a)\n", "print"),
        "def f():\n  return 1\n\ndef g():\n    if hvd.rank() == 0:\n        print(a)\n"
    );
}

#[test]
fn what_leaves_a_block_takes_its_comments_along() {
    let dedented = rewritten("with a:\n    b\n    # why\n    c\n", |source| {
        let (block, moved) = (statement(&source, "with"), statement(&source, "c"));
        source.dedent(block, &[moved], &["d".to_owned()]).expect("it stands on a line of its own")
    });
    assert_eq!(dedented, "with a:\n    b\nd\n# why\nc\n");
}

#[test]
fn expressions_are_scaled() {
    let scaled = |text: &str| {
        rewritten(text, |source| source.multiply(source.module.statements[0].range, "hvd.size()"))
    };
    assert_eq!(scaled("0.1"), "0.1 * hvd.size()");
    assert_eq!(scaled("-a.b[c + d] / 2"), "-a.b[c + d] / 2 * hvd.size()");
    assert_eq!(scaled("a + b"), "(a + b) * hvd.size()");
    assert_eq!(scaled("a if b else c"), "(a if b else c) * hvd.size()");
    assert_eq!(scaled("lambda: 1"), "(lambda: 1) * hvd.size()");
}

#[test]
fn displays_have_elements() {
    let elements = |text: &str| {
        rewritten(text, |source| {
            let range = source.module.statements[0].range;
            let elements = source.elements(range).unwrap_or_default();
            let texts: Vec<&str> = elements.into_iter().map(|own| source.slice(own)).collect();
            vec![source.replace(range, texts.join("; "))]
        })
    };
    assert_eq!(elements("[a, b.c, f(d, e)[1, 2], {3: 4, 5: 6}]"), "a; b.c; f(d, e)[1, 2]; {3: 4, 5: 6}");
    assert_eq!(elements("(\n    a,  # first, of two\n    b,\n)"), "a; b");
    assert_eq!(elements("[]"), "");
    assert_eq!(elements("[a] + [b]"), "");
    assert_eq!(elements("a[b, c]"), "");
}

#[test]
fn arguments_are_added() {
    let added =
        |text: &str| rewritten(text, |source| vec![source.append_argument(call(source.module), "k=1")]);
    assert_eq!(added("f()"), "f(k=1)");
    assert_eq!(added("f(a)"), "f(a, k=1)");
    assert_eq!(added("f((a))"), "f((a), k=1)");
    assert_eq!(added("f(a, )"), "f(a, k=1, )");
    assert_eq!(added("f(\n    a,  # b\n)"), "f(\n    a, k=1,  # b\n)");
    assert_eq!(added("f(\n    a,\n    b=2,\n)"), "f(\n    a,\n    b=2,\n    k=1,\n)");
    assert_eq!(added("f(a,\n  b=g(\n    c))"), "f(a,\n  b=g(\n    c),\n  k=1)");
    assert_eq!(added("f(a,\n  *b)"), "f(a,\n  *b, k=1)");
}
