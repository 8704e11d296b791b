//! Models that a `train_step` trains and the model that `fit` is called on knows nothing of: Keras tells a callback the variables of
//! attributes alone, so that no broadcast reaches them.

use super::job::Job;
use super::keras::{code_of_step, models_of};
use crate::program::{LoopKind, Object, ObjectId, Place, TrainingLoop, influenced_through_contents};
use crate::project::FileId;
use crate::semantic::{CallId, StoreKey};

/// Where a model is made that a step of `fit` trains, and that the fitted model does not have.
pub(super) fn untracked(job: &Job<'_>, own: &TrainingLoop) -> Option<(FileId, CallId)> {
    let fitted = models_of(job, own.caller.file, own.call);
    let code = code_of_step(job, own);
    let steps = job.program.steps_of_fit.iter();
    let steps = steps.filter(|step| step.kind == LoopKind::GradientTape && code.contains(&step.caller));
    let trained = steps.flat_map(|step| &step.models).filter(|own| !fitted.contains(own));
    let made = trained.filter_map(|&own| job.facts.made_at(own));
    made.into_iter().find(|&(file, call)| !fitted.is_empty() && !is_kept(job, (file, call), &fitted))
}

/// Whether what a call makes goes into an attribute of one of some models, or into a call that makes one or is a method of it.
fn is_kept(job: &Job<'_>, (file, call): (FileId, CallId), models: &[ObjectId]) -> bool {
    let facts = job.facts;
    let made: Place = (file, facts.module(file).call(call).result);
    let reached = influenced_through_contents(facts, &[made], |_| false);
    let is_model = |file: FileId, value| {
        facts.objects(file, value).any(|(id, own)| match own {
            Object::Super(_, receiver) => models.contains(&receiver),
            _ => models.contains(&id),
        })
    };
    job.program.files().into_iter().any(|file| {
        let module = facts.module(file);
        let stored = module.stores.iter().any(|own| {
            matches!(own.key, StoreKey::Attribute(_))
                && reached.contains(&(file, own.value))
                && is_model(file, own.base)
        });
        stored
            || module.calls.iter().any(|call| {
                call.arguments.iter().any(|own| reached.contains(&(file, own.value)))
                    && (is_model(file, call.result)
                        || facts.receiver(file, call).is_some_and(|own| is_model(file, own)))
            })
    })
}
