//! Which scope owns a name, as Python has it.

use super::{ScopeKind, Snippet, check};

#[test]
fn a_function_reads_what_the_module_binds_at_any_time() {
    check(
        "
x = 1
def f():
    return x  #: x = cell 1 4
x = f()
",
    );
}

#[test]
fn a_name_that_a_function_binds_anywhere_is_local_everywhere_in_it() {
    check(
        "
x = 1
def f():
    print(x)  #: x = unbound
    x = 2
    print(x)  #: x = 4
",
    );
}

#[test]
fn a_comprehension_has_its_own_scope() {
    check(
        "
def f(items):
    x = 1
    y = [x for x in items]  #: x = 3 ; items = 1
    return x  #: x = 2
",
    );
}

#[test]
fn the_first_iterable_of_a_comprehension_is_evaluated_around_it() {
    check(
        "
def f(x):
    return [
        x  #: x = 4
        for x
        in x  #: x = 1
    ]
",
    );
}

#[test]
fn later_clauses_of_a_comprehension_see_earlier_targets() {
    check(
        "
def f(rows):
    return [
        (row, cell)  #: row = 4 ; cell = 5
        for row in rows  #: rows = 1
        for cell in row  #: row = 4
        if cell  #: cell = 5
    ]
",
    );
}

#[test]
fn a_lambda_in_a_comprehension_captures_its_variable() {
    check(
        "
def f(items):
    return [lambda: item for item in items]  #: item = cell 2
",
    );
}

#[test]
fn methods_do_not_see_the_names_of_their_class() {
    check(
        "
x = 1
class A:
    x = 2
    y = x  #: x = 3
    def f(self):
        return x  #: x = cell 1
",
    );
}

#[test]
fn a_comprehension_in_a_class_body_sees_class_names_only_in_its_first_iterable() {
    check(
        "
n = 1
class A:
    n = 2
    a = [n for _ in range(3)]  #: n = cell 1
    b = [0 for _ in range(n)]  #: n = 3
",
    );
}

#[test]
fn a_class_body_reads_a_name_of_the_module_before_it_binds_its_own() {
    check(
        "
x = 1
class A:
    y = x  #: x = cell 1
    x = 2
",
    );
}

#[test]
fn a_class_body_in_a_function_looks_past_the_function_for_a_name_that_it_binds() {
    check(
        "
x = 1
def f():
    x = 2
    class A:
        x = x  #: x = cell 1
    class B:
        y = x  #: x = cell 3
",
    );
}

#[test]
fn global_binds_the_variable_of_the_module() {
    check(
        "
count = 0
def f():
    global count
    count = 1
    return count  #: count = cell 1 4
def g():
    return count  #: count = cell 1 4
print(count)  #: count = cell 1 4
",
    );
}

#[test]
fn global_makes_a_variable_that_the_module_itself_never_binds() {
    check(
        "
def f():
    global made
    made = 1
def g():
    return made  #: made = cell 3
",
    );
}

#[test]
fn an_import_may_stand_in_front_of_global() {
    check(
        "
def f():
    import math
    global math
    return math  #: math = cell 2
def g():
    return math  #: math = cell 2
",
    );
}

#[test]
fn global_in_a_class_body_is_for_the_body_alone() {
    check(
        "
x = 1
def f():
    x = 2
    class A:
        global x
        y = x  #: x = cell 1
        def m(self):
            return x  #: x = cell 3
",
    );
}

#[test]
fn nonlocal_binds_the_variable_of_the_nearest_function_around() {
    check(
        "
x = 1
def f():
    x = 2
    def g():
        nonlocal x
        x = 3
        return x  #: x = cell 3 6
    g()
    return x  #: x = cell 3 6
print(x)  #: x = 1
",
    );
}

#[test]
fn nonlocal_passes_functions_that_do_not_bind_the_name() {
    check(
        "
def f():
    n = 0
    def g():
        def h():
            nonlocal n
            n += 1  #: n = cell 2 6
        return h
    return n  #: n = cell 2 6
",
    );
}

#[test]
fn a_function_in_a_function_reads_the_nearest_binding() {
    check(
        "
def f(x):
    def g(x):
        def h():
            return x  #: x = cell 2
        return h
    return g
",
    );
}

#[test]
fn an_assignment_expression_in_a_comprehension_binds_around_it() {
    check(
        "
def f(items):
    found = [last := item for item in items]  #: item = 2
    return last  #: last = 2 unbound
",
    );
}

#[test]
fn an_assignment_expression_in_a_nested_comprehension_binds_in_the_function() {
    check(
        "
def f(rows):
    total = [[cell := c for c in row] for row in rows]
    return cell  #: cell = 2 unbound
",
    );
}

#[test]
fn an_assignment_expression_obeys_global() {
    check(
        "
def f():
    global seen
    [seen := n for n in range(3)]
def g():
    return seen  #: seen = cell 3
",
    );
}

#[test]
fn del_unbinds() {
    check(
        "
def f():
    x = 1
    del x  #: x = 2
    print(x)  #: x = unbound
    x = 2
    print(x)  #: x = 5
",
    );
}

#[test]
fn the_name_of_a_caught_exception_is_unbound_behind_its_clause() {
    check(
        "
def f():
    error = 0
    try:
        work()
    except ValueError as error:
        print(error)  #: error = 5
    return error  #: error = 2 unbound
",
    );
}

#[test]
fn a_handler_that_returns_leaves_the_name_alone_elsewhere() {
    check(
        "
def f():
    error = 0
    try:
        work()
    except ValueError as error:
        return error  #: error = 5
    return error  #: error = 2
",
    );
}

#[test]
fn patterns_bind_their_captures() {
    check(
        "
def f(command):
    match command:
        case [first, *rest]:
            print(first, rest)  #: first = 3 ; rest = 3
        case {'key': value, **others}:
            print(value, others)  #: value = 5 ; others = 5
        case Point(x=a) as point:
            print(a, point)  #: a = 7 ; point = 7
        case other:
            print(other)  #: other = 9
",
    );
}

#[test]
fn each_alternative_of_a_pattern_binds_the_name() {
    check(
        "
def f(command):
    match command:
        case [
            x
        ] | (
            x, 1
        ):
            print(x)  #: x = 4 6
",
    );
}

#[test]
fn defaults_are_evaluated_around_the_function() {
    check(
        "
def f(n):
    g = lambda n=n: n  #: n = 1
    def h(
        n=n,  #: n = 1
    ):
        return n  #: n = 4
    return g, h
",
    );
}

#[test]
fn a_lambdas_parameter_hides_the_variable_around() {
    check(
        "
def f(x):
    return lambda x: (
        x  #: x = 2
    )
",
    );
}

#[test]
fn decorators_and_bases_are_evaluated_around() {
    check(
        "
def wrap(f): return f
class Base: pass
@wrap  #: wrap = 1
class A(Base):  #: Base = 2
    Base = 1
",
    );
}

#[test]
fn a_function_may_call_itself() {
    check(
        "
def f():
    return f  #: f = cell 1
def outer():
    def inner():
        return inner  #: inner = cell 4
    return inner  #: inner = 4
",
    );
}

#[test]
fn builtins_are_free_until_they_are_shadowed() {
    check(
        "
a = len  #: len = free
def f():
    return print  #: print = free
def g(list):
    return list  #: list = 4
",
    );
}

#[test]
fn a_builtin_that_the_module_binds_later_is_free_before() {
    check(
        "
a = map  #: map = free
map = 1
b = map  #: map = 2
def f():
    return map  #: map = cell 2
",
    );
}

#[test]
fn a_class_may_shadow_a_builtin_for_its_body_only() {
    check(
        "
class A:
    a = id  #: id = free
    id = 1
    b = id  #: id = 3
    def f(self):
        return id  #: id = free
",
    );
}

#[test]
fn type_parameters_are_seen_by_signature_and_body_only() {
    check(
        "
T = 1
def f[T](x: T) -> T:  #: T = 2
    return T  #: T = cell 2
class A[U]:
    x: U  #: U = cell 4
    def m(self):
        return U  #: U = cell 4
print(T)  #: T = 1
",
    );
}

#[test]
fn the_signature_of_a_generic_method_sees_its_class() {
    check(
        "
class A:
    Item = 1
    def f[T](
        self,
        x: Item,  #: Item = 2
    ): pass
",
    );
}

#[test]
fn an_annotation_alone_makes_a_name_local() {
    check(
        "
x = 1
def f():
    x: int
    return x  #: x = unbound
",
    );
}

#[test]
fn imports_bind_their_first_part_or_their_alias() {
    check(
        "
import a.b.c
import d.e as f
from g import h as i, j
print(a)  #: a = 1
print(f)  #: f = 2
print(d)  #: d = free
print(i, j)  #: i = 3 ; j = 3
print(h)  #: h = free
",
    );
}

#[test]
fn several_targets_and_starred_ones_are_bound() {
    check(
        "
def f(values):
    a = b = values
    (c, [d, *e]), g = values
    return (a, b, c, d, e, g)  #: a = 2 ; b = 2 ; c = 3 ; d = 3 ; e = 3 ; g = 3
",
    );
}

#[test]
fn values_exchanged_in_one_assignment_are_those_before() {
    check(
        "
def f(a, b):
    a, b = (
        b,  #: b = 1
        a,  #: a = 1
    )
    return a, b  #: a = 2 ; b = 2
",
    );
}

#[test]
fn loops_and_context_managers_bind() {
    check(
        "
def f(items):
    for i, (j, k) in items:
        print(i, j, k)  #: i = 2 ; j = 2 ; k = 2
    with open(i) as one, open(one) as (two, three):  #: i = 2 unbound ; one = 4
        print(two, three)  #: two = 4 ; three = 4
",
    );
}

#[test]
fn the_target_of_an_augmented_assignment_is_evaluated_once() {
    let snippet = Snippet::new("get().count += 1\nget()[key()] += 1\nget()[1:] += [1]\n");
    assert_eq!(snippet.module.calls.len(), 4);
    assert_eq!(snippet.module.stores.len(), 3);
}

#[test]
fn a_module_that_never_ends_still_has_its_names() {
    for end in ["raise SystemExit", "while True:\n    pass"] {
        let source = format!("def main():\n    pass\nif main():\n    x = 1\nelse:\n    x = 2\n{end}\n");
        let snippet = Snippet::new(&source);
        let exports = &snippet.module.scopes[0].exports;
        let names: Vec<&str> = exports.keys().map(|&name| snippet.module.names.text(name)).collect();
        assert!(names.contains(&"main") && names.contains(&"x"), "{names:?}");
    }
}

#[test]
fn what_is_deleted_is_not_exported() {
    let snippet = Snippet::new("import os\nx = os\ndel os\n");
    let exports = &snippet.module.scopes[0].exports;
    let names: Vec<&str> = exports.keys().map(|&name| snippet.module.names.text(name)).collect();
    assert_eq!(names, ["x"]);
}

#[test]
fn scopes_have_qualified_names() {
    let snippet = Snippet::new(
        "class A:\n    def f(self):\n        def g(): pass\n        return lambda: (lambda: 1)\nx = [lambda: 1, lambda: 2]\n",
    );
    let names: Vec<&str> = snippet.module.scopes.iter().map(|scope| scope.qualified_name.as_str()).collect();
    assert_eq!(
        names,
        ["", "A", "A.f", "A.f.g", "A.f.<lambda1>", "A.f.<lambda1>.<lambda1>", "<lambda1>", "<lambda2>"]
    );
    assert!(matches!(snippet.module.scopes[1].kind, ScopeKind::Class(_)));
}

#[test]
fn generators_are_known_by_a_yield_that_is_never_reached() {
    let snippet = Snippet::new("def f():\n    return\n    yield\ndef g():\n    return [1]\n");
    assert!(snippet.module.functions[0].generator);
    assert!(!snippet.module.functions[1].generator);
}

#[test]
fn a_return_that_is_never_reached_returns_nothing() {
    let snippet = Snippet::new("def f(a, b):\n    return a\n    return b\n");
    assert_eq!(snippet.module.functions[0].returns.len(), 1);
}
