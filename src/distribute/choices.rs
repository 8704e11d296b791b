//! Whether something is decided by a rank's own results, also through what is chosen because of them: `wait += 1`
//! where the loss did not fall, and `if wait > patience: break` later.

use rustc_hash::FxHashSet;

use super::job::Job;
use super::obstacles::computed_from;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, Branch, BranchKind, ScopeId, StatementKind};

/// Whether the results of a rank's own, which are not averaged, decide what a condition is.
pub(super) fn rests_on_own_results(job: &Job<'_>, condition: Place) -> bool {
    job.chosen_by_own_results().contains(&condition)
}

/// All that is computed from a rank's own results or chosen because of them, and what is computed from that.
pub(super) fn chosen_by_own_results(job: &Job<'_>) -> FxHashSet<Place> {
    let mut found = job.of_own_results().clone();
    loop {
        let chosen: Vec<Place> = chosen(job, &found).filter(|place| !found.contains(place)).collect();
        if chosen.is_empty() {
            return found;
        }
        found.extend(computed_from(job, &chosen));
    }
}

/// The values that variables and attributes get, or that functions return, under conditions among these values.
fn chosen<'j>(job: &'j Job<'_>, values: &'j FxHashSet<Place>) -> impl Iterator<Item = Place> + 'j {
    let files: FxHashSet<FileId> = values.iter().map(|&(file, _)| file).collect();
    files.into_iter().flat_map(move |file| chosen_in(job, file, values))
}

fn chosen_in(job: &Job<'_>, file: FileId, values: &FxHashSet<Place>) -> Vec<Place> {
    let module = job.facts.module(file);
    let decides = |branch: &Branch| branch.condition.is_some_and(|own| values.contains(&(file, own)));
    let deciding: FxHashSet<ScopeId> = (0..module.scopes.len())
        .map(ScopeId::new)
        .filter(|&scope| {
            let mut blocks = module.scope(scope).flow.blocks.iter();
            blocks.any(|block| block.branch.as_ref().is_some_and(decides))
        })
        .collect();
    if deciding.is_empty() {
        return Vec::new();
    }
    let is_chosen = |scope: ScopeId, block: BlockId| {
        deciding.contains(&scope) && {
            let conditions = job.facts.conditions(Caller { file, scope }, block).into_iter();
            let mut branches = conditions.map(|condition| condition.branch);
            branches.any(|branch| branch.kind != BranchKind::For && decides(&branch))
        }
    };
    let definitions = module.definitions.iter().filter(|own| own.statement.is_some());
    let defined = definitions.filter(|own| is_chosen(own.scope, own.block)).map(|own| own.value);
    let stores = module.stores.iter();
    let stores = stores.filter(|own| is_chosen(own.scope, module.statement(own.statement).block));
    let stored = stores.map(|own| own.value);
    let returns = module.statements.iter().filter(|own| own.kind == StatementKind::Return);
    let returning: FxHashSet<ScopeId> =
        returns.filter(|own| is_chosen(own.scope, own.block)).map(|own| own.scope).collect();
    let functions = module.functions.iter().filter(|own| returning.contains(&own.scope));
    let returned = functions.flat_map(|own| own.returns.iter().copied());
    defined.chain(stored).chain(returned).map(|value| (file, value)).collect()
}
