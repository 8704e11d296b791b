//! Paths that all ranks read from the same files: `open(json.load(open("options.json"))["log"], "w")`.
//!
//! What differs by files may be something else on another rank, for all that the program says: a directory is listed in
//! another order, and a file that a rank has changed reads otherwise. The contents of a file that nobody changes are as
//! equal as the paths of the text itself.

use rustc_hash::FxHashSet;

use super::super::guards::{Atom, Guard};
use super::super::model::Model;
use super::super::values::Cause;
use super::inputs::Inputs;
use crate::api::Effect;
use crate::program::{Caller, Place};
use crate::semantic::{BlockId, Value};

/// Of how many values at most what a value is made of is followed back.
const STEPS: usize = 2048;

/// How paths begin of files that tell of the host or the process.
const OF_HOSTS: [&str; 4] = ["/dev/", "/proc/", "/sys/", "/etc/"];

/// Whether a value may only differ where the contents of the same files do.
pub(in crate::ranks) fn is_read_alike(
    model: &Model<'_>,
    inputs: &Inputs,
    caller: Caller,
    value: Place,
) -> bool {
    let influence = model.facts.influence();
    let mut seen: FxHashSet<Place> = FxHashSet::default();
    let mut work = vec![value];
    while let Some(place) = work.pop() {
        let Some(own) = model.difference(place) else { continue };
        if own.cause != Cause::Files || !is_of_contents(model, inputs, caller, own.source) {
            return false;
        }
        if seen.insert(place) {
            if seen.len() > STEPS {
                return false;
            }
            work.extend(influence.operands(place));
        }
    }
    true
}

/// Takes out of what guards a block what is decided by such a value: all ranks decide alike.
pub(super) fn without_conditions(
    model: &Model<'_>,
    inputs: &Inputs,
    caller: Caller,
    block: BlockId,
    guard: &mut Guard,
) {
    if !guard.0.iter().any(|own| matches!(own.atom, Atom::True(_, Cause::Files))) {
        return;
    }
    // Also those under which the program has ended before.
    let blocks = &model.facts.module(caller.file).scope(caller.scope).flow.blocks;
    for decides in model.control(caller).of(block) {
        let Some(value) = blocks[decides.index()].branch.and_then(|own| own.condition) else { continue };
        let decided = (caller.file, value);
        if is_read_alike(model, inputs, caller, decided) {
            let said = [true, false].map(|holds| model.literals(decided, holds));
            guard.0.retain(|own| !said.iter().any(|said| said.0.contains(own)));
        }
    }
}

/// Whether a value is what a file holds that the programs don't write, and no answer of the file system.
fn is_of_contents(model: &Model<'_>, inputs: &Inputs, caller: Caller, (file, value): Place) -> bool {
    let facts = model.facts;
    let Value::Call(call) = facts.module(file).value(value).value else { return false };
    let mut given = facts.module(file).call(call).arguments.iter().map(|own| (file, own.value));
    let is_apart = |path: Place| {
        inputs.are_written(model, caller, path)
            || model.text(path).is_some_and(|text| OF_HOSTS.iter().any(|own| text.starts_with(own)))
    };
    !facts.gives((file, value), &[Effect::Varies]) && !given.any(is_apart)
}
