//! Questions to the file system whose answer is the same on all ranks as long as their disks hold the same: whether
//! there is a file that the program does not write itself.

use rustc_hash::FxHashSet;

use super::destination::{self, Destination};
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
            .map(move |(id, call)| (has(file, id, Effect::MakesFolder), told(facts, file, id, call)))
    });
    let (folders, others): (Vec<_>, Vec<_>) = writing.partition(|&(is_folder, _)| is_folder);
    let written: Vec<Place> = others.into_iter().flat_map(|(_, given)| given).collect();
    let written: Vec<Place> = texts_behind(facts, &written).into_iter().collect();
    // All that names what is written.
    let named = facts.influence().forwards(&written, |_| false);
    let folders: Vec<FxHashSet<Place>> =
        folders.into_iter().map(|(_, given)| texts_behind(facts, &given)).collect();
    let is_stable = |&(file, value): &Place| {
        let Value::Call(call) = facts.module(file).value(value).value else { return false };
        let asked: Vec<Place> = given(facts, file, facts.module(file).call(call)).collect();
        !asked.iter().any(|place| named.contains(place)) && !is_in_one_made(facts, &asked, &folders)
    };
    questions.into_iter().filter(is_stable).collect()
}

/// Whether a path is made of no other texts than one of some folders that are made. In such a folder nothing is yet: what
/// is asked for there is another file.
fn is_in_one_made(facts: &Facts<'_>, asked: &[Place], folders: &[FxHashSet<Place>]) -> bool {
    let mut left: Vec<&FxHashSet<Place>> = folders.iter().filter(|folder| !folder.is_empty()).collect();
    let mut has_texts = false;
    // Most paths have a text that no folder has: nothing more has to be known of them.
    let mut leaves_none = |place: Place| {
        if is_text(facts, place) {
            has_texts = true;
            left.retain(|folder| folder.contains(&place));
        }
        left.is_empty()
    };
    if asked.iter().any(|&place| leaves_none(place)) {
        return false;
    }
    let _ = facts.influence().backwards(asked, leaves_none);
    has_texts && !left.is_empty() && !asked.iter().any(|&place| is_below_inserted(facts, place))
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

/// Where a call that writes does so, or all that it is given, if that does not tell it from what is written.
fn told(facts: &Facts<'_>, file: FileId, id: CallId, call: &Call) -> Vec<Place> {
    match destination::of(facts, file, id) {
        Some(Destination::Path(parts)) => parts,
        Some(Destination::Nowhere) => Vec::new(),
        None => given(facts, file, call).collect(),
    }
}

/// The string literals that values are made of.
fn texts_behind(facts: &Facts<'_>, places: &[Place]) -> FxHashSet<Place> {
    let behind = facts.influence().backwards(places, |_| false);
    behind.into_iter().filter(|&place| is_text(facts, place)).collect()
}

/// Whether a value is a string literal.
fn is_text(facts: &Facts<'_>, (file, value): Place) -> bool {
    matches!(facts.module(file).value(value).value, Value::Constant(Constant::Str(_)))
}

/// Whether a path is what an f-string names in a folder that it inserts: `f"{folder}/weights.h5"`.
fn is_below_inserted(facts: &Facts<'_>, place: Place) -> bool {
    let text = |(file, value): Place| facts.module(file).template(value);
    let behind = facts.influence().backwards(&[place], |place| text(place).is_some());
    behind.into_iter().filter_map(text).any(|text| text.starts_with("{}/") && !text.ends_with('}'))
}
