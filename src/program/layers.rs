//! The code of the project that a model of the library runs: that of the layers which it is made of.

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::influence::Place;
use super::modules::FunctionRef;
use super::object::{Object, ObjectId};
use super::solver::{CallEdge, Caller, Via};
use super::travel::code;
use crate::api::{Calls, Kind};
use crate::project::FileId;
use crate::semantic::{Call, CallId, Value};

/// The code of the layers of all models of the library.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// For each model that has layers of the project, or functions in layers of the library, their code.
    pub(super) of: FxHashMap<ObjectId, Vec<FunctionRef>>,
    /// The code that a scope runs because it calls such models.
    pub(super) called: FxHashMap<Caller, Vec<(CallEdge, FunctionRef)>>,
}

impl Facts<'_> {
    /// The layers of `Sequential([First()])`, `model.add(Second())` and `Model(inputs, Third()(inputs))`.
    pub(super) fn layers(&self) -> Layers {
        let mut found: FxHashMap<ObjectId, Vec<FunctionRef>> = FxHashMap::default();
        for (id, object) in self.solution.objects() {
            if self.is_assembled(id, object)
                && let Some((file, call)) = self.made_at(id)
            {
                let given: Vec<Place> = given(file, self.module(file).call(call)).collect();
                found.insert(id, self.layers_behind(given));
            }
        }
        if found.is_empty() {
            return Layers::default();
        }
        for file in self.files() {
            for call in &self.module(file).calls {
                let Some(receiver) = self.receiver(file, call) else { continue };
                let is_layer = |&(file, value): &Place| {
                    self.objects(file, value)
                        .any(|(id, _)| matches!(self.kind(id), Some(Kind::Layer | Kind::Model)))
                };
                let added: Vec<Place> = given(file, call).filter(is_layer).collect();
                if added.is_empty() {
                    continue;
                }
                for (model, _) in self.objects(file, receiver) {
                    if let Some(layers) = found.get_mut(&model) {
                        layers.extend(self.layers_behind(added.clone()));
                    }
                }
            }
        }
        found.retain(|_, layers| !layers.is_empty());
        for layers in found.values_mut() {
            layers.sort_unstable();
            layers.dedup();
        }
        let called = self.calls_of_models(&found);
        Layers { of: found, called }
    }

    fn calls_of_models(
        &self,
        layers: &FxHashMap<ObjectId, Vec<FunctionRef>>,
    ) -> FxHashMap<Caller, Vec<(CallEdge, FunctionRef)>> {
        let mut found: FxHashMap<Caller, Vec<(CallEdge, FunctionRef)>> = FxHashMap::default();
        for file in self.files().filter(|_| !layers.is_empty()) {
            for (index, call) in self.module(file).calls.iter().enumerate() {
                let caller = Caller { file, scope: call.scope };
                for &callee in self.solution.values(file, call.callee) {
                    let Some(functions) = layers.get(&callee) else { continue };
                    let call = Some(CallId::new(index));
                    let edge = CallEdge { caller, call, at: None, callee, via: Via::Library };
                    found
                        .entry(caller)
                        .or_default()
                        .extend(functions.iter().map(|&function| (edge, function)));
                }
            }
        }
        found
    }

    /// Whether an object is a model whose `call` is the library's.
    fn is_assembled(&self, id: ObjectId, object: Object) -> bool {
        matches!(object, Object::Created(..)) && self.kind(id) == Some(Kind::Model)
    }

    /// The code of the layers by which values are computed, and of those of models among them.
    fn layers_behind(&self, mut work: Vec<Place>) -> Vec<FunctionRef> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<ObjectId> = FxHashSet::default();
        while !work.is_empty() {
            for (file, value) in self.influence().backwards(&std::mem::take(&mut work), |_| false) {
                let module = self.module(file);
                let called = match module.value(value).value {
                    Value::Call(call) => Some(module.call(call).callee),
                    _ => None,
                };
                for (id, object) in [value].into_iter().chain(called).flat_map(|own| self.objects(file, own))
                {
                    match self.kind(id) {
                        Some(Kind::Layer) if seen.insert(id) => self.add_layer(id, object, &mut found),
                        Some(Kind::Model) if self.is_assembled(id, object) && seen.insert(id) => {
                            let made = self.made_at(id);
                            work.extend(
                                made.into_iter()
                                    .flat_map(|(file, call)| given(file, self.module(file).call(call))),
                            );
                        }
                        _ => {}
                    }
                }
            }
        }
        found
    }

    fn add_layer(&self, id: ObjectId, object: Object, found: &mut Vec<FunctionRef>) {
        match object {
            Object::Instance(class, _) => {
                let methods = self.methods(class).filter(|method| {
                    let module = self.module(method.file);
                    let name = module.names.text(module.function(method.function).name);
                    self.is_called_by_base(class, name)
                        && self.method(class, name) == Some(*method)
                        && !self.is_built_once(*method)
                });
                found.extend(methods);
            }
            // `Lambda(lambda x: x / 2)`
            Object::Created(..) => {
                let Some((file, call)) = self.made_at(id) else { return };
                found.extend(self.called_back(file, call));
            }
            _ => {}
        }
    }

    /// The functions that a layer of the library is given to call them.
    fn called_back(&self, file: FileId, id: CallId) -> Vec<FunctionRef> {
        let call = self.module(file).call(id);
        let mut found = Vec::new();
        for symbol in self.called_symbols(file, id).filter(|symbol| symbol.is_class()) {
            for called in symbol.calls() {
                if let Calls::Argument(name) = called
                    && let Some(argument) = self.argument(file, call, symbol, name)
                {
                    found.extend(self.objects(file, argument.value).filter_map(|(_, object)| code(object)));
                }
            }
        }
        found
    }
}

fn given(file: FileId, call: &Call) -> impl Iterator<Item = Place> + '_ {
    call.arguments.iter().map(move |argument| (file, argument.value))
}
