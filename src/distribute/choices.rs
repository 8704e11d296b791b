//! Whether something is decided by a rank's own results, also through what is chosen because of them: `wait += 1`
//! where the loss did not fall, and `if wait > patience: break` later.

use rustc_hash::FxHashSet;

use super::job::Job;
use super::obstacles::behind;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, StatementKind};

/// Whether the results of a rank's own, which are not averaged, decide what a condition is.
pub(super) fn rests_on_own_results(job: &Job<'_>, condition: Place) -> bool {
    let mut seen = FxHashSet::from_iter([condition]);
    let mut work = vec![condition];
    while !work.is_empty() {
        let behind = behind(job, &work);
        if behind.iter().any(|place| job.own_results().contains(place)) {
            return true;
        }
        work = conditions(job, &behind).into_iter().filter(|&condition| seen.insert(condition)).collect();
    }
    false
}

/// The conditions under which variables and attributes get these values, or functions return them.
fn conditions(job: &Job<'_>, values: &FxHashSet<Place>) -> FxHashSet<Place> {
    let facts = job.facts;
    let mut blocks: FxHashSet<(Caller, BlockId)> = FxHashSet::default();
    let files: FxHashSet<FileId> = values.iter().map(|&(file, _)| file).collect();
    for file in files {
        let module = facts.module(file);
        let has = |value| values.contains(&(file, value));
        for own in module.definitions.iter().filter(|own| own.statement.is_some() && has(own.value)) {
            blocks.insert((Caller { file, scope: own.scope }, own.block));
        }
        for store in module.stores.iter().filter(|store| has(store.value)) {
            let statement = module.statement(store.statement);
            blocks.insert((Caller { file, scope: store.scope }, statement.block));
        }
        let returning = module.functions.iter().filter(|own| own.returns.iter().any(|&value| has(value)));
        let scopes: FxHashSet<_> = returning.map(|own| own.scope).collect();
        let returns = module.statements.iter().filter(|own| own.kind == StatementKind::Return);
        for statement in returns.filter(|own| scopes.contains(&own.scope)) {
            blocks.insert((Caller { file, scope: statement.scope }, statement.block));
        }
    }
    let around = blocks.into_iter().flat_map(|(caller, block)| {
        facts.conditions(caller, block).into_iter().map(move |condition| (caller.file, condition.branch))
    });
    around
        .filter(|(_, branch)| branch.kind != BranchKind::For)
        .filter_map(|(file, branch)| Some((file, branch.condition?)))
        .collect()
}
