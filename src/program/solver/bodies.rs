//! The bodies of functions that values flow through: those of the roots, and of what they run.
//!
//! Most code of a large repository never meets a training library. A function that is no root comes in when one
//! that is in calls it or gives it to code that nobody knows, or when it is a method of an object that something of
//! training is put into: as call graphs are built on the fly (Rapid Type Analysis, Bacon and Sweeney 1996).

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::hierarchy::Ancestor;
use super::super::numbering::Lists;
use super::super::roots::Roots;
use super::{ClassRef, FileId, FunctionRef, Module, NodeId, Object, ObjectId, Solver, ValueId};
use crate::semantic::{CallId, ScopeId};

/// How often what has come in is asked for more: behind longer chains, all comes in.
const ROUNDS: usize = 8;

/// Which bodies are in.
#[derive(Debug)]
pub(super) struct Bodies {
    roots: Roots,
    /// The outermost functions that are in, of files that don't belong to the roots as a whole.
    inside: FxHashSet<FunctionRef>,
    /// The classes whose public methods have come in because their instances hold something of training.
    holding: FxHashSet<ClassRef>,
    /// Of the files that something has come in of.
    parts: FxHashMap<FileId, Rc<Parts>>,
}

/// What stands in each of the outermost functions of a file.
#[derive(Debug)]
struct Parts {
    values: Lists<ValueId>,
    calls: Lists<CallId>,
    stores: Lists<u32>,
}

impl Bodies {
    pub(super) fn new(roots: Roots) -> Self {
        let inside = roots.functions.clone();
        Self { roots, inside, holding: FxHashSet::default(), parts: FxHashMap::default() }
    }

    /// Whether values flow through the code of a scope.
    pub(super) fn contain(&self, file: FileId, scope: ScopeId) -> bool {
        let outermost = self.roots.outermost(file, scope);
        outermost.is_none_or(|function| self.inside.contains(&function))
    }

    fn parts(&mut self, file: FileId, module: &Module) -> Rc<Parts> {
        let roots = &self.roots;
        let parts = self.parts.entry(file).or_insert_with(|| Rc::new(Parts::new(roots, file, module)));
        Rc::clone(parts)
    }
}

impl Parts {
    fn new(roots: &Roots, file: FileId, module: &Module) -> Self {
        let function = |scope: ScopeId| Some(roots.outermost(file, scope)?.function.index());
        let of_value = |value: ValueId| function(module.value(value).scope);
        let count = module.functions.len();
        let values = (0..module.values.len()).map(ValueId::new);
        let own = values.filter(|&value| !module.value(value).is_shared());
        let calls = (0..module.calls.len()).map(CallId::new);
        let stores = (0..).zip(&module.stores);
        Self {
            values: Lists::group(count, own.filter_map(|value| Some((of_value(value)?, value)))),
            calls: Lists::group(count, calls.filter_map(|id| Some((function(module.call(id).scope)?, id)))),
            stores: Lists::group(count, stores.filter_map(|(id, store)| Some((of_value(store.base)?, id)))),
        }
    }
}

impl Solver<'_> {
    /// Whether values flow through the body of a function.
    pub(super) fn is_in(&self, function: FunctionRef) -> bool {
        let scope = self.modules.get(function.file).function(function.function).scope;
        self.bodies.contain(function.file, scope)
    }

    /// Lets values flow through the body of a function, and what it stands in.
    pub(super) fn bring_in(&mut self, function: FunctionRef) {
        let file = function.file;
        let module = self.modules.get(file);
        let scope = module.function(function.function).scope;
        if self.bodies.contain(file, scope) {
            return;
        }
        let Some(outermost) = self.bodies.roots.outermost(file, scope) else { return };
        self.bodies.inside.insert(outermost);
        let parts = self.bodies.parts(file, module);
        let own = outermost.function.index();
        for &value in parts.values.of(own) {
            self.add_value(file, module, value);
        }
        for &call in parts.calls.of(own) {
            self.add_call(file, module, call);
        }
        for &store in parts.stores.of(own) {
            self.add_store(file, module, store);
        }
    }

    /// Brings in the functions that code outside of the project gets hold of; tells whether there are any.
    pub(super) fn bring_in_more(&mut self, round: usize) -> bool {
        if self.bodies.roots.are_all() {
            return false;
        }
        let functions = if round < ROUNDS {
            let mut found = self.given_to_unknown();
            found.extend(self.methods_of_instances());
            found
        } else {
            self.modules.functions().filter(|&function| !self.is_in(function)).collect()
        };
        for &function in &functions {
            self.bring_in(function);
        }
        !functions.is_empty()
    }

    /// Functions that are not in, and are arguments of calls of what nobody knows, or of a library.
    fn given_to_unknown(&self) -> Vec<FunctionRef> {
        let outside = self
            .edges
            .iter()
            .filter(|edge| matches!(self.objects.get(edge.callee), Object::Unknown | Object::External(_)));
        let calls = outside.filter_map(|edge| Some((edge.caller.file, edge.call?)));
        let arguments = calls.flat_map(|(file, call)| {
            let arguments = &self.modules.get(file).call(call).arguments;
            arguments
                .iter()
                .flat_map(move |argument| &*self.nodes[self.node(file, argument.value).index()].objects)
        });
        let functions = arguments.filter_map(|&object| match self.objects.get(object) {
            Object::Function(function) | Object::Bound(_, function) => Some(function),
            _ => None,
        });
        functions.filter(|&function| !self.is_in(function)).collect()
    }

    /// Public methods that are not in, of the classes whose instances hold something of training: whoever has one
    /// may call them.
    fn methods_of_instances(&mut self) -> Vec<FunctionRef> {
        let held = self.fields.iter().filter_map(|(&(object, _), node)| match self.objects.get(object) {
            Object::Instance(class, Some(_)) => Some((class, *node)),
            _ => None,
        });
        let is_of_training =
            |node: NodeId| self.nodes[node.index()].objects.iter().any(|&object| self.is_of_training(object));
        let known = &self.bodies.holding;
        let mut classes: FxHashSet<ClassRef> = FxHashSet::default();
        for (class, node) in held {
            if !known.contains(&class) && !classes.contains(&class) && is_of_training(node) {
                let ancestors = self.hierarchy.order(class).iter().filter_map(|ancestor| match ancestor {
                    Ancestor::Project(class) => Some(*class),
                    _ => None,
                });
                classes.extend(ancestors.filter(|class| !known.contains(class)));
            }
        }
        let files: BTreeSet<FileId> = classes.iter().map(|class| class.file).collect();
        let is_method_of_one = |method: &FunctionRef| {
            self.modules.class_of(*method).is_some_and(|class| classes.contains(&class))
        };
        let methods =
            files.into_iter().flat_map(|file| self.modules.functions_of(file)).filter(is_method_of_one);
        let found = methods.filter(|&method| !self.is_private(method) && !self.is_in(method)).collect();
        self.bodies.holding.extend(classes);
        found
    }

    /// Whether an object is of a training library, or of code that starts with one.
    fn is_of_training(&self, object: ObjectId) -> bool {
        match self.objects.get(object) {
            Object::Function(function) | Object::Bound(_, function) => {
                self.bodies.roots.contain(self.modules, function)
            }
            Object::Class(class) | Object::Instance(class, _) => self.bodies.roots.are_all_of(class.file),
            Object::External(external) | Object::Created(external, _) | Object::Member(_, external) => {
                let library = self.externals.library();
                let path = &self.externals.get(external).path;
                library.is_training_library(path.split('.').next().unwrap_or_default())
            }
            _ => false,
        }
    }
}
