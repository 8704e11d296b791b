//! Files that each rank has written itself, `checkpoint_{hvd.rank()}.npz`: what it finds there again is what it had, and says
//! no more of the other ranks than that did. Parts of the data that others have put there are another matter.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use super::{Difference, RANK, Values};
use crate::api::{Effect, Kind};
use crate::program::{Facts, Place};
use crate::semantic::{BuiltinType, CallId, Value};

/// What the programs tell calls that write: paths, and what these are made of.
#[derive(Debug, Default)]
pub(super) struct OwnFiles {
    told: OnceCell<FxHashSet<Place>>,
}

/// How much of what a path is made of is looked at.
const LIMIT: usize = 200;

impl OwnFiles {
    /// Whether a value is read from a path that differs between ranks by the rank's number in something that the programs
    /// write to as well.
    pub(super) fn are_read(&self, facts: &Facts<'_>, values: &Values, path: Place, read: Place) -> bool {
        if !facts.gives(read, &[Effect::ReadsFile, Effect::LoadsModel]) {
            return false;
        }
        let told_by_rank = |own: &Difference| facts.gives(own.source, &RANK);
        let Some(own) = values.difference(path).filter(told_by_rank) else { return false };
        let told = self.told.get_or_init(|| told_to_writers(facts));
        let mut seen: FxHashSet<Place> = FxHashSet::default();
        let mut work = vec![path];
        while let Some(place) = work.pop() {
            let is_of_rank = values.difference(place).is_some_and(|other| other.source == own.source);
            if seen.len() == LIMIT || !is_of_rank || !seen.insert(place) {
                continue;
            }
            if told.contains(&place) && is_joined(facts, place) {
                return true;
            }
            work.extend(facts.influence().operands(place));
        }
        false
    }
}

/// Whether a value is a text or path that something is joined to: the number of a rank by itself stands in all kinds of
/// paths.
fn is_joined(facts: &Facts<'_>, (file, value): Place) -> bool {
    let is_of_several = || facts.influence().operands((file, value)).nth(1).is_some();
    match facts.module(file).value(value).value {
        Value::Instance(BuiltinType::Str) => true,
        Value::Call(_) | Value::Operator { .. } => is_of_several(),
        _ => false,
    }
}

/// All that is told to calls that write files, estimators among them, and what that is made of.
fn told_to_writers(facts: &Facts<'_>) -> FxHashSet<Place> {
    let writing = facts.calls_with(Effect::WritesFile);
    let opening = facts.calls_with(Effect::ReadsFile);
    let opening =
        opening.filter(|&(file, call)| facts.opens_for_writing(file, facts.module(file).call(call)));
    let estimators = facts.creations.iter().filter(|made| made.kind == Kind::Estimator);
    let calls = writing.chain(opening).chain(estimators.map(|made| (made.file, made.call)));
    let given = calls.flat_map(|(file, call): (_, CallId)| {
        facts.module(file).call(call).arguments.iter().map(move |own| (file, own.value))
    });
    // What is read and written again has a path of its own.
    let is_read = |place: Place| facts.gives(place, &[Effect::ReadsFile]);
    facts.influence().backwards(&given.collect::<Vec<Place>>(), is_read)
}
