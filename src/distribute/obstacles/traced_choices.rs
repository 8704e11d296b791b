//! What Python values decide about traced code: `loss = a if side == 0 else b` with a number that each rank draws. Ranks that draw
//! another one trace another graph, and wait for each other's gradients under names that nobody else has.

use rustc_hash::FxHashSet;

use super::super::data::draws::draws_unseeded;
use super::super::job::Job;
use super::super::step::Step;
use super::alike::is_common;
use super::obstacle;
use crate::api::{Kind, Symbol};
use crate::finding::Rule;
use crate::program::{Caller, FunctionRef, Place};
use crate::semantic::{BranchKind, Value};

/// The conditions of traced code that rest on what each rank draws.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    // What TensorFlow draws is a tensor, and decides when the graph runs.
    let is_python = |own: &Symbol| !facts.library.is_training_library(own.package());
    let is_drawn = |&(file, value): &Place| match facts.module(file).value(value).value {
        Value::Call(call) => {
            draws_unseeded(job, file, call)
                && !job.draws_together(file, call)
                && facts.called_symbols(file, call).all(is_python)
        }
        _ => false,
    };
    // Most programs decide by nothing of the kind.
    if !job.deciding_traces().iter().any(is_drawn) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (caller, condition) in conditions(job) {
        if behind(job, &[condition]).iter().any(is_drawn) {
            let (file, value) = condition;
            let message = "what each rank draws chooses which graph it traces";
            let finding = obstacle(
                rule,
                facts.location(file, facts.module(file).value(value).range),
                message,
            )
            .help("choose by something that is equal on all ranks, such as a generator with a constant seed")
            .in_scope(facts.scope_name(caller));
            let reason = "The ranks would compute other gradients, and wait for each other for ever.";
            found.push(Step::blocked(finding, reason));
        }
    }
    found
}

/// All that decides, as a value of Python, which graph traced code becomes.
pub(in crate::distribute) fn deciding(job: &Job<'_>) -> FxHashSet<Place> {
    let conditions: Vec<Place> = conditions(job).into_iter().map(|(_, condition)| condition).collect();
    behind(job, &conditions)
}

/// The conditions of traced code within the steps that are no tensors. What brings the examples may be traced in one way here and in
/// another there.
fn conditions(job: &Job<'_>) -> Vec<(Caller, Place)> {
    let facts = job.facts;
    let mut within: FxHashSet<Caller> = FxHashSet::default();
    let gradients = job.tape_loops().flat_map(|own| &own.gradients);
    let mut work: Vec<Caller> =
        gradients.map(|&(file, call)| Caller { file, scope: facts.module(file).call(call).scope }).collect();
    while let Some(caller) = work.pop() {
        if job.traced.contains(&caller) && within.insert(caller) {
            work.extend(facts.reached_functions(caller).map(|(_, function)| facts.code_of(function)));
        }
    }
    let mut callers: Vec<Caller> = within.into_iter().collect();
    callers.sort_unstable();
    let mut found = Vec::new();
    for caller in callers {
        let blocks = &facts.module(caller.file).scope(caller.scope).flow.blocks;
        let branches = blocks.iter().filter_map(|block| block.branch);
        let conditions = branches.filter(|own| own.kind == BranchKind::If).filter_map(|own| own.condition);
        let python = conditions.filter(|&own| !facts.may_be(caller.file, own, Kind::Tensor));
        found.extend(python.map(|own| (caller, (caller.file, own))));
    }
    found
}

/// What values of Python rest on. What a traced function is given is mostly a tensor, and how many there are of something is
/// the same on all ranks.
fn behind(job: &Job<'_>, conditions: &[Place]) -> FxHashSet<Place> {
    let facts = job.facts;
    let is_given = |(file, value): Place| match facts.module(file).value(value).value {
        Value::Parameter(function, _) => job.traced.contains(&facts.code_of(FunctionRef { file, function })),
        _ => false,
    };
    let stops = |place: Place| {
        is_given(place) || facts.may_be(place.0, place.1, Kind::Tensor) || is_common(job, place)
    };
    facts.influence().backwards(conditions, stops)
}
