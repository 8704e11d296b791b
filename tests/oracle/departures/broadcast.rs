//! Departures 2 and 3: what is broadcast after the first step, and the flag that says whether it was.

use std::collections::BTreeSet;

use hvdlint::syntax::ast::visitor::{Visitor, walk_expr};
use hvdlint::syntax::ast::{Expr, Stmt};

use super::{Program, imports_of_horovod};
use crate::rules::calls::FLAG;
use crate::tree::{equal, every_suite, fill, is_name, map_suites, statements};

/// One flag for each loop, one block after its step, no name for what is zipped.
pub fn once(_: &Program, mut body: Vec<Stmt>) -> Vec<Stmt> {
    let flag = flag();
    body.retain(|stmt| !equal(std::slice::from_ref(stmt), &flag));
    // Without one model there is nothing to name in its place: the published block stays, and shows.
    if let Some(model) = stepped_model(&body) {
        body = every_suite(body, &|suite| rewritten(suite, &model));
    }
    let (mut body, needed) = with_flags(body);
    if needed {
        // The preamble is five statements.
        let after = imports_of_horovod(&body).first().map_or(0, |import| import + 5).min(body.len());
        body.splice(after..after, flag);
    }
    body
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

/// The suite with a flag before each outermost loop that has a block in it, and whether a block is left without.
fn with_flags(suite: Vec<Stmt>) -> (Vec<Stmt>, bool) {
    let mut made = Vec::new();
    let mut left = false;
    for mut stmt in suite {
        let mut inside = false;
        let is_loop = matches!(stmt, Stmt::For(_) | Stmt::While(_));
        map_suites(&mut stmt, |body| {
            if is_loop {
                inside |= has_block(&body);
                return body;
            }
            let (body, needed) = with_flags(body);
            inside |= needed;
            body
        });
        match &mut stmt {
            _ if is_loop && inside => made.extend(flag()),
            Stmt::FunctionDef(function) if inside => {
                let docstring = usize::from(function.body.first().is_some_and(is_docstring));
                function.body.insert(docstring, statements(&format!("global {FLAG}")).remove(0));
                left = true;
            }
            stmt => left |= inside || is_block(stmt),
        }
        made.push(stmt);
    }
    (made, left)
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

fn is_docstring(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Expr(statement) if statement.value.is_string_literal_expr())
}
