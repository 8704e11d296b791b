//! Where control can go, and what decides it.

use super::{Snippet, check};
use crate::semantic::{BlockId, BranchKind};

#[test]
fn what_follows_an_exit_is_dead() {
    check(
        "
def f(x):
    if x:
        return 1
        x = 2  #: dead
    else:
        raise ValueError
    x = 3  #: dead
def g(items):
    for item in items:
        continue
        item = 1  #: dead
    while items:
        break
        items = 1  #: dead
    items = 2  #: alive
",
    );
}

#[test]
fn an_early_exit_makes_the_rest_depend_on_its_condition() {
    check(
        "
def f(x):
    a = 1  #: alive
    if x:
        return a  #: if 3
    b = 1  #: if 3
",
    );
}

#[test]
fn both_arms_of_an_if_join() {
    check(
        "
def f(x, y):
    if x:
        a = 1  #: if 2
    elif y:
        a = 2  #: if 2 if 4
    else:
        a = 3  #: if 2 if 4
    b = 1  #: alive
",
    );
}

#[test]
fn a_loops_body_depends_on_its_header_and_what_follows_does_not() {
    check(
        "
def f(items, n):
    for item in items:
        a = 1  #: for 2
        if item:
            b = 1  #: if 4 for 2
    while n:
        n = 0  #: while 6
    c = 1  #: alive
",
    );
}

#[test]
fn a_break_decides_on_further_turns() {
    check(
        "
def f(items):
    for item in items:
        if item:
            break
        a = 1  #: if 3 for 2
    b = 1  #: alive
",
    );
}

#[test]
fn else_of_a_loop_runs_without_a_break() {
    check(
        "
def f(items):
    for item in items:
        if item:
            break
    else:
        a = 1  #: if 3 for 2
    while items:
        items = 1
    else:
        b = 1  #: alive
    for item in items:
        return
    else:
        c = 1  #: for 11
    d = 1  #: for 11
",
    );
}

#[test]
fn a_loop_without_end_is_left_by_break_only() {
    check(
        "
def f(x):
    while True:
        a = 1  #: if 4
        if x:
            break
    b = 1  #: alive
def g(x):
    while 1:
        if x:
            return
    else:
        c = 1  #: dead
    d = 1  #: dead
def h():
    while True:
        e = 1  #: alive
",
    );
}

#[test]
fn a_try_decides_on_handlers_and_else() {
    check(
        "
def f():
    try:
        a = 1  #: try 2
    except ValueError:
        b = 1  #: try 2
    else:
        c = 1  #: try 2
    finally:
        d = 1  #: alive
    e = 1  #: alive
",
    );
}

#[test]
fn handlers_that_return_make_the_rest_depend_on_the_try() {
    check(
        "
def f():
    try:
        a = 1  #: try 2
    except ValueError:
        return
    b = 1  #: try 2
",
    );
}

#[test]
fn else_of_a_try_whose_body_returns_is_dead() {
    check(
        "
def f():
    try:
        return 1
    except ValueError:
        a = 1  #: try 2
    else:
        def inner(): pass  #: dead
    b = 1  #: try 2
",
    );
}

#[test]
fn a_finally_runs_however_the_body_ends() {
    check(
        "
def f(x):
    try:
        return x
    finally:
        a = 1  #: try 2
    b = 1  #: dead
def g(items):
    for item in items:
        try:
            pass
        finally:
            c = 1  #: for 8
        d = 1  #: for 8
    e = 1  #: alive
",
    );
}

/// It always runs, but by one of several ways, which the graph does not keep apart: the dependence on what
/// decides between them is kept rather than lost for what follows.
#[test]
fn a_finally_depends_on_what_leaves_its_try_early() {
    check(
        "
def f(items):
    for item in items:
        try:
            if item:
                break
        finally:
            c = 1  #: if 4 for 2 try 3
        d = 1  #: if 4 for 2 try 3
    e = 1  #: alive
",
    );
}

#[test]
fn a_break_through_finally_leaves_the_loop() {
    check(
        "
def f():
    while True:
        try:
            break
        finally:
            a = 1  #: try 3
    b = 1  #: alive
def g():
    while True:
        try:
            try:
                break
            finally:
                c = 1  #: try 10 try 11
        finally:
            d = 1  #: try 10
    e = 1  #: alive
",
    );
}

#[test]
fn a_return_in_finally_wins() {
    check(
        "
def f():
    try:
        a = 1
    finally:
        return 1
    b = 1  #: dead
",
    );
}

#[test]
fn a_break_in_finally_leaves_the_loop() {
    check(
        "
def f():
    while True:
        try:
            return 1
        finally:
            break
    a = 1  #: try 3
",
    );
}

#[test]
fn all_handlers_returning_and_body_returning_end_the_function() {
    check(
        "
def f():
    try:
        return 1
    except ValueError:
        return 2
    except TypeError:
        raise
    a = 1  #: dead
",
    );
}

#[test]
fn a_with_statement_always_runs_its_body() {
    check(
        "
def f(m):
    with m:
        a = 1  #: alive
    b = 1  #: alive
async def g(m, items):
    async with m as x:
        a = 1  #: alive
    async for item in items:
        b = 1  #: for 8
    return [c async for c in items]  #: alive
",
    );
}

#[test]
fn cases_are_tried_one_after_the_other() {
    check(
        "
def f(x):
    match x:
        case 1:
            a = 1  #: match 2
        case 2:
            b = 1  #: match 2
    c = 1  #: alive
",
    );
}

#[test]
fn an_irrefutable_case_is_the_last() {
    check(
        "
def f(x):
    match x:
        case 1:
            return 1
        case _:
            return 2
    a = 1  #: dead
def g(x):
    match x:
        case 1:
            return 1
        case y if y:
            return 2
    a = 1  #: match 9 if 12
",
    );
}

#[test]
fn a_guard_is_a_condition() {
    check(
        "
def f(x):
    match x:
        case [a] if a:
            b = 1  #: match 2 if 3
        case _:
            c = 1  #: match 2 if 3
",
    );
}

#[test]
fn a_block_dominates_what_control_comes_to_only_through_it() {
    let snippet = Snippet::new(
        "def f(a):\n    for x in a:\n        if x:\n            break\n        a.b()\n    a.c()\n",
    );
    let calls = &snippet.module.calls;
    let flow = &snippet.module.scope(calls[0].scope).flow;
    let dominance = flow.dominance();
    let header = BlockId::new(
        flow.blocks
            .iter()
            .position(|block| block.branch.is_some_and(|branch| branch.kind == BranchKind::For))
            .expect("there is a loop"),
    );
    let (inside, behind) = (calls[0].block, calls[1].block);
    assert!(dominance.dominates(header, inside) && dominance.dominates(header, behind));
    assert!(dominance.dominates(header, header));
    assert!(!dominance.dominates(inside, behind) && !dominance.dominates(inside, header));
}

#[test]
fn operands_that_may_be_skipped_depend_on_those_before() {
    let snippet = Snippet::new(
        "def f(a):\n    a.b and a.c() or a.d()\n    a.e() if a else a.f()\n    [a.g() for x in a if x]\n",
    );
    let depends: Vec<usize> = snippet
        .module
        .calls
        .iter()
        .map(|call| snippet.module.scope(call.scope).flow.control_dependence().of(call.block).len())
        .collect();
    assert_eq!(depends, [1, 1, 1, 1, 2]);
}

#[test]
fn a_function_starts_anew() {
    check(
        "
def f(x):
    if x:
        def g():
            a = 1  #: alive
        class A:
            b = 1  #: alive
",
    );
}

#[test]
fn module_code_branches_too() {
    check(
        "
import sys
if sys.argv:
    a = 1  #: if 2
try:
    import fast  #: try 4
except ImportError:
    fast = None  #: try 4
print(fast)  #: fast = 5 7
",
    );
}
