//! Expressions: `trans_E` and `trans_O`, the same in sections 2.3 and 2.4.

use hvdlint::syntax::ast::{Comprehension, Expr, ExprCall};

use super::env::{Env, Key};
use crate::tree::{expression, is_path, keyword, with_first, with_keyword};

/// `expr * hvd.size()`
pub fn scaled(expr: &Expr) -> Expr {
    expression("expr * hvd.size()", &[("expr", expr)])
}

/// `expr // hvd.size()`
pub fn divided(expr: &Expr) -> Expr {
    expression("expr // hvd.size()", &[("expr", expr)])
}

/// "IF idᵢ = name ... ELSE": the argument `name` if it is given by keyword, else the first positional one, changed.
///
/// The seed's ELSE needs an `expr₁₁`. Where there is none it says nothing, and the call stays as it is.
pub fn with_argument(call: &ExprCall, name: &str, change: impl Fn(&Expr) -> Expr) -> ExprCall {
    match (keyword(call, name), call.arguments.args.first()) {
        (Some(value), _) => with_keyword(call, name, change(value)),
        (None, Some(first)) => with_first(call, change(first)),
        (None, None) => call.clone(),
    }
}

/// `trans_E : Expr → Σ → Expr`
pub fn trans_e(expr: &Expr, env: &Env) -> Expr {
    let mut expr = expr.clone();
    rewrite(&mut expr, env);
    expr
}

fn rewrite(expr: &mut Expr, env: &Env) {
    let each = |part: &mut Expr| rewrite(part, env);
    match expr {
        Expr::BoolOp(it) => it.values.iter_mut().for_each(each),
        Expr::Named(it) => each(&mut it.value),
        Expr::BinOp(it) => [&mut it.left, &mut it.right].into_iter().for_each(|part| each(part)),
        Expr::UnaryOp(it) => each(&mut it.operand),
        Expr::Lambda(it) => each(&mut it.body),
        Expr::If(it) => [&mut it.body, &mut it.test, &mut it.orelse].into_iter().for_each(|part| each(part)),
        // Values only: neither keys nor what is unpacked.
        Expr::Dict(it) => {
            it.items.iter_mut().filter(|item| item.key.is_some()).for_each(|item| each(&mut item.value));
        }
        Expr::Set(it) => it.elts.iter_mut().for_each(each),
        Expr::List(it) => it.elts.iter_mut().for_each(each),
        Expr::Tuple(it) => it.elts.iter_mut().for_each(each),
        Expr::DictComp(it) => {
            each(&mut it.value);
            comprehensions(&mut it.generators, env);
        }
        Expr::SetComp(it) => {
            each(&mut it.elt);
            comprehensions(&mut it.generators, env);
        }
        Expr::ListComp(it) => {
            each(&mut it.elt);
            comprehensions(&mut it.generators, env);
        }
        Expr::Generator(it) => {
            each(&mut it.elt);
            comprehensions(&mut it.generators, env);
        }
        Expr::Await(it) => each(&mut it.value),
        Expr::Yield(it) => it.value.iter_mut().for_each(|value| each(value)),
        Expr::YieldFrom(it) => each(&mut it.value),
        Expr::Compare(it) => {
            each(&mut it.left);
            it.comparators.iter_mut().for_each(each);
        }
        Expr::Call(it) => *it = call(it, env),
        Expr::Attribute(it) => each(&mut it.value),
        Expr::Subscript(it) => [&mut it.value, &mut it.slice].into_iter().for_each(|part| each(part)),
        Expr::Slice(it) => {
            let parts = [&mut it.lower, &mut it.upper, &mut it.step];
            parts.into_iter().flatten().for_each(|part| each(part));
        }
        // `*expr`, parts of formatted strings, constants and names stay as they are.
        _ => {}
    }
}

/// `trans_E` of a call: `dataset.take` takes its share.
fn call(call: &ExprCall, env: &Env) -> ExprCall {
    if env.get(Key::Dataset).is_some_and(|dataset| is_path(&call.func, &format!("{dataset}.take"))) {
        return with_argument(call, "count", divided);
    }
    let mut call = call.clone();
    rewrite(&mut call.func, env);
    call.arguments.args.iter_mut().for_each(|argument| rewrite(argument, env));
    // `trans_E[**expr] = **expr`: what has no name is unpacked, and stays.
    let named = call.arguments.keywords.iter_mut().filter(|keyword| keyword.arg.is_some());
    named.for_each(|keyword| rewrite(&mut keyword.value, env));
    call
}

/// `trans_O : Comprehension → Σ → Comprehension`
fn comprehensions(generators: &mut [Comprehension], env: &Env) {
    for generator in generators {
        rewrite(&mut generator.iter, env);
        generator.ifs.iter_mut().for_each(|condition| rewrite(condition, env));
    }
}
