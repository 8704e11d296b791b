//! The files that a program reads, and whether it makes them itself: what a call writes is output, or input for later.

use std::cell::RefCell;

use rustc_hash::FxHashSet;

use super::job::Job;
use crate::api::{Effect, EffectSet, Kind};
use crate::program::{Object, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Constant, Value, ValueId};

/// What a call's callees do themselves; a function of the project has its own statements.
pub(super) fn own_effects(job: &Job<'_>, file: FileId, id: CallId) -> EffectSet {
    let facts = job.facts;
    let callees = facts.callees(file, id);
    let mut effects = EffectSet::NONE;
    for edge in callees {
        match facts.solution.object(edge.callee) {
            Object::Function(_) | Object::Class(_) => return EffectSet::NONE,
            _ => effects = effects.union(facts.effects().of_edge(facts, edge).effects),
        }
    }
    effects
}

/// The texts that the paths of the files which the program reads are made of. What is put there is input, which every
/// rank needs.
pub(super) fn paths_read(job: &Job<'_>) -> FxHashSet<Place> {
    let reading = job.calls().filter(|&(file, call)| {
        !job.facts.opens_for_writing(file, job.facts.module(file).call(call))
            && (job.facts.opens(file, job.facts.module(file).call(call))
                || own_effects(job, file, call).contains(Effect::ReadsFile)
                    && !asks_for_existence(job, file, call))
    });
    let given: Vec<Place> = reading.flat_map(|(file, call)| arguments(job, file, call)).collect();
    texts_behind(job, &given)
}

/// Whether a call only asks whether there is a file.
fn asks_for_existence(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let library = job.facts.library;
    let truth = library.lookup("builtins.bool");
    job.facts
        .called_symbols(file, call)
        .all(|symbol| symbol.has(Effect::Varies) && library.returned_class(symbol) == truth)
}

/// Whether a path that a call is given names a file that the program reads.
pub(super) fn names_input(job: &Job<'_>, file: FileId, call: CallId, inputs: &FxHashSet<Place>) -> bool {
    !job.facts.concerns_weights(file, job.facts.module(file).call(call))
        && texts_behind(job, &arguments(job, file, call)).iter().any(|text| inputs.contains(text))
}

pub(super) fn arguments(job: &Job<'_>, file: FileId, call: CallId) -> Vec<Place> {
    job.facts.module(file).call(call).arguments.iter().map(|argument| (file, argument.value)).collect()
}

/// The string literals that values are made of, and the files whose content they are: what a file holds does not say
/// where it lies, and the elements of a dataset are examples.
pub(super) fn texts_behind(job: &Job<'_>, places: &[Place]) -> FxHashSet<Place> {
    let facts = job.facts;
    let content = RefCell::new(FxHashSet::default());
    let stops = |(file, value): Place| {
        let is_content = is_content(job, file, value);
        if is_content {
            content.borrow_mut().insert((file, value));
        }
        is_content || facts.may_be(file, value, Kind::Dataset)
    };
    let behind = facts.influence().backwards(places, stops);
    let is_text = |&(file, value): &Place| {
        matches!(facts.module(file).value(value).value, Value::Constant(Constant::Str(_)))
    };
    let mut found = content.into_inner();
    found.extend(behind.into_iter().filter(is_text));
    found
}

/// Whether a value is what a file holds, and no list of files.
fn is_content(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let Value::Call(call) = job.facts.module(file).value(value).value else { return false };
    job.facts.called_symbols(file, call).any(|symbol| {
        symbol.has(Effect::ReadsFile) && !symbol.has(Effect::Varies) && !symbol.has(Effect::WritesFile)
    })
}

/// Whether the program loads weights or models that it may have written itself.
pub(super) fn reads_what_it_writes(job: &Job<'_>) -> bool {
    job.calls().any(|(file, call)| loads(job, file, call))
}

fn loads(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let mut symbols = job.facts.called_symbols(file, call);
    symbols.any(|symbol| symbol.has(Effect::LoadsWeights) || symbol.has(Effect::LoadsModel))
}

/// Whether the program loads weights or models from where a call says that they lie: `restore(checkpoint.save(path))`.
pub(super) fn loads_from(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let result = job.facts.module(file).call(call).result;
    let known = job.facts.influence().forwards(&[(file, result)], |_| false);
    job.calls()
        .filter(|&(file, call)| loads(job, file, call))
        .any(|(file, call)| arguments(job, file, call).iter().any(|place| known.contains(place)))
}
