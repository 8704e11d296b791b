//! Files that all ranks read before rank 0 removes or replaces them: `model.load_weights(best)` and `os.remove(best)` behind it. The
//! others may not have come as far, unless a step of training, which they make together, lies between.

use super::awaited::{all_ranks_come_to, can_wait};
use super::inputs::writes_anywhere;
use super::job::Job;
use crate::program::{CallEdge, Spot};
use crate::project::FileId;
use crate::semantic::{CallId, StatementId};

/// Whether the ranks have to wait in front of a statement whose call writes or removes what all of them read before.
pub(super) fn is_awaited(job: &Job<'_>, write: (FileId, CallId), statement: StatementId) -> bool {
    let facts = job.facts;
    if job.program.already_distributed {
        return false;
    }
    let read = job.inputs().read_where(job, write);
    if read.is_empty() || writes_anywhere(job, write.0, write.1) {
        return false;
    }
    let is_run = |edge: &CallEdge| facts.is_run(job.program, edge);
    let writing = facts.spot(write);
    let is_before = |read| {
        let reading = facts.leading_to(vec![facts.spot(read)], is_run);
        reading.into_iter().any(|read| {
            read.0 == writing.0 && read.2.end() <= writing.2.start() && !trains_between(job, read, writing)
        })
    };
    read.into_iter().filter(|&read| read != write).any(is_before)
        && all_ranks_come_to(job, write.0, statement)
        && can_wait(job, write.0, statement)
}

/// Whether a step of training stands between two places of the same code, or what comes to the first makes one behind it.
fn trains_between(job: &Job<'_>, (caller, _, before): Spot, (_, _, behind): Spot) -> bool {
    let module = job.facts.module(caller.file);
    job.calls_in(caller.file).any(|id| {
        let range = module.call(id).range;
        before.start() <= range.start() && range.end() <= behind.start() && job.comes_to_step(caller.file, id)
    })
}
