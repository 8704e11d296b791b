//! Variables that each rank has for itself: the parts of a table that is divided among the ranks (model parallelism). Their
//! gradients are not averaged.

use super::super::job::Job;
use crate::api::Effect;
use crate::program::{Object, Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::CallId;

/// Whether a loop of a distributed program may train such variables: objects of a class of the program's own, or those
/// that are left where another tape, which is distributed, gives gradients of the same loss.
pub(super) fn may_be_trained(job: &Job<'_>, own: &TrainingLoop) -> bool {
    own.gradients
        .iter()
        .any(|&gradients| is_of_own_class(job, gradients) || is_beside_distributed(job, gradients))
}

/// Whether gradients are taken of objects of a class of the program's own.
fn is_of_own_class(job: &Job<'_>, (file, call): (FileId, CallId)) -> bool {
    let facts = job.facts;
    let is_own = |object: Object| matches!(object, Object::Instance(..));
    argument(job, (file, call), "sources").is_some_and(|(file, value)| {
        facts.elements(file, value).into_iter().any(|id| {
            let elements = facts.solution.under_any_key(id);
            std::iter::once(&id).chain(elements).any(|&own| is_own(facts.solution.object(own)))
        })
    })
}

/// Whether a distributed tape gives gradients of the same loss in the same code.
fn is_beside_distributed(job: &Job<'_>, (file, call): (FileId, CallId)) -> bool {
    let facts = job.facts;
    let Some(loss) = argument(job, (file, call), "target") else { return false };
    let scope = facts.module(file).call(call).scope;
    facts.calls_with(Effect::TakesGradients).any(|(of, other)| {
        let data = facts.module(of).call(other);
        let is_distributed = |tape| {
            facts.made_at(tape).is_some_and(|(file, made)| {
                facts.called_symbols(file, made).any(|symbol| symbol.has(Effect::Distributes))
            })
        };
        of == file
            && data.scope == scope
            && argument(job, (of, other), "target") == Some(loss)
            && facts
                .receiver(of, data)
                .is_some_and(|tape| facts.objects(of, tape).any(|(tape, _)| is_distributed(tape)))
    })
}

fn argument(job: &Job<'_>, (file, call): (FileId, CallId), name: &str) -> Option<Place> {
    let data = job.facts.module(file).call(call);
    let mut symbols = job.facts.called_symbols(file, call);
    symbols.find_map(|symbol| job.facts.argument(file, data, symbol, name)).map(|own| (file, own.value))
}
