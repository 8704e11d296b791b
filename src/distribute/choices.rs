//! Whether something is decided by a rank's own results, also through what is chosen because of them: `wait += 1`
//! where the loss did not fall, and `if wait > patience: break` later.

use rustc_hash::FxHashSet;

use super::job::Job;
use super::obstacles::computed_from;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, ScopeId, StatementKind};

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
    let scopes = files.into_iter().flat_map(move |file| {
        let decides = move |condition| values.contains(&(file, condition));
        let module = job.facts.module(file);
        let scopes = (0..module.scopes.len()).map(ScopeId::new);
        let deciding = scopes.filter(move |&scope| {
            let branches = module.scope(scope).flow.blocks.iter().filter_map(|block| block.branch.as_ref());
            branches.filter_map(|branch| branch.condition).any(decides)
        });
        deciding.map(move |scope| Caller { file, scope })
    });
    scopes.flat_map(move |caller| chosen_in(job, caller, values))
}

fn chosen_in(job: &Job<'_>, caller: Caller, values: &FxHashSet<Place>) -> Vec<Place> {
    let Caller { file, scope } = caller;
    let module = job.facts.module(file);
    let is_chosen = |block: BlockId| {
        let conditions = job.facts.conditions(caller, block).into_iter().map(|condition| condition.branch);
        conditions
            .filter(|branch| branch.kind != BranchKind::For)
            .filter_map(|branch| branch.condition)
            .any(|condition| values.contains(&(file, condition)))
    };
    let definitions = module.definitions.iter().filter(|own| own.scope == scope && own.statement.is_some());
    let defined = definitions.filter(|own| is_chosen(own.block)).map(|own| own.value);
    let stores = module.stores.iter().filter(|own| own.scope == scope);
    let stored = stores.filter(|own| is_chosen(module.statement(own.statement).block)).map(|own| own.value);
    let mut returns = module.statements.iter();
    let returns_by_choice =
        returns.any(|own| own.kind == StatementKind::Return && own.scope == scope && is_chosen(own.block));
    let function = job.facts.function_of(caller).filter(|_| returns_by_choice);
    let returned = function.into_iter().flat_map(|own| &module.function(own.function).returns);
    defined.chain(stored).chain(returned.copied()).map(|value| (file, value)).collect()
}
