//! Files that all ranks read before rank 0 removes or replaces them: `model.load_weights(best)` and `os.remove(best)` behind it. The
//! others may not have come as far, unless a step of training, which they make together, lies between. The same where they find
//! a name that is free, which rank 0 then takes.

use super::super::awaited::{all_ranks_come_to, can_wait};
use super::super::job::Job;
use super::inputs::writes_anywhere;
use crate::program::{CallEdge, Spot};
use crate::project::FileId;
use crate::semantic::{CallId, Statement, StatementId, StatementKind};
use crate::syntax::TextRange;

/// Whether the ranks have to wait in front of a statement whose call writes or removes what all of them read before.
pub(super) fn is_awaited(job: &Job<'_>, write: (FileId, CallId), statement: StatementId) -> bool {
    let facts = job.facts;
    if job.program.already_distributed {
        return false;
    }
    let read = [&job.inputs().read_where(job, write)[..], &job.inputs().searches(job, write)].concat();
    if read.is_empty() || writes_anywhere(job, write.0, write.1) {
        return false;
    }
    let is_run = |edge: &CallEdge| facts.is_run(job.program, edge);
    let writing = facts.spot(write);
    let is_before = |read| {
        let is_settled =
            |before: Spot| trains_between(job, before, writing) && !job.inputs().is_read_by_fit(job, read);
        let reading = facts.leading_to(vec![facts.spot(read)], is_run);
        reading.into_iter().filter(|read| read.0 == writing.0).any(|read| {
            read.2.end() <= writing.2.start() && !is_settled(read) || is_in_turn_before(job, read, statement)
        })
    };
    // Whoever writes alone reads alone what is read in the same statement.
    let within = facts.module(write.0).statement(statement).range;
    let is_within = |&(file, call): &(FileId, CallId)| {
        file == write.0 && within.contains_range(facts.module(file).call(call).range)
    };
    read.into_iter().filter(|read| !is_within(read)).any(is_before)
        && all_ranks_come_to(job, write.0, statement)
        && can_wait(job, write.0, statement)
}

/// Whether what is written in a turn of a loop is read in the turn before, and no step of training stands in the loop.
fn is_in_turn_before(job: &Job<'_>, (caller, _, read): Spot, written: StatementId) -> bool {
    let module = job.facts.module(caller.file);
    let is_loop = |own: &&Statement| matches!(own.kind, StatementKind::For | StatementKind::While);
    let around = module.ancestors(written).take_while(|own| own.scope == caller.scope);
    let mut loops = around.filter(is_loop).take_while(|own| !trains_in(job, caller.file, own.range));
    loops.any(|own| own.range.contains_range(read))
}

/// Whether a call in a stretch of code leads to a step of training.
pub(in crate::distribute) fn trains_in(job: &Job<'_>, file: FileId, range: TextRange) -> bool {
    let module = job.facts.module(file);
    let mut calls = job.calls_in(file).filter(|&id| range.contains_range(module.call(id).range));
    calls.any(|id| job.comes_to_step(file, id))
}

/// Whether a step of training stands between two places of the same code, or what comes to the first makes one behind it.
fn trains_between(job: &Job<'_>, (caller, _, before): Spot, (_, _, behind): Spot) -> bool {
    before.start() <= behind.start()
        && trains_in(job, caller.file, TextRange::new(before.start(), behind.start()))
}
