//! What running code does besides returning a value: the effects of library calls, joined bottom-up over the
//! call graph's strongly connected components.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::numbering::Numbering;
use super::object::{Name, Object, ObjectId};
use super::solver::{CallEdge, Caller};
use crate::api::EffectSet;

/// The effects of each scope of the concerned files.
#[derive(Debug, Default)]
pub struct Effects {
    scopes: Numbering,
    /// By the scopes' numbers; nothing for files that are not concerned.
    summaries: Vec<Summary>,
    known: BuiltinEffects,
}

/// The effects of Python's own functions and, by class, methods.
type BuiltinEffects = FxHashMap<(Option<&'static str>, Name), EffectSet>;

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
        let scopes = facts.scope_numbers();
        let number = |caller: Caller| scopes.of(caller.file, caller.scope.index());
        let mut graph = DiGraph::<Caller, ()>::new();
        let mut nodes: Vec<Option<NodeIndex>> = vec![None; scopes.count()];
        for caller in facts.scopes() {
            nodes[number(caller)] = Some(graph.add_node(caller));
        }
        let mut callees: Vec<NodeIndex> = Vec::new();
        for caller in facts.scopes() {
            let Some(from) = nodes[number(caller)] else { continue };
            let functions = facts.reached_functions(caller).map(|(_, function)| facts.code_of(function));
            callees.extend(functions.filter_map(|code| nodes[number(code)]));
            callees.sort_unstable();
            callees.dedup();
            for to in callees.drain(..) {
                graph.add_edge(from, to, ());
            }
        }
        let summaries = vec![Summary::default(); scopes.count()];
        let mut effects = Self { scopes: scopes.clone(), summaries, known: BuiltinEffects::default() };
        for component in tarjan_scc(&graph) {
            let mut joined = Summary::default();
            for &node in &component {
                for edge in facts.outgoing(graph[node]) {
                    joined.join(effects.learn(facts, edge.callee));
                }
                for callee in graph.neighbors(node) {
                    joined.join(effects.of_scope(graph[callee]));
                }
            }
            for &node in &component {
                effects.summaries[number(graph[node])] = joined;
            }
        }
        effects
    }

    /// The effects that the callee itself is known for; Python's own are looked up once.
    fn learn(&mut self, facts: &Facts<'_>, callee: ObjectId) -> Summary {
        if let Some(builtin) = builtin(facts, callee) {
            self.known.entry(builtin).or_insert_with(|| effects_of_builtin(facts, builtin));
        }
        self.own(facts, callee)
    }

    /// What running a scope's code may do.
    #[must_use]
    pub fn of_scope(&self, caller: Caller) -> Summary {
        self.summaries[self.scopes.of(caller.file, caller.scope.index())]
    }

    /// What a call may do.
    #[must_use]
    pub fn of_edge(&self, facts: &Facts<'_>, edge: &CallEdge) -> Summary {
        match facts.solution.object(edge.callee) {
            Object::Function(function) => self.of_scope(facts.code_of(function)),
            _ => self.own(facts, edge.callee),
        }
    }

    /// The effects that the callee itself is known for.
    fn own(&self, facts: &Facts<'_>, callee: ObjectId) -> Summary {
        let unknown = Summary { effects: EffectSet::NONE, unknown: true };
        let effects = match facts.solution.object(callee) {
            Object::Unknown => return unknown,
            object @ Object::External(_) => match facts.symbol(object) {
                Some(symbol) => symbol.effects().on_the_world(),
                None => return unknown,
            },
            _ => builtin(facts, callee)
                .and_then(|builtin| self.known.get(&builtin))
                .copied()
                .unwrap_or(EffectSet::NONE),
        };
        Summary { effects, unknown: false }
    }
}

/// The name of one of Python's own functions, or the class and name of a method.
fn builtin(facts: &Facts<'_>, callee: ObjectId) -> Option<(Option<&'static str>, Name)> {
    match facts.solution.object(callee) {
        Object::Builtin(name) => Some((None, name)),
        Object::BuiltinMethod(receiver, name) => Some((Some(facts.builtin_class(receiver)?), name)),
        _ => None,
    }
}

fn effects_of_builtin(facts: &Facts<'_>, (class, name): (Option<&'static str>, Name)) -> EffectSet {
    let name = facts.solution.names.text(name);
    let symbol = match class {
        Some(class) => {
            let class = facts.library.lookup(&format!("builtins.{class}"));
            class.and_then(|class| facts.library.member(class, name))
        }
        None => facts.library.lookup(&format!("builtins.{name}")),
    };
    symbol.map_or(EffectSet::NONE, |symbol| symbol.effects().on_the_world())
}
