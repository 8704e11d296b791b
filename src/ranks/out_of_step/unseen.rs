//! Ranks that go different ways and may still be in step, by what can't be seen: a library that nobody knows calls the
//! function that communicates, or another library than Horovod has told all of them what to do.

use super::super::model::Model;
use crate::api::Effect;
use crate::program::{Caller, code};
use crate::semantic::{BlockId, CallId};

/// Whether the ways behind a branch may be alike nevertheless.
pub(super) fn may_be_in_step(model: &Model<'_>, caller: Caller, branch: BlockId) -> bool {
    let sides = model.blocks.sides(caller, branch);
    let calls = |block: BlockId| model.blocks.of(caller, block).calls.iter().copied();
    let hands_on = sides.keys().any(|&block| calls(block).any(|call| is_handed_on(model, caller, call)));
    hands_on || {
        let exchanging = sides.iter().filter(|(block, arms)| {
            arms.is_power_of_two() && calls(**block).any(|call| exchanges(model, caller, call))
        });
        exchanging.fold(0, |all, (_, arms)| all | arms).count_ones() > 1
    }
}

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
