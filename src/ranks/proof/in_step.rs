//! What it rests on that all ranks take part in the same collectives.

use super::super::callbacks;
use super::super::lengths::range_limits_of;
use super::super::model::Model;
use super::super::out_of_step::{Behind, Decision, is_written_out};
use super::unknown::{Callee, Survey};
use super::{Assumption, Claim, Code, Obstacle};
use crate::api::{Effect, Symbol};
use crate::program::Object;
use crate::project::FileId;
use crate::semantic::{Argument, BlockId, BranchKind, CallId};

pub(super) fn follow(model: &Model<'_>, survey: &Survey<'_, '_>, code: &Code<'_>, claim: &mut Claim) {
    let behind = Behind::new(model);
    for &caller in &code.callers {
        let flow = &model.facts.module(caller.file).scope(caller.scope).flow;
        for block in (0..flow.blocks.len()).map(BlockId::new).filter(|&block| flow.is_reachable(block)) {
            if let Some(decision) = Decision::of(model, caller, block, &behind) {
                decided(model, survey, &decision, claim);
            }
        }
    }
    let dangerous = survey.communicating();
    for &(caller, _, call) in &code.calls {
        let at = model.at_call(caller.file, call);
        let callee = survey.callee(caller.file, call);
        dangerous.note(claim, callee, at);
        if callee != Callee::Known && hands_over(model, caller.file, call) {
            claim.assumes(Assumption::HandedOver, at);
        }
        of_library(model, caller.file, call, claim);
    }
    for &caller in code.callers.iter().filter(|caller| model.comms.is_recursive(**caller)) {
        if let Some(function) = model.facts.function_of(caller) {
            let range = model.facts.module(caller.file).function(function.function).range;
            claim.fails(Obstacle::Recursion, model.facts.location(caller.file, range));
        }
    }
    for fit in &code.program.loops {
        if callbacks::are_unknown(model.facts, fit) {
            claim.fails(Obstacle::Callbacks, model.facts.location(fit.caller.file, fit.range));
        }
    }
}

/// What it rests on that all ranks decide alike, where ranks that do not would part.
fn decided(model: &Model<'_>, survey: &Survey<'_, '_>, decision: &Decision, claim: &mut Claim) {
    let file = decision.caller.file;
    let at = model.facts.location(file, decision.branch.range);
    if decision.difference.is_some() && !decision.only_fails {
        // The check says so.
        return;
    }
    let kind = decision.branch.kind;
    let Some(condition) = decision.branch.condition else { return claim.assumes(Assumption::Exceptions, at) };
    match kind {
        BranchKind::Try | BranchKind::Assert => claim.assumes(Assumption::Exceptions, at),
        _ if decision.only_fails => claim.assumes(Assumption::Exceptions, at),
        BranchKind::For if is_written_out(model, file, condition) => {}
        BranchKind::For if model.facts.is_unknown(file, condition) => claim.fails(Obstacle::Turns, at),
        BranchKind::For if range_limits_of(model.facts, (file, condition)).is_some() => {}
        BranchKind::For => claim.assumes(Assumption::Turns, at),
        BranchKind::Match if model.difference((file, condition)).is_some() => {
            claim.fails(Obstacle::Condition, at);
        }
        _ if survey.is_unknown((file, condition)) => claim.fails(Obstacle::Condition, at),
        _ => {}
    }
}

/// Whether a call hands a function over that communicates.
fn hands_over(model: &Model<'_>, file: FileId, id: CallId) -> bool {
    let facts = model.facts;
    let given = facts.module(file).call(id).arguments.iter();
    let mut functions = given.flat_map(|argument| facts.objects(file, argument.value)).filter_map(
        |(_, object)| match object {
            Object::Function(function) | Object::Bound(_, function) => Some(function),
            _ => None,
        },
    );
    functions.any(|function| model.code_communicates(facts.code_of(function)))
}

/// What it rests on that a call of a library keeps ranks in step.
fn of_library(model: &Model<'_>, file: FileId, id: CallId, claim: &mut Claim) {
    let facts = model.facts;
    let at = model.at_call(file, id);
    let call = facts.module(file).call(id);
    let given =
        |symbol: &Symbol, name: &str| -> Option<&Argument> { facts.argument(file, call, symbol, name) };
    let gathers = facts.library.lookup("horovod.tensorflow.allgather");
    for symbol in facts.called_symbols(file, id) {
        let is_given = ["tensor", "value"].into_iter().any(|name| given(symbol, name).is_some());
        if symbol.has(Effect::Collective) && Some(symbol) != gathers && is_given {
            claim.assumes(Assumption::Shapes, at);
        }
        let counts = symbol.parameter("steps_per_epoch").is_some();
        if symbol.has(Effect::Trains)
            && counts
            && given(symbol, "steps_per_epoch").is_none()
            && model.fit_communicates(file, id)
        {
            claim.assumes(Assumption::Turns, at);
        }
        if symbol.has(Effect::Spawns)
            && facts
                .called_functions(file, id)
                .any(|function| model.code_communicates(facts.code_of(function)))
        {
            claim.fails(Obstacle::Thread, at);
        }
    }
}
