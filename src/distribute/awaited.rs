//! Where the ranks can wait for each other: at a place that each of them comes to, as often as the others.

use rustc_hash::FxHashSet;

use super::job::Job;
use super::obstacles;
use super::ranked::is_for_some;
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, CallId, StatementId};

/// Whether all ranks come to a call in the same order as to other collectives: under no condition that a rank's
/// own results decide, in no traced code, and not called back by a library, which may do so in a thread of its own.
pub(super) fn all_ranks_come(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let data = job.facts.module(file).call(call);
    all_execute(job, Caller { file, scope: data.scope }, data.block)
}

/// The same for a statement.
pub(super) fn all_ranks_come_to(job: &Job<'_>, file: FileId, statement: StatementId) -> bool {
    let own = job.facts.module(file).statement(statement);
    all_execute(job, Caller { file, scope: own.scope }, own.block)
}

fn all_execute(job: &Job<'_>, caller: Caller, block: BlockId) -> bool {
    let facts = job.facts;
    if is_for_some(job, caller, block, &mut FxHashSet::default()) {
        return false;
    }
    let mut work = vec![(caller, block)];
    let mut seen: FxHashSet<Caller> = FxHashSet::default();
    while let Some((caller, block)) = work.pop() {
        if job.traced.contains(&caller)
            || asks_the_world(job, caller, block)
            || obstacles::is_conditional(job, caller, block)
        {
            return false;
        }
        if !seen.insert(caller) {
            continue;
        }
        let Some(function) = facts.function_of(caller) else { continue };
        for edge in facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge)) {
            let Some(call) = facts.call_in_place(edge) else { return false };
            work.push((edge.caller, facts.module(edge.caller.file).call(call).block));
        }
    }
    true
}

/// Whether a condition around a block rests on the file system or the like: while one rank writes, another may
/// get another answer.
fn asks_the_world(job: &Job<'_>, caller: Caller, block: BlockId) -> bool {
    let facts = job.facts;
    let conditions = facts.conditions(caller, block).into_iter();
    conditions
        .filter(|condition| condition.branch.kind != BranchKind::For)
        .filter_map(|condition| condition.branch.condition)
        .any(|value| facts.varying().contains_key(&(caller.file, value)))
}
