//! What callbacks do that the project defines: they end training, by the metrics of an epoch or not, and communicate.

use rustc_hash::FxHashSet;

use super::super::model::Model;
use super::super::values::agrees;
use super::is_of_validation;
use crate::api::{Effect, Symbol};
use crate::distribute::{SHARES, hooks};
use crate::program::{Ancestor, CallEdge, Caller, ClassRef, FunctionRef, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Constant, Store, StoreKey, Value};

/// What the project's own code in a callback does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Own {
    /// It ends training.
    pub(super) stops: bool,
    /// It does so by the metrics that it is given, but not those of data to validate with.
    pub(super) stops_by_metrics: bool,
    /// It communicates.
    pub(super) shares: bool,
}

impl Own {
    pub(super) fn of(model: &Model<'_>, callback: ObjectId) -> Self {
        let facts = model.facts;
        let Object::Instance(class, _) = facts.solution.object(callback) else { return Self::default() };
        let hooks = hooks(facts, class).into_iter().map(|(file, function)| FunctionRef { file, function });
        let hooks: Vec<FunctionRef> = hooks.collect();
        let code = code(model, class, &hooks);
        let stopping: Vec<(Caller, &Store)> =
            code.iter().flat_map(|&caller| stops(model, caller).map(move |store| (caller, store))).collect();
        Self {
            stops: !stopping.is_empty(),
            stops_by_metrics: !stopping.is_empty()
                && is_decided_by(model, &stopping, &metrics(model, &hooks))
                && !names_validation(model, &code),
            shares: shares(model, &code),
        }
    }
}

/// Whether a callback of the project's broadcasts variables.
pub(in crate::ranks) fn broadcasts(model: &Model<'_>, callback: ObjectId) -> bool {
    let facts = model.facts;
    let Object::Instance(class, _) = facts.solution.object(callback) else { return false };
    let hooks = hooks(facts, class).into_iter().map(|(file, function)| FunctionRef { file, function });
    let code = code(model, class, &hooks.collect::<Vec<_>>());
    calls(model, &code).any(|(file, call)| {
        let has = |effect| facts.called_symbols(file, call).any(|symbol| symbol.has(effect));
        has(Effect::Broadcasts) && has(Effect::UpdatesState)
    })
}

/// Whether a class asks which rank it is on: it knows what others need not write.
pub(super) fn knows_ranks(model: &Model<'_>, callback: ObjectId) -> bool {
    let facts = model.facts;
    let Object::Instance(class, _) = facts.solution.object(callback) else { return false };
    let code = code(model, class, &facts.methods(class).collect::<Vec<_>>());
    calls(model, &code).any(|(file, call)| {
        facts
            .called_symbols(file, call)
            .any(|symbol| symbol.has(Effect::ReadsRank) || symbol.has(Effect::ReadsLocalRank))
    })
}

/// Whether code communicates by itself: what it calls is judged as code of its own.
fn shares(model: &Model<'_>, code: &FxHashSet<Caller>) -> bool {
    let facts = model.facts;
    calls(model, code).any(|(file, call)| {
        let caller = Caller { file, scope: facts.module(file).call(call).scope };
        let mut symbols = facts.called_symbols(file, call);
        symbols.any(|symbol| SHARES.into_iter().any(|effect| symbol.has(effect)))
            && model.code_communicates(caller)
    })
}

/// What code calls itself.
fn calls(model: &Model<'_>, code: &FxHashSet<Caller>) -> impl Iterator<Item = (FileId, CallId)> {
    let facts = model.facts;
    let edges = code.iter().flat_map(|&caller| facts.outgoing(caller));
    edges.filter_map(|edge| Some((edge.caller.file, edge.call?)))
}

/// The code that hooks run of objects of a class.
fn code(model: &Model<'_>, class: ClassRef, hooks: &[FunctionRef]) -> FxHashSet<Caller> {
    let facts = model.facts;
    let mut work: Vec<Caller> = hooks.iter().map(|&hook| facts.code_of(hook)).collect();
    let mut seen = FxHashSet::default();
    while let Some(caller) = work.pop() {
        if seen.insert(caller) {
            let called = facts.reached_functions(caller);
            let own = called.filter(|(edge, function)| !is_of_others(model, class, edge, *function));
            work.extend(own.map(|(_, function)| facts.code_of(function)));
        }
    }
    seen
}

/// Whether a method that others inherit too calls `self.method()` as only objects of other classes have it.
fn is_of_others(model: &Model<'_>, class: ClassRef, edge: &CallEdge, function: FunctionRef) -> bool {
    let facts = model.facts;
    let (file, Some(call)) = (edge.caller.file, edge.call) else { return false };
    let is_own = |own: ClassRef| facts.hierarchy.order(class).contains(&Ancestor::Project(own));
    let defined = facts.modules.class_of(function);
    let module = facts.module(file);
    let receiver = facts.receiver(file, module.call(call));
    let itself = facts.function_of(edge.caller).and_then(|own| {
        let own = module.function(own.function);
        own.class?;
        own.parameters.first()
    });
    defined.is_some_and(|defined| !is_own(defined))
        && itself.is_some_and(|itself| receiver == Some(itself.value))
}

/// Where a scope's code ends training: `self.model.stop_training = True`.
fn stops<'m>(model: &Model<'m>, caller: Caller) -> impl Iterator<Item = &'m Store> {
    let facts = model.facts;
    let attribute = facts.library.lookup("tensorflow.keras.Model.stop_training");
    let attribute = attribute.filter(|own| own.has(Effect::StopsTraining)).map(Symbol::last_name);
    let module = facts.module(caller.file);
    module.stores.iter().filter(move |store| {
        store.scope == caller.scope
            && matches!(store.key, StoreKey::Attribute(name) if Some(module.names.text(name)) == attribute)
    })
}

/// What hooks are given of an epoch or batch: their last parameter.
fn metrics(model: &Model<'_>, hooks: &[FunctionRef]) -> Vec<Place> {
    let last = |hook: &FunctionRef| {
        let own = model.facts.module(hook.file).function(hook.function);
        own.parameters.last().map(|parameter| (hook.file, parameter.value))
    };
    hooks.iter().filter_map(last).collect()
}

/// Whether values decide that something is stored.
fn is_decided_by(model: &Model<'_>, stores: &[(Caller, &Store)], values: &[Place]) -> bool {
    let facts = model.facts;
    let is_common = |place| agrees(facts, place);
    let behind = facts.influence().forwards(values, is_common);
    stores.iter().any(|&(caller, store)| {
        let block = facts.module(caller.file).statement(store.statement).block;
        let conditions = facts.conditions(caller, block);
        let conditions = conditions.iter().filter_map(|own| own.branch.condition);
        conditions.map(|value| (caller.file, value)).any(|own| behind.contains(&own) && !is_common(own))
    })
}

/// Whether code names a metric of data to validate with.
fn names_validation(model: &Model<'_>, code: &FxHashSet<Caller>) -> bool {
    code.iter().any(|caller| {
        let module = model.facts.module(caller.file);
        module.values.iter().any(|own| match own.value {
            Value::Constant(Constant::Str(text)) => {
                own.scope == caller.scope && is_of_validation(module.names.text(text))
            }
            _ => false,
        })
    })
}
