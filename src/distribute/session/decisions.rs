//! The conditions on the way to the steps of a program's loops, as far as calls lead to them.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::session;
use super::evaluations;
use crate::finding::{Confidence, Location};
use crate::program::{CallEdge, Caller, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{BlockId, Branch, BranchKind, CallId};

/// The conditions on the way to the steps of a program's loops that are of a kind; on ways that are certain or possible.
pub(in crate::distribute) fn decisions(
    job: &Job<'_>,
    sureness: Confidence,
    is_meant: impl Fn(Caller, &Branch) -> bool,
) -> Vec<Location> {
    let loops = job.program.loops.iter().chain(&job.program.steps_of_fit);
    loops.flat_map(|own| decisions_of(job, own, sureness, &is_meant)).collect()
}

fn decisions_of(
    job: &Job<'_>,
    training_loop: &TrainingLoop,
    sureness: Confidence,
    is_meant: &impl Fn(Caller, &Branch) -> bool,
) -> Vec<Location> {
    let facts = job.facts;
    let mut found = Vec::new();
    let mut seen: FxHashSet<Caller> = FxHashSet::default();
    let at = |(file, id): (FileId, CallId)| {
        let call = facts.module(file).call(id);
        (Caller { file, scope: call.scope }, call.block)
    };
    let steps = training_loop.steps.iter().chain(&training_loop.by_hand).copied();
    let mut work: Vec<(Caller, BlockId)> = steps.map(at).collect();
    work.push(at((training_loop.caller.file, training_loop.call)));
    if session::is_session(training_loop) {
        let may_step = |&(file, call): &(FileId, CallId)| {
            session::runs(job, file, call) && !evaluations::only_evaluates(job, file, call)
        };
        work.extend(job.calls().filter(may_step).map(at));
    }
    while let Some((caller, block)) = work.pop() {
        let file = caller.file;
        for condition in facts.conditions(caller, block) {
            if is_meant(caller, &condition.branch) {
                found.push(facts.location(file, condition.branch.range));
            }
        }
        if !seen.insert(caller) {
            continue;
        }
        if let Some(function) = facts.function_of(caller) {
            let edges = facts.incoming(function).iter().filter(|edge| {
                facts.is_run(job.program, edge) && (sureness == Confidence::Possible || is_to_few(job, edge))
            });
            let calls: Vec<(FileId, CallId)> =
                edges.filter_map(|edge| Some((edge.caller.file, edge.call?))).collect();
            let is_generator = facts.module(file).function(function.function).generator;
            work.extend(calls.iter().filter(|_| is_generator).flat_map(|&call| turns_over(job, call)));
            work.extend(calls.into_iter().map(at));
        }
    }
    found
}

/// The bodies of the loops over what a call of a generator makes: the generator goes on with each of their turns.
fn turns_over(job: &Job<'_>, (file, id): (FileId, CallId)) -> Vec<(Caller, BlockId)> {
    let facts = job.facts;
    let module = facts.module(file);
    let call = module.call(id);
    let caller = Caller { file, scope: call.scope };
    let heads = module.scope(call.scope).flow.blocks.iter().filter_map(|block| {
        let branch = block.branch.filter(|branch| branch.kind == BranchKind::For)?;
        Some((branch.condition?, *block.successors.first()?))
    });
    let mut heads = heads.peekable();
    if heads.peek().is_none() {
        return Vec::new();
    }
    let handed = facts.influence().forwards(&[(file, call.result)], |_| false);
    heads.filter(|&(own, _)| handed.contains(&(file, own))).map(|(_, body)| (caller, body)).collect()
}

/// Of a call that may run more functions than this too little is known of what it is made on.
const FEW: usize = 4;

/// Whether a call may run a few functions only.
fn is_to_few(job: &Job<'_>, edge: &CallEdge) -> bool {
    let few = |call| job.facts.called_functions(edge.caller.file, call).take(FEW + 1).count() <= FEW;
    edge.call.is_none_or(few)
}
