//! How a program finds a name that is free: `while os.path.exists(f"run{n}"): n += 1`. Once rank 0 has made what it found, a rank
//! that asks later would find the next.

use super::super::job::Job;
use crate::project::FileId;
use crate::semantic::{CallId, Module, StatementId, StatementKind};

/// The questions whether something exists that a loop goes on or ends by.
pub(super) fn questions(job: &Job<'_>) -> Vec<(FileId, CallId)> {
    let is_search = |&(file, call): &(FileId, CallId)| {
        let module = job.facts.module(file);
        job.facts.asks_for_existence(file, call) && ends_loop(module, module.call(call).statement)
    };
    job.calls().filter(is_search).collect()
}

/// Whether a statement is a `while` loop, or an `if` statement in a loop that it leaves.
fn ends_loop(module: &Module, statement: StatementId) -> bool {
    let own = module.statement(statement);
    match own.kind {
        StatementKind::While => true,
        StatementKind::If => {
            let is_loop = |kind| matches!(kind, StatementKind::While | StatementKind::For);
            let mut around = module.ancestors(statement).take_while(|around| around.scope == own.scope);
            let leaves =
                |kind| matches!(kind, StatementKind::Break | StatementKind::Continue | StatementKind::Return);
            let mut below = module.statements_below(statement);
            around.any(|around| is_loop(around.kind)) && below.any(|own| leaves(own.kind))
        }
        _ => false,
    }
}
