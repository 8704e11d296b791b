//! Which definitions reach a use, and which uses a definition has.

use super::{Reaching, Snippet, check};

#[test]
fn the_latest_definition_counts() {
    check(
        "
def f():
    x = 1
    x = 2
    return x  #: x = 3
",
    );
}

#[test]
fn both_ways_of_a_branch_reach_its_join() {
    check(
        "
def f(c):
    if c:
        x = 1
    else:
        x = 2
    return x  #: x = 3 5
def g(c):
    x = 1
    if c:
        x = 2
    return x  #: x = 8 10
def h(c):
    if c:
        x = 1
    return x  #: x = 14 unbound
",
    );
}

#[test]
fn a_way_that_leaves_does_not_reach_the_join() {
    check(
        "
def f(c):
    x = 1
    if c:
        x = 2
        return x  #: x = 4
    return x  #: x = 2
",
    );
}

#[test]
fn a_loop_carries_definitions_round() {
    check(
        "
def f(items):
    x = 1
    for item in items:
        print(x)  #: x = 2 5
        x = 2
    return x  #: x = 2 5
def g(n):
    while n:
        n = n - 1  #: n = 7 9
    return n  #: n = 7 9
",
    );
}

#[test]
fn a_variable_that_every_turn_sets_first_is_not_carried() {
    check(
        "
def f(items):
    for item in items:
        x = item  #: item = 2
        print(x)  #: x = 3
    return x  #: x = 3 unbound
",
    );
}

#[test]
fn a_loop_without_end_is_left_with_what_holds_at_the_break() {
    check(
        "
def f():
    x = 1
    while True:
        x = 2
        if x:
            x = 3
            break
        x = 4
    return x  #: x = 6
",
    );
}

#[test]
fn an_exception_carries_any_definition_of_the_try() {
    check(
        "
def f():
    x = 1
    try:
        x = 2
        work()
        x = 3
    except ValueError:
        print(x)  #: x = 2 4 6
    return x  #: x = 2 4 6
",
    );
}

#[test]
fn what_is_defined_in_front_of_a_try_and_not_in_it_is_certain_in_handlers() {
    check(
        "
def f():
    x = 1
    try:
        y = 2
    except ValueError:
        print(x)  #: x = 2
        y = 3
    else:
        print(y)  #: y = 4
    print(y)  #: y = 4 7
",
    );
}

#[test]
fn else_of_a_try_is_not_covered_by_its_handlers() {
    check(
        "
def f():
    x = 1
    try:
        work()
    except ValueError:
        print(x)  #: x = 2
    else:
        x = 2
    return x  #: x = 2 8
",
    );
}

#[test]
fn finally_sees_every_stage_and_what_follows_only_the_normal_end() {
    check(
        "
def f():
    x = 1
    try:
        x = 2
    except ValueError:
        x = 3
    finally:
        print(x)  #: x = 2 4 6
    return x  #: x = 4 6
",
    );
}

#[test]
fn what_finally_sets_holds_behind_it() {
    check(
        "
def f(c):
    x = 1
    try:
        x = 2
    finally:
        x = 3
    return x  #: x = 6
",
    );
}

#[test]
fn a_break_through_finally_carries_its_definitions() {
    check(
        "
def f(items):
    x = 1
    for item in items:
        try:
            x = 2
            break
        finally:
            y = x  #: x = 2 5
    return x  #: x = 2 5
",
    );
}

#[test]
fn a_return_through_finally_does_not_reach_behind_it() {
    check(
        "
def f(c):
    x = 1
    try:
        if c:
            x = 2
            return
    finally:
        print(x)  #: x = 2 5
    return x  #: x = 2
",
    );
}

#[test]
fn definitions_of_inner_handlers_reach_outer_ones() {
    check(
        "
def f():
    x = 1
    try:
        try:
            x = 2
        except ValueError:
            x = 3
            raise
    except Exception:
        return x  #: x = 2 5 7
    return x  #: x = 5
",
    );
}

#[test]
fn short_circuit_may_skip_a_definition() {
    check(
        "
def f(a):
    c = a and (b := a)
    return b  #: b = 2 unbound
def g(a):
    c = (b := a) and a
    return b  #: b = 5
",
    );
}

#[test]
fn a_match_merges_its_cases() {
    check(
        "
def f(x):
    match x:
        case 1:
            y = 1
        case 2:
            y = 2
        case _:
            y = 3
    return y  #: y = 4 6 8
",
    );
}

#[test]
fn a_guard_that_fails_leaves_its_captures() {
    check(
        "
def f(x):
    y = 0
    match x:
        case [y] if y > 1:  #: y = 4
            return y  #: y = 4
        case _:
            return y  #: y = 2 4
",
    );
}

#[test]
fn an_import_that_fails_is_replaced() {
    check(
        "
try:
    import a
except ImportError:
    a = None
print(a)  #: a = 2 4
",
    );
}

#[test]
fn dead_code_defines_nothing_for_living() {
    check(
        "
def f():
    x = 1
    try:
        work()
        return x  #: x = 2
        x = 2
    except ValueError:
        return x  #: x = 2
",
    );
}

fn uses_of(source: &str, name: &str) -> Vec<(usize, Vec<usize>)> {
    let snippet = Snippet::new(source);
    let module = &snippet.module;
    let definitions = module.definitions.iter().enumerate();
    definitions
        .filter(|(_, definition)| module.variable_name(definition.variable) == name)
        .map(|(index, definition)| {
            let uses = Reaching::new(module, definition.scope).uses(index);
            let lines = uses.into_iter().map(|reading| snippet.line(module.uses[reading].range)).collect();
            (snippet.line(definition.range), lines)
        })
        .collect()
}

#[test]
fn a_definition_knows_its_uses() {
    let source = "def f(c):\n    x = 1\n    print(x)\n    if c:\n        x = 2\n    return x\n";
    assert_eq!(uses_of(source, "x"), [(2, vec![3, 6]), (5, vec![6])]);
}

#[test]
fn a_definition_that_nobody_reads_is_dead() {
    let source = "def f(c):\n    x = 1\n    x = 2\n    return x\n";
    assert_eq!(uses_of(source, "x"), [(2, vec![]), (3, vec![4])]);
}

#[test]
fn a_variable_is_live_round_a_loop() {
    let source = "def f(items):\n    x = 0\n    for i in items:\n        print(x)\n        x = i\n";
    assert_eq!(uses_of(source, "x"), [(2, vec![4]), (5, vec![4])]);
}

#[test]
fn a_variable_is_live_for_handlers() {
    let source = "def f():\n    x = 1\n    try:\n        x = 2\n        work()\n    except E:\n        print(x)\n    finally:\n        g(x)\n";
    assert_eq!(uses_of(source, "x"), [(2, vec![7, 9]), (4, vec![7, 9])]);
}
