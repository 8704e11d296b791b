//! Who calls whom, by qualified names.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{ClassRef, FunctionRef, Modules};
use super::object::{ExternalId, Literal, Object, ObjectId};
use super::solver::{CallEdge, Caller, Solution, Via};
use crate::semantic::{BuiltinType, Container, ScopeKind, Value};

/// The qualified names of code: `package.module.Class.method`.
#[derive(Clone, Copy, Debug)]
pub struct QualifiedNames<'a> {
    /// The modules.
    pub modules: &'a Modules,
}

impl QualifiedNames<'_> {
    /// A function's name.
    #[must_use]
    pub fn function(&self, function: FunctionRef) -> String {
        let module = self.modules.get(function.file);
        let scope = module.scope(module.function(function.function).scope);
        format!("{}.{}", self.modules.names[function.file.index()], scope.qualified_name)
    }

    /// A class's name.
    #[must_use]
    pub fn class(&self, class: ClassRef) -> String {
        let module = self.modules.get(class.file);
        let scope = module.scope(module.class(class.class).scope);
        format!("{}.{}", self.modules.names[class.file.index()], scope.qualified_name)
    }

    /// The name of the function, class body or module whose code a caller is.
    #[must_use]
    pub fn caller(&self, caller: Caller) -> String {
        let scope = self.modules.get(caller.file).scope(caller.scope);
        let name = &self.modules.names[caller.file.index()];
        if scope.qualified_name.is_empty() {
            name.clone()
        } else {
            format!("{name}.{}", scope.qualified_name)
        }
    }
}

/// A call with more candidates than this, unless they are one method of many classes, has lost track of the callee:
/// most of the candidates are wrong, and it is left out of the graph.
const CANDIDATES: usize = 8;

/// Whether value flow has lost track of what a call calls, by its edges.
#[must_use]
pub fn is_lost(modules: &Modules, solution: &Solution<'_>, edges: &[CallEdge]) -> bool {
    if edges.len() <= CANDIDATES || edges.iter().any(|edge| edge.call.is_none()) {
        return false;
    }
    let names = edges.iter().filter_map(|edge| match solution.object(edge.callee) {
        Object::Function(function) => {
            let module = modules.get(function.file);
            Some(module.names.text(module.function(function.function).name))
        }
        // Its initializer counts.
        Object::Class(_) | Object::Unknown => None,
        _ => Some(""),
    });
    let names: Vec<&str> = names.collect();
    // A name that is called stands for one function; an attribute is another method for each class of its owner.
    let is_method = edges.first().is_some_and(|edge| {
        let module = modules.get(edge.caller.file);
        edge.call.is_some_and(|call| {
            !matches!(module.value(module.call(call).callee).value, Value::Cell(_) | Value::Parameter(..))
        })
    });
    let is_of_classes = || edges.iter().any(|edge| matches!(solution.object(edge.callee), Object::Class(_)));
    names.len() > CANDIDATES && (names.iter().any(|name| *name != names[0]) || !is_method && !is_of_classes())
}

/// For each function and module the names of what it calls.
pub type Adjacency = BTreeMap<String, BTreeSet<String>>;

/// The calls that come about by `via` or more openly, as an adjacency map of qualified names: a reader of the
/// source sees those up to [`Via::Protocol`]. Each function of each module is a key, and so is all that is called.
#[must_use]
pub fn adjacency(modules: &Modules, solution: &Solution<'_>, via: Via) -> Adjacency {
    let names = QualifiedNames { modules };
    let mut graph = Adjacency::new();
    for file in modules.files() {
        let module = modules.get(file);
        graph.entry(modules.names[file.index()].clone()).or_default();
        for scope in &module.scopes {
            if let ScopeKind::Function(function) | ScopeKind::Lambda(function) = scope.kind {
                graph.entry(names.function(FunctionRef { file, function })).or_default();
            }
        }
    }
    let calls = solution.edges.chunk_by(|one, other| (one.caller, one.call) == (other.caller, other.call));
    for edge in calls.filter(|edges| !is_lost(modules, solution, edges)).flatten() {
        if edge.via > via {
            continue;
        }
        // What the language looks for in a library's class need not be there.
        if edge.via > Via::Source && matches!(solution.object(edge.callee), Object::External(_)) {
            continue;
        }
        if let Some(callee) = callee_name(names, solution, edge.callee) {
            graph.entry(callee.clone()).or_default();
            graph.entry(names.caller(edge.caller)).or_default().insert(callee);
        }
    }
    graph
}

/// What a called object is named; `None` for classes, whose `__init__` is called, and what nobody knows.
fn callee_name(names: QualifiedNames<'_>, solution: &Solution<'_>, callee: ObjectId) -> Option<String> {
    match solution.object(callee) {
        Object::Function(function) => Some(names.function(function)),
        Object::External(external) if external != ExternalId::NAMELESS => {
            Some(solution.externals.get(external).path.to_string())
        }
        Object::Builtin(name) => Some(format!("<builtin>.{}", solution.names.text(name))),
        Object::BuiltinMethod(receiver, name) => {
            let class = match solution.object(receiver) {
                Object::Literal(Literal::Str(_)) | Object::Type(BuiltinType::Str) => "Str",
                Object::Literal(Literal::Int(_)) | Object::Type(BuiltinType::Int) => "Int",
                Object::Literal(Literal::Bool(_)) | Object::Type(BuiltinType::Bool) => "Bool",
                Object::Type(BuiltinType::Float) => "Float",
                Object::Type(BuiltinType::Bytes) => "Bytes",
                Object::Type(BuiltinType::File) => "File",
                Object::Container(Container::List, _) => "List",
                Object::Container(Container::Dict, _) => "Dict",
                Object::Container(Container::Tuple, _) => "Tuple",
                Object::Container(Container::Set, _) => "Set",
                Object::Container(Container::Generator, _) => "Generator",
                _ => return None,
            };
            Some(format!("<**Py{class}**>.{}", solution.names.text(name)))
        }
        _ => None,
    }
}
