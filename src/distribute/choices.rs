//! Whether something is decided by a rank's own results, also through what is chosen because of them: `wait += 1`
//! where the loss did not fall, and `if wait > patience: break` later.

use rustc_hash::FxHashSet;

use super::inputs::own_effects;
use super::job::Job;
use super::obstacles::{computed_from, is_length};
use crate::api::Effect;
use crate::program::{Caller, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, Branch, BranchKind, CallId, ScopeId, StatementKind};

/// Whether the results of a rank's own, which are not averaged, decide what a condition is.
pub(super) fn rests_on_own_results(job: &Job<'_>, condition: Place) -> bool {
    job.chosen_by_own_results().contains(&condition)
}

/// All that is computed from a rank's own results or chosen because of them, and what is computed from that.
pub(super) fn chosen_by_own_results(job: &Job<'_>) -> FxHashSet<Place> {
    let mut found = job.of_own_results().clone();
    loop {
        let all = chosen(job, &found).chain(lengths(job, &found));
        let chosen: Vec<Place> = all.filter(|place| !found.contains(place)).collect();
        if chosen.is_empty() {
            return found;
        }
        found.extend(computed_from(job, &chosen));
        found.extend(chosen);
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

/// The lengths of lists that grow or shrink under conditions among these values, also in functions that are called there:
/// what an agent has met before its episode ended.
pub(super) fn lengths(job: &Job<'_>, values: &FxHashSet<Place>) -> Vec<Place> {
    let facts = job.facts;
    let counts: Vec<(FileId, CallId)> =
        job.calls().filter(|&(file, call)| is_length(job, file, call)).collect();
    if counts.is_empty() {
        return Vec::new();
    }
    let lists = |file, value| {
        let objects = facts.objects(file, value);
        objects.filter(|(_, object)| matches!(object, Object::Container(..))).map(|(id, _)| id)
    };
    let mut changed: FxHashSet<ObjectId> = FxHashSet::default();
    let mut seen: FxHashSet<Caller> = FxHashSet::default();
    let mut work = calls_under(job, values);
    while let Some((file, id)) = work.pop() {
        let call = facts.module(file).call(id);
        if own_effects(job, file, id).contains(Effect::UpdatesState) {
            changed.extend(facts.receiver(file, call).into_iter().flat_map(|receiver| lists(file, receiver)));
        }
        for function in facts.called_functions(file, id) {
            let code = facts.code_of(function);
            if seen.insert(code) {
                let calls = facts.outgoing(code).iter().filter_map(|edge| edge.call);
                work.extend(calls.filter(|&own| job.runs(code.file, own)).map(|own| (code.file, own)));
            }
        }
    }
    let is_of_changed = |&(file, id): &(FileId, CallId)| {
        let mut arguments = facts.module(file).call(id).arguments.iter();
        arguments.any(|argument| lists(file, argument.value).any(|list| changed.contains(&list)))
    };
    counts
        .into_iter()
        .filter(is_of_changed)
        .map(|(file, id)| (file, facts.module(file).call(id).result))
        .collect()
}

/// The calls that a program makes under conditions among these values.
fn calls_under(job: &Job<'_>, values: &FxHashSet<Place>) -> Vec<(FileId, CallId)> {
    let is_under = |&(file, id): &(FileId, CallId)| {
        let call = job.facts.module(file).call(id);
        let conditions = job.facts.conditions(Caller { file, scope: call.scope }, call.block).into_iter();
        conditions
            .filter(|condition| condition.branch.kind != BranchKind::For)
            .filter_map(|condition| condition.branch.condition)
            .any(|own| values.contains(&(file, own)))
    };
    job.calls().filter(is_under).collect()
}
