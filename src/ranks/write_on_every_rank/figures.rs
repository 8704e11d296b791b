//! What pictures show: `plt.savefig(path)` writes what all calls of `plt` have drawn, and what the methods of the figures and axes
//! that it gave.

use rustc_hash::FxHashSet;

use super::super::model::Model;
use super::run_calls;
use crate::api::{Effect, Symbol};
use crate::program::{Caller, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Role};

/// The packages that draw.
const DRAWING: [&str; 2] = ["matplotlib", "seaborn"];

/// What the programs draw, each with the code that does, where a call saves a figure; `None` if it does something else.
pub(super) fn drawn(model: &Model<'_>, file: FileId, id: CallId) -> Option<Vec<(Caller, Place)>> {
    let saves = |symbol: &Symbol| DRAWING.contains(&symbol.package()) && symbol.has(Effect::WritesFile);
    let facts = model.facts;
    if !facts.called_symbols(file, id).any(saves) {
        return None;
    }
    let calls = run_calls(model);
    let draws = |&(caller, id): &(Caller, CallId)| {
        facts.callees(caller.file, id).iter().any(|edge| is_of_drawing(model, edge.callee))
    };
    // `figure, axes = plt.subplots()`
    let given_away = calls.iter().filter(|own| draws(own)).filter_map(|&(caller, id)| {
        let call = facts.module(caller.file).call(id);
        (call.role != Role::Statement).then_some((caller.file, call.result))
    });
    let given_away: Vec<Place> = given_away.collect();
    let figures: FxHashSet<Place> = facts.influence().forwards(&given_away, |_| false);
    let mut found = Vec::new();
    for own in calls {
        let (caller, id) = own;
        let call = facts.module(caller.file).call(id);
        let place = |value| (caller.file, value);
        let given: Vec<Place> = call.arguments.iter().map(|own| place(own.value)).collect();
        let receiver = facts.receiver(caller.file, call).map(place);
        if draws(&own) || receiver.iter().chain(&given).any(|own| figures.contains(own)) {
            found.extend(given.into_iter().filter(|own| !figures.contains(own)).map(|own| (caller, own)));
        }
    }
    Some(found)
}

/// Whether an object is of such a package, known or not.
fn is_of_drawing(model: &Model<'_>, object: ObjectId) -> bool {
    let Object::External(own) = model.facts.solution.object(object) else { return false };
    let path = &model.facts.solution.externals.get(own).path;
    path.split('.').next().is_some_and(|package| DRAWING.contains(&package))
}
