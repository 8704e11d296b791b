//! Neighbouring statements that one rank executes share a guard.

use hvdlint::syntax::ast::Stmt;

use super::Program;
use crate::tree::{every_suite, expression, same};

/// Guards that follow one another become one.
pub fn joined(_: &Program, body: Vec<Stmt>) -> Vec<Stmt> {
    every_suite(body, &|suite| {
        let mut joined: Vec<Stmt> = Vec::new();
        for stmt in suite {
            match (joined.last_mut(), stmt) {
                (Some(Stmt::If(before)), Stmt::If(own)) if is_guard(before) && is_guard(&own) => {
                    before.body.extend(own.body);
                }
                (_, stmt) => joined.push(stmt),
            }
        }
        joined
    })
}

/// Whether the statement is `if hvd.rank() == 0:` and no more.
fn is_guard(guard: &hvdlint::syntax::ast::StmtIf) -> bool {
    guard.elif_else_clauses.is_empty() && same(&guard.test, &expression("hvd.rank() == 0", &[]))
}
