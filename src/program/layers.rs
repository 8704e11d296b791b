//! The code of the project that a model of the library runs: that of the layers which it is made of.

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::influence::Place;
use super::modules::FunctionRef;
use super::object::{Object, ObjectId};
use super::travel::code;
use crate::api::{Calls, Kind};
use crate::project::FileId;
use crate::semantic::{Call, CallId, Value};

/// For each model of the library that has layers of the project, or functions in layers of the library, their code.
pub(super) type Layers = FxHashMap<ObjectId, Vec<FunctionRef>>;

impl Facts<'_> {
    /// The layers of `Sequential([First()])`, `model.add(Second())` and `Model(inputs, Third()(inputs))`.
    pub(super) fn layers(&self) -> Layers {
        let mut found = Layers::default();
        for (id, object) in self.solution.objects() {
            if self.is_assembled(id, object)
                && let Some((file, call)) = self.made_at(id)
            {
                let given: Vec<Place> = given(file, self.module(file).call(call)).collect();
                found.insert(id, self.layers_behind(given));
            }
        }
        if found.is_empty() {
            return found;
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
