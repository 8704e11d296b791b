//! What each rank would download to the same place is downloaded by rank 0 first.

use hvdlint::syntax::ast::{Expr, Stmt};

use super::Program;
use crate::rules::Pattern;
use crate::tree::{every_suite, statements};

/// The other ranks wait in front of `mnist.load_data()`, and rank 0 lets them go on behind it.
pub fn first_by_one(program: &Program, body: Vec<Stmt>) -> Vec<Stmt> {
    let wait = match program.pattern {
        Pattern::Keras => "hvd.broadcast(0, 0, name='written')",
        Pattern::Tape => "hvd.broadcast_object(0, name='written')",
    };
    let wait_if = |condition: &str| statements(&format!("if {condition}:\n    {wait}"));
    every_suite(body, &|suite| {
        let mut waiting = Vec::new();
        for stmt in suite {
            if downloads(&stmt) {
                waiting.extend(wait_if("hvd.rank() != 0"));
                waiting.push(stmt);
                waiting.extend(wait_if("hvd.rank() == 0"));
            } else {
                waiting.push(stmt);
            }
        }
        waiting
    })
}

fn downloads(stmt: &Stmt) -> bool {
    let Stmt::Assign(assignment) = stmt else { return false };
    let Expr::Call(call) = &*assignment.value else { return false };
    matches!(&*call.func, Expr::Attribute(method) if &*method.attr == "load_data")
}
