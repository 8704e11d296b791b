//! Questions to the file system whose answer is the same on all ranks as long as their disks hold the same: whether
//! there is a file that the program does not write itself.

use rustc_hash::FxHashSet;

use crate::api::{Effect, Symbol};
use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{Call, CallId, Constant, Value};

/// The questions among some places that ask for nothing that is written in these files.
pub(super) fn stable(facts: &Facts<'_>, files: &[FileId], places: &[Place]) -> FxHashSet<Place> {
    let questions: Vec<Place> = places.iter().copied().filter(|&place| is_one(facts, place)).collect();
    if questions.is_empty() {
        return FxHashSet::default();
    }
    let writing = files.iter().flat_map(|&file| {
        let calls = facts.module(file).calls.iter().enumerate();
        calls
            .filter(move |(index, call)| {
                let writes = |symbol: &Symbol| symbol.has(Effect::WritesFile);
                facts.called_symbols(file, CallId::new(*index)).any(writes)
                    || facts.opens_for_writing(file, call)
            })
            .flat_map(move |(_, call)| given(facts, file, call))
    });
    let written = texts_behind(facts, &writing.collect::<Vec<_>>());
    let is_stable = |&(file, value): &Place| {
        let Value::Call(call) = facts.module(file).value(value).value else { return false };
        let asked: Vec<Place> = given(facts, file, facts.module(file).call(call)).collect();
        texts_behind(facts, &asked).is_disjoint(&written)
    };
    questions.into_iter().filter(is_stable).collect()
}

/// Whether a value is the answer to such a question.
pub(super) fn is_one(facts: &Facts<'_>, place: Place) -> bool {
    called(facts, place, |own| asks(facts, own))
}

/// Whether a value is the result of such a call.
fn called(facts: &Facts<'_>, (file, value): Place, wanted: impl Fn(&Symbol) -> bool) -> bool {
    match facts.module(file).value(value).value {
        Value::Call(call) => facts.called_symbols(file, call).any(wanted),
        _ => false,
    }
}

/// `os.path.exists`, not `os.listdir`.
fn asks(facts: &Facts<'_>, symbol: &Symbol) -> bool {
    let truth = facts.library.lookup("builtins.bool");
    let is_known = symbol.has(Effect::ReadsFile) && symbol.has(Effect::Varies);
    is_known && facts.library.returned_class(symbol) == truth
}

/// What a call is given, with the path that it is a method of.
fn given(facts: &Facts<'_>, file: FileId, call: &Call) -> impl Iterator<Item = Place> {
    let arguments = call.arguments.iter().map(|argument| argument.value);
    arguments.chain(facts.path_asked(file, call)).map(move |value| (file, value))
}

/// The string literals that values are made of.
fn texts_behind(facts: &Facts<'_>, places: &[Place]) -> FxHashSet<Place> {
    let behind = facts.influence().backwards(places, |_| false);
    let is_text = |&(file, value): &Place| {
        matches!(facts.module(file).value(value).value, Value::Constant(Constant::Str(_)))
    };
    behind.into_iter().filter(is_text).collect()
}
