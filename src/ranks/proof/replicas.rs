//! What it rests on that what is trained is equal on all ranks.

use super::super::callbacks;
use super::super::model::Model;
use super::unknown::Survey;
use super::{Assumption, Claim, Code, Obstacle};
use crate::api::{Effect, Kind};
use crate::program::{Caller, ObjectId};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId, Value};

/// What changes a variable, a model or an optimizer.
const CHANGES: [Effect; 5] =
    [Effect::UpdatesState, Effect::Trains, Effect::AppliesGradients, Effect::Minimizes, Effect::LoadsWeights];

pub(super) fn follow(model: &Model<'_>, survey: &Survey<'_, '_>, code: &Code<'_>, claim: &mut Claim) {
    let facts = model.facts;
    let mut trained: Vec<ObjectId> = Vec::new();
    for own in code.program.loops.iter().chain(&code.program.steps_of_fit) {
        let at = facts.location(own.caller.file, own.range);
        if own.models.is_empty() && own.optimizers.is_empty() && own.by_hand.is_empty() {
            claim.fails(Obstacle::Trained, at);
        }
        if callbacks::are_unknown(model.facts, own) {
            claim.fails(Obstacle::Callbacks, at);
        }
        trained.extend(&own.models);
    }
    trained.sort_unstable();
    trained.dedup();
    for object in trained {
        begins(model, object, claim);
    }
    let dangerous = survey.dangerous(&CHANGES);
    for &(caller, block, call) in &code.calls {
        let at = model.at_call(caller.file, call);
        if !is_of_optimizer(model, caller.file, call) {
            dangerous.note(claim, survey.callee(caller.file, call), at);
        }
        of_library(model, caller, block, call, claim);
    }
}

/// Whether a call is a method of something that a known optimizer has, which the check follows:
/// `optimizer.learning_rate.assign(rate)`.
fn is_of_optimizer(model: &Model<'_>, file: FileId, id: CallId) -> bool {
    let facts = model.facts;
    let module = facts.module(file);
    let receiver = facts.receiver(file, module.call(id));
    receiver.is_some_and(|receiver| match module.value(receiver).value {
        Value::Attribute { base, .. } => {
            facts.may_be(file, base, Kind::Optimizer) && !facts.is_unknown(file, base)
        }
        _ => false,
    })
}

/// What it rests on that a model begins equal on all ranks, beside broadcasts.
fn begins(model: &Model<'_>, object: ObjectId, claim: &mut Claim) {
    let facts = model.facts;
    let Some((file, call)) = facts.made_at(object) else { return };
    let at = model.at_call(file, call);
    if is_read(model, file, call) {
        claim.assumes(Assumption::Files, at);
    } else if model.seeds.cover_weights(facts, file) {
        claim.assumes(Assumption::Seeds, at);
    }
}

fn is_read(model: &Model<'_>, file: FileId, call: CallId) -> bool {
    let reads = [Effect::LoadsModel, Effect::LoadsWeights, Effect::ReadsFile];
    model.facts.called_symbols(file, call).any(|symbol| reads.into_iter().any(|effect| symbol.has(effect)))
}

/// What it rests on that a call of a library makes or keeps replicas equal.
fn of_library(model: &Model<'_>, caller: Caller, block: BlockId, id: CallId, claim: &mut Claim) {
    let facts = model.facts;
    let file = caller.file;
    let at = model.at_call(file, id);
    for symbol in facts.called_symbols(file, id) {
        let sends = symbol.has(Effect::Broadcasts) && symbol.has(Effect::UpdatesState);
        let sends_later = symbol.is_class()
            && (facts.library.member_effects(symbol).contains(Effect::Broadcasts)
                || facts.library.kind_of_class(symbol) == Kind::Callback
                    && facts.library.hook_effects(symbol).contains(Effect::Broadcasts));
        if sends || sends_later {
            claim.assumes(Assumption::Broadcast, at);
        }
        if sends && !facts.conditions(caller, block).is_empty() {
            claim.assumes(Assumption::BroadcastInTime, at);
        }
        if symbol.has(Effect::LoadsWeights) {
            claim.assumes(Assumption::Files, at);
        }
    }
}
