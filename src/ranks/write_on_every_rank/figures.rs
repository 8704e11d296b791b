//! What pictures of Matplotlib's current figure show: `plt.savefig(path)` writes what all calls of `plt` have drawn.

use super::super::model::Model;
use super::run_calls;
use crate::api::{Effect, Role as Kind, Symbol};
use crate::program::{Caller, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Role};

/// The package that draws.
const MATPLOTLIB: &str = "matplotlib";

/// What the programs draw, each with the code that does, where a call saves the current figure; `None` if it does something
/// else, or others may draw: what makes figures and axes gives them away.
pub(super) fn drawn(model: &Model<'_>, file: FileId, id: CallId) -> Option<Vec<(Caller, Place)>> {
    let saves = |symbol: &Symbol| is_of_current_figure(symbol) && symbol.has(Effect::WritesFile);
    if !model.facts.called_symbols(file, id).any(saves) {
        return None;
    }
    let mut found = Vec::new();
    for (caller, id) in run_calls(model) {
        let call = model.facts.module(caller.file).call(id);
        let mut callees = model.facts.callees(caller.file, id).iter().map(|edge| edge.callee);
        if callees.any(|callee| is_of_matplotlib(model, callee)) {
            if call.role != Role::Statement {
                return None;
            }
            found.extend(call.arguments.iter().map(|own| (caller, (caller.file, own.value))));
        }
    }
    Some(found)
}

/// Whether an object is of the package, known or not.
fn is_of_matplotlib(model: &Model<'_>, object: ObjectId) -> bool {
    let Object::External(own) = model.facts.solution.object(object) else { return false };
    model.facts.solution.externals.get(own).path.split('.').next() == Some(MATPLOTLIB)
}

fn is_of_current_figure(symbol: &Symbol) -> bool {
    symbol.package() == MATPLOTLIB && *symbol.role() == Kind::Function
}
