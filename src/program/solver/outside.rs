//! Calls from outside of the project: what nobody in it calls may be called by others.

use super::super::hierarchy::Entity;
use super::{ClassRef, Field, FunctionRef, NodeId, Object, Solver, ValueId};
use crate::semantic::{Container, ParameterKind};

impl Solver<'_> {
    /// Methods that only code outside calls may be called on the instances that the project makes.
    pub(super) fn call_on_own_instances(&mut self, functions: &[FunctionRef]) {
        let instances = self.instances();
        for &function in functions {
            let own = self.modules.get(function.file).function(function.function);
            if let (Some(class), Some(receiver)) = (own.class, own.parameters.first())
                && own.statement.is_some()
                && !self.is_decorated_with(function, "staticmethod")
                && !self.is_decorated_with(function, "classmethod")
            {
                let node = self.node(function.file, receiver.value);
                let class = ClassRef { file: function.file, class };
                for &instance in instances.get(&class).into_iter().flatten() {
                    self.add(node, instance);
                }
            }
        }
    }

    /// The functions whose bodies are in that nobody calls.
    pub(super) fn uncalled(&self) -> Vec<FunctionRef> {
        let functions = self.modules.functions().filter(|function| !self.called.contains(function));
        functions.filter(|&function| self.is_in(function)).collect()
    }

    /// What nobody in the project calls may be called by others: with anything, by default with its defaults;
    /// a method for some instance of its class.
    pub(super) fn call_from_outside(&mut self, function: FunctionRef) {
        self.called.insert(function);
        let module = self.modules.get(function.file);
        let own = module.function(function.function);
        let is_static = self.is_decorated_with(function, "staticmethod");
        let is_class_method = self.is_decorated_with(function, "classmethod");
        for (index, parameter) in own.parameters.iter().enumerate() {
            let node = self.node(function.file, parameter.value);
            if index == 0
                && !is_static
                && own.statement.is_some()
                && let Some(class) = own.class
            {
                let class = ClassRef { file: function.file, class };
                let receiver = if is_class_method || module.names.text(own.name) == "__new__" {
                    Object::Class(class)
                } else {
                    Object::Instance(class, None)
                };
                self.add_new(node, receiver);
                continue;
            }
            match parameter.kind {
                ParameterKind::Variadic | ParameterKind::Keywords => {
                    let kind = match parameter.kind {
                        ParameterKind::Variadic => Container::Tuple,
                        _ => Container::Dict,
                    };
                    let container = self.objects.id(Object::Container(kind, node));
                    self.add(node, container);
                    let any = self.field(container, Field::Any);
                    self.unknown(any);
                }
                _ => {
                    if let Some(default) = parameter.default {
                        let default = self.node(function.file, default);
                        self.flow(default, node);
                    }
                    if let Some(annotation) = parameter.annotation {
                        self.add_annotated(function, annotation, node);
                    }
                    self.unknown(node);
                }
            }
        }
    }

    /// Whether a function's name says that it is for its own module or class.
    pub(super) fn is_private(&self, function: FunctionRef) -> bool {
        let module = self.modules.get(function.file);
        let name = module.names.text(module.function(function.function).name);
        name.starts_with('_') && !name.ends_with("__")
    }

    pub(super) fn add_annotated(&mut self, function: FunctionRef, annotation: ValueId, node: NodeId) {
        match self.resolver.entity(function.file, annotation) {
            Some(Entity::Class(class)) => self.add_new(node, Object::Instance(class, None)),
            Some(Entity::External(path)) => {
                let external = self.externals.id(&path);
                if self.externals.get(external).symbol.is_some_and(crate::api::Symbol::is_class) {
                    self.add_new(node, Object::Created(external, node));
                }
            }
            _ => {}
        }
    }

    pub(super) fn is_decorated_with(&self, function: FunctionRef, builtin: &str) -> bool {
        let own = self.modules.get(function.file).function(function.function);
        own.decorators.iter().any(|&decorator| {
            matches!(self.resolver.entity(function.file, decorator), Some(Entity::Builtin(name)) if name == builtin)
        })
    }
}
