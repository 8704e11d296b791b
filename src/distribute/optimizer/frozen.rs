//! Models that Keras trains although all of their layers are frozen: there are no gradients, which Keras lets pass
//! and Horovod does not.

use super::super::job::Job;
use super::super::keras::{Compile, Moment};
use crate::finding::Location;
use crate::program::{Literal, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{Module, StatementKind, Store, StoreKey, Value, ValueId};

/// Why such a model is not trained with Horovod.
pub(super) const REASON: &str = "All layers of the model are frozen: without gradients a distributed optimizer fails. \
                                 Leave a layer trainable, or do not train the model.";

/// The attribute that freezes a layer, and all layers of a model.
const TRAINABLE: &str = "trainable";

/// The attribute that holds all layers of a model.
const LAYERS: &str = "layers";

/// Where all layers of a model are frozen before each of these calls of `compile`, if no layer is set free again.
pub(super) fn frozen(job: &Job<'_>, model: ObjectId, compiles: &[Compile<'_>]) -> Option<Location> {
    let facts = job.facts;
    let mut first = None;
    for file in job.program.files() {
        let module = facts.module(file);
        for store in module.stores.iter().filter(|store| sets(module, store, TRAINABLE)) {
            let Some(whole) = frozen_by(job, file, store) else { continue };
            if !facts.solution.values(file, whole).contains(&model) {
                continue;
            }
            let mut values = facts.objects(file, store.value).peekable();
            let is_false = |(_, object)| object == Object::Literal(Literal::Bool(false));
            let freezes =
                values.peek().is_some() && !facts.is_unknown(file, store.value) && values.all(is_false);
            let moment = Moment::of_statement(job, file, store.statement);
            let is_before = |compile: &Compile<'_>| {
                let compiled = Moment::of(job, compile.file, compile.call);
                compile.file == file
                    && module.call(compile.call).scope == store.scope
                    && moment.may_precede(job, compiled)
                    && !compiled.may_precede(job, moment)
            };
            // Those that are added later are not among the layers yet.
            let is_added_to = || whole != store.base && is_added_to_behind(job, model, moment);
            if !freezes || !compiles.iter().all(is_before) || is_added_to() {
                return None;
            }
            first.get_or_insert(facts.location(file, store.range));
        }
    }
    first.filter(|_| !compiles.is_empty())
}

fn sets(module: &Module, store: &Store, attribute: &str) -> bool {
    matches!(store.key, StoreKey::Attribute(name) if module.names.text(name) == attribute)
}

/// The model that a store freezes or sets free: `model.trainable = ...`, and `for layer in model.layers: ...` if
/// the store is made for each of them.
fn frozen_by(job: &Job<'_>, file: FileId, store: &Store) -> Option<ValueId> {
    let module = job.facts.module(file);
    let Value::Iteration(iterable) = module.value(store.base).value else { return Some(store.base) };
    let Value::Attribute { base, name, .. } = module.value(iterable).value else { return None };
    let around = module.statement(store.statement).parent?;
    let is_each = module.statement(around).kind == StatementKind::For;
    (is_each && module.names.text(name) == LAYERS).then_some(base)
}

/// Whether a layer may be added to a model after a moment.
fn is_added_to_behind(job: &Job<'_>, model: ObjectId, moment: Moment) -> bool {
    let facts = job.facts;
    let add = facts.library.lookup(ADD);
    job.calls().any(|(file, id)| {
        let receiver = facts.receiver(file, facts.module(file).call(id));
        receiver.is_some_and(|own| facts.solution.values(file, own).contains(&model))
            && facts.called_symbols(file, id).any(|own| Some(own) == add)
            && moment.may_precede(job, Moment::of(job, file, id))
    })
}

/// The method that adds a layer.
const ADD: &str = "tensorflow.keras.Sequential.add";
