//! Ranks that go different ways and may still be in step, by what can't be seen: a library that nobody knows calls the
//! function that communicates, another library than Horovod has told all of them what to do, or Horovod is started again.

use super::super::model::Model;
use crate::api::Effect;
use crate::program::{Caller, code};
use crate::semantic::{BlockId, CallId};

/// How deep the code is looked at that a branch calls.
const DEPTH: u32 = 4;

/// Whether the ways behind a branch may be alike nevertheless.
pub(super) fn may_be_in_step(model: &Model<'_>, caller: Caller, branch: BlockId) -> bool {
    let sides = model.blocks.sides(caller, branch);
    let calls = |block: BlockId| model.blocks.of(caller, block).calls.iter().copied();
    let hands_on = sides.keys().any(|&block| calls(block).any(|call| is_handed_on(model, caller, call)));
    let is_of_one_side = |block: &&BlockId| sides[*block].is_power_of_two();
    let restarts = || {
        sides.keys().filter(is_of_one_side).any(|&block| {
            calls(block).any(|call| {
                let mut functions = model.facts.called_functions(caller.file, call);
                functions.any(|function| starts_again(model, model.facts.code_of(function), DEPTH))
            })
        })
    };
    hands_on || restarts() || {
        let exchanging = sides.iter().filter(|(block, arms)| {
            arms.is_power_of_two() && calls(**block).any(|call| exchanges(model, caller, call))
        });
        exchanging.fold(0, |all, (_, arms)| all | arms).count_ones() > 1
    }
}

/// Whether code ends Horovod and starts it again: what the others then communicate fails, and most likely they do the same.
fn starts_again(model: &Model<'_>, code: Caller, depth: u32) -> bool {
    let facts = model.facts;
    let end = facts.library.lookup(END);
    let (mut ends, mut starts) = (false, false);
    for edge in facts.outgoing(code) {
        let symbol = facts.symbol(facts.solution.object(edge.callee));
        ends |= symbol.is_some() && symbol == end;
        starts |= symbol.is_some_and(|own| own.has(Effect::Initializes));
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    ends && starts
        || facts.reached_functions(code).any(|(_, function)| {
            let inner = facts.code_of(function);
            model.code_communicates(inner) && starts_again(model, inner, depth)
        })
}

/// What ends Horovod.
const END: &str = "horovod.tensorflow.shutdown";

/// Whether a call gives code that communicates to a library that may call it any number of times:
/// `study.optimize(objective, n_trials=10)`.
fn is_handed_on(model: &Model<'_>, caller: Caller, call: CallId) -> bool {
    let facts = model.facts;
    let communicates = |value| {
        let functions = facts.objects(caller.file, value).filter_map(|(_, object)| code(object));
        functions.map(|function| facts.code_of(function)).any(|code| model.code_communicates(code))
    };
    facts.module(caller.file).call(call).arguments.iter().any(|own| communicates(own.value))
        && facts.loses_arguments(caller.file, call)
}

/// Whether ranks exchange values by another library: `MPI.COMM_WORLD.bcast(stop)`.
fn exchanges(model: &Model<'_>, caller: Caller, call: CallId) -> bool {
    model.facts.called_symbols(caller.file, call).any(|symbol| symbol.has(Effect::Exchanges))
}
