//! What running code does besides returning a value: the effects of library calls, joined bottom-up over the
//! call graph's strongly connected components.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::object::{Object, ObjectId};
use super::solver::{CallEdge, Caller};
use crate::api::EffectSet;
use crate::semantic::ScopeId;

/// The effects of each scope of the concerned files.
#[derive(Debug, Default)]
pub struct Effects {
    scopes: FxHashMap<Caller, Summary>,
}

/// What is known of running some code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// What it may do.
    pub effects: EffectSet,
    /// It calls something that nobody knows.
    pub unknown: bool,
}

impl Summary {
    fn join(&mut self, other: Self) {
        self.effects = self.effects.union(other.effects);
        self.unknown |= other.unknown;
    }
}

impl Effects {
    /// Joins the effects of all scopes along their calls.
    #[must_use]
    pub fn new(facts: &Facts<'_>) -> Self {
        let mut graph = DiGraph::<Caller, ()>::new();
        let mut nodes: FxHashMap<Caller, NodeIndex> = FxHashMap::default();
        for file in facts.files() {
            for index in 0..facts.module(file).scopes.len() {
                let caller = Caller { file, scope: ScopeId::new(index) };
                nodes.insert(caller, graph.add_node(caller));
            }
        }
        let callers: Vec<Caller> = graph.node_weights().copied().collect();
        for &caller in &callers {
            for (_, function) in facts.reached_functions(caller) {
                if let Some(&to) = nodes.get(&facts.code_of(function)) {
                    graph.update_edge(nodes[&caller], to, ());
                }
            }
        }
        let mut scopes: FxHashMap<Caller, Summary> = FxHashMap::default();
        for component in tarjan_scc(&graph) {
            let mut joined = Summary::default();
            for &node in &component {
                for edge in facts.outgoing(graph[node]) {
                    joined.join(own(facts, edge.callee));
                }
                for callee in graph.neighbors(node) {
                    joined.join(scopes.get(&graph[callee]).copied().unwrap_or_default());
                }
            }
            for &node in &component {
                scopes.insert(graph[node], joined);
            }
        }
        Self { scopes }
    }

    /// What running a scope's code may do.
    #[must_use]
    pub fn of_scope(&self, caller: Caller) -> Summary {
        self.scopes.get(&caller).copied().unwrap_or_default()
    }

    /// What a call may do.
    #[must_use]
    pub fn of_edge(&self, facts: &Facts<'_>, edge: &CallEdge) -> Summary {
        match facts.solution.object(edge.callee) {
            Object::Function(function) => self.of_scope(facts.code_of(function)),
            _ => own(facts, edge.callee),
        }
    }
}

/// The effects that the callee itself is known for.
fn own(facts: &Facts<'_>, callee: ObjectId) -> Summary {
    let symbol = match facts.solution.object(callee) {
        Object::Unknown => return Summary { effects: EffectSet::NONE, unknown: true },
        object @ Object::External(_) => match facts.symbol(object) {
            Some(symbol) => Some(symbol),
            None => return Summary { effects: EffectSet::NONE, unknown: true },
        },
        Object::Builtin(name) => {
            facts.library.lookup(&format!("builtins.{}", facts.solution.names.text(name)))
        }
        Object::BuiltinMethod(receiver, name) => {
            let class = facts.builtin_class(receiver);
            class.and_then(|class| {
                facts.library.lookup(&format!("builtins.{class}.{}", facts.solution.names.text(name)))
            })
        }
        _ => None,
    };
    Summary { effects: symbol.map_or(EffectSet::NONE, crate::api::Symbol::effects), unknown: false }
}

impl Facts<'_> {
    /// The name of the built-in class that an object is an instance of.
    #[must_use]
    pub fn builtin_class(&self, object: ObjectId) -> Option<&'static str> {
        use crate::semantic::{BuiltinType, Container};

        use super::object::Literal;
        match self.solution.object(object) {
            Object::Literal(Literal::Str(_)) | Object::Type(BuiltinType::Str) => Some("str"),
            Object::Type(BuiltinType::Bytes) => Some("bytes"),
            Object::Type(BuiltinType::File) => Some("file"),
            Object::Container(Container::List, _) => Some("list"),
            Object::Container(Container::Dict, _) => Some("dict"),
            Object::Container(Container::Set, _) => Some("set"),
            Object::Container(Container::Tuple, _) => Some("tuple"),
            Object::Container(Container::Generator, _) => Some("generator"),
            _ => None,
        }
    }
}
