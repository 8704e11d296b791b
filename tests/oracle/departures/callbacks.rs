//! Departures 5 and 15: what `fit` is called with.

use hvdlint::syntax::ast::{Expr, Stmt};

use super::Program;
use crate::rules::expr::divided;
use crate::tree::{
    equal, every_suite, expression, is_name, keyword, same, statements, strict_expression, with_call,
    with_keyword,
};

const BROADCAST: &str = "[hvd.callbacks.BroadcastGlobalVariablesCallback(0)]";

/// The list of callbacks: the broadcast, then the program's own.
fn callbacks(given: &Expr) -> Expr {
    match given {
        Expr::List(list) => {
            let Expr::List(mut made) = expression(BROADCAST, &[]) else { unreachable!("a list") };
            made.elts.extend(list.elts.iter().cloned());
            Expr::List(made)
        }
        given => expression(&format!("{BROADCAST} + given"), &[("given", given)]),
    }
}

/// The statements around the published `fit` become one list in its call.
pub fn one_list(_: &Program, body: Vec<Stmt>) -> Vec<Stmt> {
    every_suite(body, &|suite| {
        let mut made: Vec<Stmt> = Vec::new();
        for stmt in suite {
            let list = fit_callbacks(&stmt).map(|callbacks| {
                if is_name(callbacks, "callbacks")
                    && made.len() > 1
                    && is_published_list(&made[made.len() - 2])
                {
                    let guard = made.pop().expect("there are two statements");
                    made.pop();
                    self::callbacks(appended(&guard))
                } else {
                    expression(BROADCAST, &[])
                }
            });
            made.push(match list {
                Some(list) => with_argument(&stmt, "callbacks", list),
                None => stmt,
            });
        }
        made
    })
}

/// The callbacks of a call of `fit` that the published rule wrote.
fn fit_callbacks(stmt: &Stmt) -> Option<&Expr> {
    let call = strict_expression(stmt)?;
    let callbacks = keyword(call, "callbacks")?;
    let method = call.func.as_attribute_expr()?;
    let written = is_name(callbacks, "callbacks")
        || ["0", "root_rank=0"].iter().any(|root| {
            let list = format!("[hvd.callbacks.BroadcastGlobalVariablesCallback({root})]");
            same(callbacks, &expression(&list, &[]))
        });
    (method.attr.id == *"fit" && written).then_some(callbacks)
}

fn is_published_list(stmt: &Stmt) -> bool {
    let list = "callback = [hvd.callbacks.BroadcastGlobalVariablesCallback(root_rank=0)]";
    equal(std::slice::from_ref(stmt), &statements(list))
}

/// What the published guard appends.
fn appended(guard: &Stmt) -> &Expr {
    let Stmt::If(guard) = guard else { unreachable!("the published rule guards what it appends") };
    let call = strict_expression(&guard.body[0]).expect("the published rule calls `append`");
    &call.arguments.args[0]
}

fn with_argument(stmt: &Stmt, name: &str, value: Expr) -> Stmt {
    let call = strict_expression(stmt).expect("a call of `fit` is a strict expression");
    with_call(stmt, with_keyword(call, name, value))
}

/// `steps_per_epoch=n` of `fit` becomes `n // hvd.size()`.
pub fn steps_divided(_: &Program, body: Vec<Stmt>) -> Vec<Stmt> {
    let divide = |stmt: Stmt| {
        let steps = fit_callbacks(&stmt)
            .or_else(|| keyword(strict_expression(&stmt)?, "callbacks"))
            .and_then(|_| keyword(strict_expression(&stmt)?, "steps_per_epoch"))
            .map(divided);
        match steps {
            Some(steps) => with_argument(&stmt, "steps_per_epoch", steps),
            None => stmt,
        }
    };
    every_suite(body, &|suite| suite.into_iter().map(divide).collect())
}
