//! Trees: made from templates, walked suite by suite, compared without their places in the source.

use hvdlint::syntax::ast::comparable::{ComparableExpr, ComparableStmt};
use hvdlint::syntax::ast::visitor::transformer::{Transformer, walk_arguments, walk_expr};
use hvdlint::syntax::ast::{Arguments, ExceptHandler, Expr, ExprCall, Keyword, Stmt, Suite};
use hvdlint::syntax::parse;

/// The statements of `source`, which must be Python.
pub fn statements(source: &str) -> Vec<Stmt> {
    let parsed = parse(source);
    assert!(parsed.errors().is_empty(), "{:?} in:\n{source}", parsed.errors());
    parsed.into_syntax().body.into_iter().collect()
}

/// The statements of a template, with expressions in the place of the names that stand for them.
pub fn filled(template: &str, holes: &[(&str, &Expr)]) -> Vec<Stmt> {
    let mut body = statements(template);
    fill(&mut body, holes);
    body
}

/// Puts expressions in the place of the names that stand for them.
pub fn fill(body: &mut [Stmt], holes: &[(&str, &Expr)]) {
    Fill(holes).visit_body(body);
}

/// The expression of a template, filled as in [`filled`].
pub fn expression(template: &str, holes: &[(&str, &Expr)]) -> Expr {
    match filled(template, holes).remove(0) {
        Stmt::Expr(statement) => *statement.value,
        other => panic!("an expression was wanted: {other:?}"),
    }
}

struct Fill<'a>(&'a [(&'a str, &'a Expr)]);

impl Transformer for Fill<'_> {
    fn visit_expr(&self, expr: &mut Expr) {
        match self.0.iter().find(|(hole, _)| is_name(expr, hole)) {
            Some((_, value)) => *expr = (*value).clone(),
            None => walk_expr(self, expr),
        }
    }
}

/// Whether two sequences of statements are equal as syntax trees.
pub fn equal(left: &[Stmt], right: &[Stmt]) -> bool {
    left.iter().map(ComparableStmt::from).eq(right.iter().map(ComparableStmt::from))
}

/// Whether two expressions are equal as syntax trees.
pub fn same(left: &Expr, right: &Expr) -> bool {
    ComparableExpr::from(left) == ComparableExpr::from(right)
}

/// The body with the keyword arguments of every call in the order of their names. The order in which arguments are
/// written decides nothing in these programs, and the product may put a new argument where it reads best.
pub fn in_keyword_order(mut body: Vec<Stmt>) -> Vec<Stmt> {
    struct Sort;
    impl Transformer for Sort {
        fn visit_arguments(&self, arguments: &mut Arguments) {
            walk_arguments(self, arguments);
            if arguments.keywords.iter().all(|keyword| keyword.arg.is_some()) {
                arguments.keywords.sort_by(|left, right| name_of(left).cmp(&name_of(right)));
            }
        }
    }
    Sort.visit_body(&mut body);
    body
}

/// The name of a keyword argument; `**rest` has none.
pub fn name_of(keyword: &Keyword) -> Option<&str> {
    keyword.arg.as_ref().map(|name| name.id.as_str())
}

/// The value of the keyword argument `name`.
pub fn keyword<'a>(call: &'a ExprCall, name: &str) -> Option<&'a Expr> {
    call.arguments
        .keywords
        .iter()
        .find(|keyword| name_of(keyword) == Some(name))
        .map(|keyword| &keyword.value)
}

/// The call with `value` as the keyword argument `name`, in its place if it is there, else last.
pub fn with_keyword(call: &ExprCall, name: &str, value: Expr) -> ExprCall {
    let mut call = call.clone();
    let there = call.arguments.keywords.iter_mut().find(|keyword| name_of(keyword) == Some(name));
    if let Some(keyword) = there {
        keyword.value = value;
    } else {
        let Expr::Call(mut made) = expression(&format!("f({name}=value)"), &[("value", &value)]) else {
            unreachable!("the template is a call")
        };
        call.arguments.keywords.push(made.arguments.keywords.remove(0));
    }
    call
}

/// The call with `value` as its first positional argument.
pub fn with_first(call: &ExprCall, value: Expr) -> ExprCall {
    let mut call = call.clone();
    call.arguments.args[0] = value;
    call
}

/// Whether the expression is the name `id`.
pub fn is_name(expr: &Expr, id: &str) -> bool {
    matches!(expr, Expr::Name(name) if name.id == *id)
}

/// The names of `a.b.c`; none for anything else.
pub fn path(expr: &Expr) -> Option<Vec<&str>> {
    match expr {
        Expr::Name(name) => Some(vec![name.id.as_str()]),
        Expr::Attribute(attribute) => {
            let mut names = path(&attribute.value)?;
            names.push(attribute.attr.id.as_str());
            Some(names)
        }
        _ => None,
    }
}

/// Whether the expression is `a.b.c`, written so.
pub fn is_path(expr: &Expr, dotted: &str) -> bool {
    path(expr).is_some_and(|names| names.iter().copied().eq(dotted.split('.')))
}

/// The `id` and the call of the strict form of an assignment, `id = call(...)`.
pub fn strict_assignment(stmt: &Stmt) -> Option<(&str, &ExprCall)> {
    let Stmt::Assign(assign) = stmt else { return None };
    match (assign.targets.as_slice(), assign.value.as_ref()) {
        ([Expr::Name(target)], Expr::Call(call)) => Some((target.id.as_str(), call)),
        _ => None,
    }
}

/// The call of the strict form of an expression statement, `call(...)`.
pub fn strict_expression(stmt: &Stmt) -> Option<&ExprCall> {
    let Stmt::Expr(statement) = stmt else { return None };
    statement.value.as_call_expr()
}

/// The statement with another call in the place of the one of its strict form.
pub fn with_call(stmt: &Stmt, call: ExprCall) -> Stmt {
    let mut stmt = stmt.clone();
    match &mut stmt {
        Stmt::Assign(assign) => *assign.value = Expr::Call(call),
        Stmt::Expr(statement) => *statement.value = Expr::Call(call),
        other => unreachable!("only strict forms have a call: {other:?}"),
    }
    stmt
}

/// The suites directly inside a statement.
pub fn suites(stmt: &mut Stmt) -> Vec<&mut Suite> {
    match stmt {
        Stmt::FunctionDef(it) => vec![&mut it.body],
        Stmt::ClassDef(it) => vec![&mut it.body],
        Stmt::For(it) => vec![&mut it.body, &mut it.orelse],
        Stmt::While(it) => vec![&mut it.body, &mut it.orelse],
        Stmt::With(it) => vec![&mut it.body],
        Stmt::If(it) => {
            let clauses = it.elif_else_clauses.iter_mut().map(|clause| &mut clause.body);
            std::iter::once(&mut it.body).chain(clauses).collect()
        }
        Stmt::Try(it) => {
            let handlers =
                it.handlers.iter_mut().map(|ExceptHandler::ExceptHandler(handler)| &mut handler.body);
            let rest = [&mut it.orelse, &mut it.finalbody];
            std::iter::once(&mut it.body).chain(handlers).chain(rest).collect()
        }
        Stmt::Match(it) => it.cases.iter_mut().map(|case| &mut case.body).collect(),
        _ => Vec::new(),
    }
}

/// Puts what `change` makes of each suite directly inside a statement in its place.
pub fn map_suites(stmt: &mut Stmt, mut change: impl FnMut(Vec<Stmt>) -> Vec<Stmt>) {
    for suite in suites(stmt) {
        let body = std::mem::take(suite).into_iter().collect();
        *suite = change(body).into_iter().collect();
    }
}

/// The body with every suite in it, and itself, changed from the inside out.
pub fn every_suite(mut body: Vec<Stmt>, change: &dyn Fn(Vec<Stmt>) -> Vec<Stmt>) -> Vec<Stmt> {
    for stmt in &mut body {
        map_suites(stmt, |suite| every_suite(suite, change));
    }
    change(body)
}
