//! Optimizers that are put into a model which is compiled already: `model.optimizer = Adam(0.1)`.

use super::super::job::Job;
use super::super::keras::Moment;
use crate::api::{Effect, Kind, Symbol};
use crate::finding::Location;
use crate::program::{Caller, ObjectId, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{CallId, Store, StoreKey, Value};

/// Why a model is not distributed whose optimizer is exchanged.
pub(super) const REPLACED: &str = "The optimizer that is put into the compiled model would average nothing: compile the model with it instead.";

/// Where an optimizer takes the place of the one that a model was compiled with, `model.optimizer = Adam(0.1)`, in front of a step
/// and not in the model's own code.
pub(super) fn replacing(job: &Job<'_>, model: ObjectId, own: &TrainingLoop) -> Option<Location> {
    let facts = job.facts;
    let trained = Moment::of(job, own.caller.file, own.call);
    let replaces = |&(file, store): &(FileId, &Store)| {
        !matches!(facts.module(file).value(store.base).value, Value::Parameter(..))
            && facts.may_be(file, store.value, Kind::Optimizer)
            && Moment::of_statement(job, file, store.statement).may_precede(job, trained)
    };
    put_into(job, model).into_iter().find(replaces).map(|(file, store)| facts.location(file, store.range))
}

/// Whether a distributed optimizer takes the place of the one that a model was compiled with:
/// `model.optimizer = hvd.DistributedOptimizer(model.optimizer)`.
pub(super) fn is_replaced(job: &Job<'_>, model: ObjectId) -> bool {
    let facts = job.facts;
    let is_distributed = |(file, call): (FileId, CallId)| {
        facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Distributes))
    };
    put_into(job, model).into_iter().any(|(file, store)| {
        let mut kept = facts.solution.values(file, store.value).iter();
        kept.any(|&own| facts.made_at(own).is_some_and(is_distributed))
    })
}

/// What code of the program puts into the attribute of a model that holds its optimizer.
fn put_into<'j>(job: &'j Job<'_>, model: ObjectId) -> Vec<(FileId, &'j Store)> {
    let facts = job.facts;
    let attribute = facts.library.lookup("tensorflow.keras.Model.optimizer").map(Symbol::last_name);
    let stores = job.program.files().into_iter().flat_map(|file| {
        let stores = facts.module(file).stores.iter();
        stores.map(move |store| (file, store))
    });
    let puts = |&(file, store): &(FileId, &Store)| {
        matches!(store.key, StoreKey::Attribute(name) if Some(facts.module(file).names.text(name)) == attribute)
            && job.program.reached.contains(&Caller { file, scope: store.scope })
            && facts.solution.values(file, store.base).contains(&model)
    };
    stores.filter(puts).collect()
}
