//! What some ranks do and others don't: code under `if hvd.rank() == 0:`.

use super::job::Job;
use super::keras::reads_rank;
use crate::program::{Caller, FunctionRef};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId};

/// Whether a call is made under a condition that the number of the rank decides, itself or wherever its code is
/// called.
pub(super) fn is_for_one_rank(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let data = job.facts.module(file).call(call);
    is_under_rank(job, Caller { file, scope: data.scope }, data.block, &mut Vec::new())
}

/// Whether the number of the rank decides that a block runs; `seen` has the functions that were asked about.
pub(super) fn is_under_rank(
    job: &Job<'_>,
    caller: Caller,
    block: BlockId,
    seen: &mut Vec<FunctionRef>,
) -> bool {
    let facts = job.facts;
    let decides = facts
        .conditions(caller, block)
        .into_iter()
        .any(|condition| condition.branch.condition.is_some_and(|value| reads_rank(job, caller.file, value)));
    if decides {
        return true;
    }
    let Some(function) = facts.function_of(caller) else { return false };
    if seen.contains(&function) {
        return false;
    }
    seen.push(function);
    let mut calls = facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge)).peekable();
    calls.peek().is_some()
        && calls.all(|edge| {
            edge.call.is_some_and(|call| {
                let block = facts.module(edge.caller.file).call(call).block;
                is_under_rank(job, edge.caller, block, seen)
            })
        })
}
