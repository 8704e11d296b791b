//! What it rests on that no file is written by several ranks.

use super::super::callbacks;
use super::super::model::Model;
use super::super::write_on_every_rank::{Fate, Inputs, fate};
use super::unknown::Survey;
use super::{Assumption, Claim, Code, Obstacle};
use crate::api::Effect;

pub(super) fn follow(model: &Model<'_>, survey: &Survey<'_, '_>, code: &Code<'_>, claim: &mut Claim) {
    let inputs = Inputs::new(model);
    let dangerous = survey.dangerous(&[Effect::WritesFile, Effect::WritesSummary]);
    for &(caller, block, call) in &code.calls {
        let at = model.at_call(caller.file, call);
        // What one rank does alone may be anything.
        if !model.guard(caller, block).is_one() {
            dangerous.note(claim, survey.callee(caller.file, call), at);
        }
        match fate(model, caller, call, &inputs) {
            // The check says the last.
            None | Some(Fate::Safe | Fate::Many { .. }) => {}
            Some(Fate::OncePerHost) => claim.assumes(Assumption::Hosts, at),
            Some(Fate::Fetched | Fate::Input) => claim.assumes(Assumption::Fetched, at),
            Some(Fate::IfMissing) => claim.fails(Obstacle::IfMissing, at),
            Some(Fate::Some) => claim.fails(Obstacle::SomeRanks, at),
            Some(Fate::PathsMayMeet) => claim.fails(Obstacle::PathsMayMeet, at),
        }
    }
    for own in &code.program.loops {
        if callbacks::are_unknown(model.facts, own) {
            claim.fails(Obstacle::Callbacks, model.facts.location(own.caller.file, own.range));
        }
    }
}
