//! Models that one call makes again and again: whether a call of `compile` is about the one that another call trains.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::keras::Compile;
use crate::program::{Caller, FunctionRef, ObjectId, Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// Takes out the calls of `compile` that are about other models than the one that a loop trains, made by the same code:
/// `first.compile(...)` and `second.fit(...)` after `first, second = network(), network()`. Where it can't be told which
/// one is about that model, all stay.
pub(super) fn keep_those_of(
    job: &Job<'_>,
    model: ObjectId,
    own: &TrainingLoop,
    compiles: &mut Vec<Compile<'_>>,
) {
    let facts = job.facts;
    let receiver = |file: FileId, call: CallId| {
        facts.receiver(file, facts.module(file).call(call)).map(|receiver| (file, receiver))
    };
    let (Some(made), Some(trained)) = (facts.made_at(model), receiver(own.caller.file, own.call)) else {
        return;
    };
    if compiles.len() < 2 || !job.program.already_distributed {
        return;
    }
    let Some(copies) = Copies::new(job, made) else { return };
    let trained = copies.way_to(trained);
    let is_same = |compile: &Compile<'_>| {
        receiver(compile.file, compile.call).is_none_or(|own| !copies.differ(&copies.way_to(own), &trained))
    };
    let same: Vec<Compile<'_>> = compiles.iter().copied().filter(is_same).collect();
    if !same.is_empty() {
        *compiles = same;
    }
}

/// The objects that a call in a function makes, one each time that the function is called.
struct Copies<'j, 'c> {
    job: &'j Job<'c>,
    made: Place,
    /// What depends on them.
    behind: FxHashSet<Place>,
}

/// What hands an object on to a place, which comes last.
struct Way {
    to: Place,
    places: FxHashSet<Place>,
}

impl<'j, 'c> Copies<'j, 'c> {
    fn new(job: &'j Job<'c>, (file, call): (FileId, CallId)) -> Option<Self> {
        let data = job.facts.module(file).call(call);
        job.facts.function_of(Caller { file, scope: data.scope })?;
        let made = (file, data.result);
        Some(Self { job, made, behind: job.facts.influence().forwards(&[made], |_| false) })
    }

    fn way_to(&self, to: Place) -> Way {
        let influence = self.job.facts.influence();
        let mut places = influence.backwards(&[to], |place| !self.behind.contains(&place));
        places.retain(|place| self.behind.contains(place));
        Way { to, places }
    }

    /// Whether two ways are those of different objects: the functions that make one hand it to their caller and nobody
    /// else, and the ways part where different calls take it.
    fn differ(&self, one: &Way, other: &Way) -> bool {
        let is_common = |place: &Place| one.places.contains(place) && other.places.contains(place);
        let is_on_way = |place: &Place| one.places.contains(place) || other.places.contains(place);
        is_common(&self.made)
            && !is_common(&one.to)
            && !is_common(&other.to)
            && one.places.iter().filter(|&place| is_common(place)).all(|&place| {
                let dependents = self.job.facts.influence().dependents(place);
                let mut further = dependents.filter(|next| is_on_way(next) && !is_common(next));
                self.is_of_one_call(place) && further.all(|next| self.is_returned(place, next))
            })
    }

    /// Whether a place belongs to one call of its function: what others keep may be the same in all.
    fn is_of_one_call(&self, (file, value): Place) -> bool {
        matches!(
            self.job.facts.module(file).value(value).value,
            Value::Call(_) | Value::Phi(_) | Value::Display(..) | Value::Unpack { .. }
        )
    }

    /// Whether a function returns a value to the call at another place.
    fn is_returned(&self, (file, value): Place, (to, result): Place) -> bool {
        let facts = self.job.facts;
        let Value::Call(call) = facts.module(to).value(result).value else { return false };
        facts.called_functions(to, call).any(|function: FunctionRef| {
            function.file == file && facts.module(file).function(function.function).returns.contains(&value)
        })
    }
}
