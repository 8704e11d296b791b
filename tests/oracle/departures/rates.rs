//! Departure 7: which rates are multiplied by the number of ranks; and L6: which steps are divided by it.

use std::collections::BTreeSet;

use hvdlint::syntax::ast::{Expr, Operator, Stmt};

use super::Program;
use crate::rules::classes::{OPTIMIZER, PIECEWISE, SCHEDULE};
use crate::rules::expr::{scaled, with_argument};
use crate::show::source;
use crate::tree::{every_suite, expression, keyword, path, same, strict_assignment, with_call, with_keyword};

/// Every rate is scaled exactly once: a schedule where it is made, an optimizer unless it takes a schedule.
pub fn scaled_once(program: &Program, body: Vec<Stmt>) -> Vec<Stmt> {
    let schedules = schedules(program, &body);
    every_suite(body, &|suite| suite.into_iter().map(|stmt| rate(program, &schedules, stmt)).collect())
}

/// The names of the schedules of the program.
fn schedules(program: &Program, body: &[Stmt]) -> BTreeSet<String> {
    let names = std::cell::RefCell::new(BTreeSet::new());
    every_suite(body.to_vec(), &|suite| {
        let made = suite.iter().filter_map(strict_assignment);
        let schedules = made.filter(|(_, call)| program.classes.is_subclass(&call.func, SCHEDULE));
        names.borrow_mut().extend(schedules.map(|(name, _)| name.to_owned()));
        suite
    });
    names.into_inner()
}

fn rate(program: &Program, schedules: &BTreeSet<String>, stmt: Stmt) -> Stmt {
    let Some((_, call)) = strict_assignment(&stmt) else { return stmt };
    let is = |class| program.classes.is_subclass(&call.func, class);
    let call = if is(PIECEWISE) {
        // The values are the second argument, the boundaries the first.
        let mut call = call.clone();
        match call.arguments.args.get_mut(1) {
            Some(argument) => *argument = each_scaled(argument),
            None => call = with_argument(&call, "values", each_scaled),
        }
        call
    } else if is(SCHEDULE) {
        with_argument(call, "initial_learning_rate", |rate| scaled(unscaled(rate)))
    } else if is(OPTIMIZER) {
        with_argument(call, "learning_rate", |rate| {
            let rate = unscaled(rate);
            let is_schedule = path(rate).is_some_and(|path| path.len() == 1 && schedules.contains(path[0]));
            if is_schedule { rate.clone() } else { scaled(rate) }
        })
    } else {
        return stmt;
    };
    with_call(&stmt, call)
}

/// The steps that a schedule counts are divided where those of the program are.
pub fn steps_shared(program: &Program, body: Vec<Stmt>) -> Vec<Stmt> {
    if !source(&body).contains("// hvd.size()") {
        return body;
    }
    every_suite(body, &|suite| suite.into_iter().map(|stmt| counts(program, stmt)).collect())
}

fn counts(program: &Program, stmt: Stmt) -> Stmt {
    let Some((_, call)) = strict_assignment(&stmt) else { return stmt };
    let is = |class| program.classes.is_subclass(&call.func, class);
    // The boundaries are the first argument, a number of steps the second.
    let (name, place, shared) = match (is(PIECEWISE), is(SCHEDULE)) {
        (true, _) => ("boundaries", 0, "[step // hvd.size() for step in counted]"),
        (false, true) => ("decay_steps", 1, "counted // hvd.size() or 1"),
        _ => return stmt,
    };
    let shared = |counted: &Expr| expression(shared, &[("counted", counted)]);
    let mut call = call.clone();
    match (keyword(&call, name).map(shared), call.arguments.args.get_mut(place)) {
        (Some(value), _) => call = with_keyword(&call, name, value),
        (None, Some(argument)) => *argument = shared(argument),
        (None, None) => {}
    }
    with_call(&stmt, call)
}

/// Each rate of a list.
fn each_scaled(rates: &Expr) -> Expr {
    let mut rates = rates.clone();
    if let Expr::List(list) = &mut rates {
        list.elts.iter_mut().for_each(|rate| *rate = scaled(rate));
    }
    rates
}

/// The rate without the factor that the published rule wrote.
fn unscaled(rate: &Expr) -> &Expr {
    let size = expression("hvd.size()", &[]);
    match rate {
        Expr::BinOp(product) if product.op == Operator::Mult && same(&product.right, &size) => &product.left,
        rate => rate,
    }
}
