//! Departures 2 and 3: what is broadcast after the first step, and the flag that says whether it was.

use std::collections::BTreeSet;

use hvdlint::syntax::ast::visitor::{Visitor, walk_expr};
use hvdlint::syntax::ast::{Expr, Stmt};

use super::Program;
use crate::rules::calls::FLAG;
use crate::tree::{
    equal, every_suite, fill, is_name, map_suites, statements, strict_assignment, strict_expression,
};

/// One flag for each loop, one block after its step, no name for what is zipped.
pub fn once(_: &Program, mut body: Vec<Stmt>) -> Vec<Stmt> {
    let flag = flag();
    body.retain(|stmt| !equal(std::slice::from_ref(stmt), &flag));
    // Without one model there is nothing to name in its place: the published block stays, and shows.
    if let Some(model) = stepped_model(&body) {
        body = every_suite(body, &|suite| rewritten(suite, &model));
    }
    let body = at_calls(body);
    with_flags(body)
}

fn flag() -> Vec<Stmt> {
    statements(&format!("{FLAG} = False"))
}

/// The model whose variables are stepped: the one `trainable_variables` of the program.
fn stepped_model(body: &[Stmt]) -> Option<String> {
    struct Models(BTreeSet<String>);
    impl<'a> Visitor<'a> for Models {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Attribute(attribute) = expr
                && ["trainable_variables", "trainable_weights"].contains(&attribute.attr.id.as_str())
                && let Expr::Name(model) = attribute.value.as_ref()
            {
                self.0.insert(model.id.to_string());
            }
            walk_expr(self, expr);
        }
    }
    let mut models = Models(BTreeSet::new());
    models.visit_body(body);
    let mut models = models.0.into_iter();
    models.next().filter(|_| models.next().is_none())
}

/// The suite with `id = zipped`, the step with `id`, `global` and the block become the step with what was zipped and
/// a block that broadcasts the model.
fn rewritten(suite: Vec<Stmt>, model: &str) -> Vec<Stmt> {
    let mut made: Vec<Stmt> = Vec::new();
    for stmt in suite {
        match stmt {
            Stmt::Global(global) if global.names.iter().any(|name| name.id == *FLAG) => {
                let step = made.pop().expect("the published rule puts the step before its `global`");
                let named = made.pop().expect("the published rule names what is zipped before the step");
                made.push(unnamed(&named, step));
            }
            stmt if is_block(&stmt) => made.push(block(stmt, model)),
            stmt => made.push(stmt),
        }
    }
    made
}

/// The step with what was zipped in the place of its name.
fn unnamed(named: &Stmt, step: Stmt) -> Stmt {
    let Stmt::Assign(assign) = named else { unreachable!("the published rule assigns: {named:?}") };
    let Expr::Name(name) = &assign.targets[0] else { unreachable!("the published rule makes a name") };
    let mut body = [step];
    fill(&mut body, &[(name.id.as_str(), &assign.value)]);
    let [step] = body;
    step
}

/// Whether the statement is `if not hvd_broadcast_done: ...`.
fn is_block(stmt: &Stmt) -> bool {
    let Stmt::If(guard) = stmt else { return false };
    guard.test.as_unary_op_expr().is_some_and(|not| is_name(&not.operand, FLAG))
}

fn block(published: Stmt, model: &str) -> Stmt {
    let Stmt::If(mut guard) = published else { unreachable!("a block is an `if`") };
    guard.body[0] = statements(&format!("hvd.broadcast_variables({model}.variables, root_rank=0)")).remove(0);
    Stmt::If(guard)
}

/// The block of a function without a loop around its step goes behind the one statement that calls the function.
fn at_calls(mut body: Vec<Stmt>) -> Vec<Stmt> {
    for at in 0..body.len() {
        let Stmt::FunctionDef(function) = &mut body[at] else { continue };
        let Some(step) = function.body.iter().position(is_block) else { continue };
        let block = function.body.remove(step);
        let name = function.name.id.to_string();
        body = every_suite(body, &|suite| {
            let behind = |stmt: Stmt| {
                let block = calls(&stmt, &name).then(|| block.clone());
                std::iter::once(stmt).chain(block)
            };
            suite.into_iter().flat_map(behind).collect()
        });
    }
    body
}

/// Whether the statement is `name(...)` or assigns it.
fn calls(stmt: &Stmt, name: &str) -> bool {
    let call = strict_expression(stmt).or_else(|| strict_assignment(stmt).map(|(_, call)| call));
    call.is_some_and(|call| is_name(&call.func, name))
}

/// The suite with a flag before each outermost loop that has a block in it.
fn with_flags(suite: Vec<Stmt>) -> Vec<Stmt> {
    let mut made = Vec::new();
    for mut stmt in suite {
        if matches!(stmt, Stmt::For(_) | Stmt::While(_)) {
            if has_block(std::slice::from_ref(&stmt)) {
                made.extend(flag());
            }
        } else {
            map_suites(&mut stmt, with_flags);
        }
        made.push(stmt);
    }
    made
}

/// Whether a block stands in the suite, but for functions in it.
fn has_block(suite: &[Stmt]) -> bool {
    suite.iter().any(|stmt| {
        let mut inner = false;
        if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            map_suites(&mut stmt.clone(), |body| {
                inner |= has_block(&body);
                body
            });
        }
        inner || is_block(stmt)
    })
}
