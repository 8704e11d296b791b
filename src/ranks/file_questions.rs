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
    let has = |file: FileId, call: CallId, effect: Effect| {
        facts.called_symbols(file, call).any(|symbol| symbol.has(effect))
    };
    let writing = files.iter().flat_map(|&file| {
        let calls =
            facts.module(file).calls.iter().enumerate().map(|(index, call)| (CallId::new(index), call));
        calls
            .filter(move |&(id, call)| {
                has(file, id, Effect::WritesFile) || facts.opens_for_writing(file, call)
            })
            .map(move |(id, call)| {
                (has(file, id, Effect::MakesFolder), given(facts, file, call).collect::<Vec<_>>())
            })
    });
    let (folders, others): (Vec<_>, Vec<_>) = writing.partition(|&(is_folder, _)| is_folder);
    let written: Vec<Place> = others.into_iter().flat_map(|(_, given)| given).collect();
    let written = texts_behind(facts, &written);
    let folders: Vec<FxHashSet<Place>> =
        folders.into_iter().map(|(_, given)| texts_behind(facts, &given)).collect();
    let is_stable = |&(file, value): &Place| {
        let Value::Call(call) = facts.module(file).value(value).value else { return false };
        let asked: Vec<Place> = given(facts, file, facts.module(file).call(call)).collect();
        let names_below = asked.iter().any(|&place| is_below_inserted(facts, place));
        let asked = texts_behind(facts, &asked);
        // In a folder that is made nothing is yet; what is asked for there is another file.
        let is_made =
            |folder: &FxHashSet<Place>| !names_below && !asked.is_empty() && asked.is_subset(folder);
        asked.is_disjoint(&written) && !folders.iter().any(is_made)
    };
    questions.into_iter().filter(is_stable).collect()
}

/// Whether a value is the answer to such a question.
pub(super) fn is_one(facts: &Facts<'_>, place: Place) -> bool {
    called(facts, place, |own| facts.library.asks_of_files(own))
}

/// Whether a value is the result of such a call.
fn called(facts: &Facts<'_>, (file, value): Place, wanted: impl Fn(&Symbol) -> bool) -> bool {
    match facts.module(file).value(value).value {
        Value::Call(call) => facts.called_symbols(file, call).any(wanted),
        _ => false,
    }
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

/// Whether a path is what an f-string names in a folder that it inserts: `f"{folder}/weights.h5"`.
fn is_below_inserted(facts: &Facts<'_>, place: Place) -> bool {
    let text = |(file, value): Place| facts.module(file).template(value);
    let behind = facts.influence().backwards(&[place], |place| text(place).is_some());
    behind.into_iter().filter_map(text).any(|text| text.starts_with("{}/") && !text.ends_with('}'))
}
