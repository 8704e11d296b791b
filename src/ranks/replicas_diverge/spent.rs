//! A callback that broadcasts does so once: with the first batch of the first `fit` that it is given to. What a later one
//! trains with the same callback is not broadcast.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::model::Model;
use super::Replicas;
use crate::finding::Location;
use crate::program::{Caller, LoopKind, Object, ObjectId, Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{Call, CallId, Container, Value};
use crate::syntax::TextRange;

/// The parameter of `fit` that takes callbacks.
const CALLBACKS: &str = "callbacks";

/// For each list of callbacks the first call of `fit`, of the same code, that is given it.
pub(super) struct FirstFits(FxHashMap<ObjectId, CallId>);

impl FirstFits {
    pub(super) fn new<'l>(model: &Model<'_>, loops: impl Iterator<Item = &'l TrainingLoop>) -> Self {
        let mut first: FxHashMap<ObjectId, CallId> = FxHashMap::default();
        for own in loops.filter(|own| own.kind == LoopKind::KerasFit) {
            let file = own.caller.file;
            if let Some((list, _)) = list_of_callbacks(model, file, own.call) {
                let call = first.entry(list).or_insert(own.call);
                if own.range.start() < model.facts.module(file).call(*call).range.start() {
                    *call = own.call;
                }
            }
        }
        Self(first)
    }

    /// The list that a call of `fit` is given its callbacks in, if another one that certainly came before was given the
    /// same: its callbacks have broadcast there already.
    pub(super) fn spent(&self, model: &Model<'_>, file: FileId, id: CallId) -> Option<(TextRange, CallId)> {
        let (list, written) = list_of_callbacks(model, file, id)?;
        let &first = self.0.get(&list)?;
        let module = model.facts.module(file);
        let (before, call) = (module.call(first), module.call(id));
        let caller = Caller { file, scope: call.scope };
        let is_before = written.end() <= before.range.start()
            && before.range.end() <= call.range.start()
            && model.guards.is_behind(model.facts, caller, before.block, call.block);
        (is_before && !shares_parts(model, file, before, call)).then_some((written, first))
    }
}

impl Replicas<'_, '_> {
    /// The earlier training that the callbacks of a call of `fit` have broadcast in.
    pub(super) fn first_fit(&self, training: &TrainingLoop) -> Option<Location> {
        let file = training.caller.file;
        let (_, first) = self.first_fits.spent(self.model, file, training.call)?;
        Some(self.model.at_call(file, first))
    }
}

/// Whether the models of two calls of `fit` may have layers in common, which the first one has made equal: whether anything
/// that is made is behind both.
fn shares_parts(model: &Model<'_>, file: FileId, one: &Call, other: &Call) -> bool {
    let facts = model.facts;
    let made = |call: &Call| -> FxHashSet<Place> {
        let trained: Vec<Place> = facts.receiver(file, call).into_iter().map(|value| (file, value)).collect();
        let behind = facts.influence().backwards(&trained, |_| false).into_iter();
        behind.filter(|&(of, value)| matches!(facts.module(of).value(value).value, Value::Call(_))).collect()
    };
    !made(one).is_disjoint(&made(other))
}

/// The one list of the same code that holds the callbacks of a call of `fit`, and where it is written.
fn list_of_callbacks(model: &Model<'_>, file: FileId, id: CallId) -> Option<(ObjectId, TextRange)> {
    let facts = model.facts;
    let module = facts.module(file);
    let call = module.call(id);
    let given =
        facts.called_symbols(file, id).find_map(|symbol| facts.argument(file, call, symbol, CALLBACKS))?;
    let mut objects = facts.objects(file, given.value).filter(|_| !facts.is_unknown(file, given.value));
    let (list, Object::Container(Container::List, node)) = objects.next()? else { return None };
    let (made, value) = facts.solution.origin(node)?;
    let written = module.values.get(value.index()).filter(|_| made == file)?;
    (objects.next().is_none() && written.scope == call.scope).then_some((list, written.range))
}
