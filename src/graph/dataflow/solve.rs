//! The classical analyses on the control flow graphs: which functions and names are defined at a point, which names are live.

use std::collections::VecDeque;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::activity::Activity;
use super::control::{Control, NodeId};
use super::draw::{Drawn, by_place};
use super::name::Name;
use super::node::{Place, Role};
use super::scope::Scope;

/// A set of names.
pub(super) type NameSet = FixedBitSet;

/// What is known of a node of a graph or of a compound statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Names that may be read from here on before they change; of a compound statement its first node knows them.
    pub live_in: NameSet,
    /// Names that may be read behind it before they change.
    pub live_out: NameSet,
    /// Names that may have a value in front of it.
    pub defined_in: NameSet,
}

/// Which way facts flow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// The facts in front of and behind a node, in the direction of the analysis.
struct Flow {
    before: Vec<FixedBitSet>,
    after: Vec<FixedBitSet>,
    /// Nodes that were visited more than once.
    again: FixedBitSet,
}

/// Joins what flows into each node until nothing changes, from the graph's entry or its exits. What can't be reached from
/// there stays empty.
///
/// The order is TensorFlow's, because it decides what is visited again: first in, first out, and a node waits as often as others
/// send control to it before its first visit. Here it waits at most twice, there its visits can double with each branch.
fn flow(graph: &Control, direction: Direction, transfer: impl Fn(NodeId, &mut FixedBitSet)) -> Flow {
    let count = graph.nodes.len();
    let none = vec![FixedBitSet::new(); count];
    let mut flow = Flow { before: none.clone(), after: none, again: FixedBitSet::with_capacity(count) };
    let mut work: VecDeque<NodeId> = match direction {
        Direction::Forward => (0..count.min(1)).collect(),
        Direction::Backward => graph.exits.iter().copied().collect(),
    };
    let mut waiting = vec![0_u8; count];
    for &node in &work {
        waiting[node] = 1;
    }
    let mut is_visited = FixedBitSet::with_capacity(count);
    while let Some(node) = work.pop_front() {
        waiting[node] -= 1;
        if is_visited.put(node) {
            flow.again.insert(node);
        }
        let own = &graph.nodes[node];
        let (from, to) = match direction {
            Direction::Forward => (&own.previous, &own.next),
            Direction::Backward => (&own.next, &own.previous),
        };
        let mut facts = FixedBitSet::new();
        for &from in from {
            facts.union_with(&flow.after[from]);
        }
        flow.before[node].clone_from(&facts);
        transfer(node, &mut facts);
        let is_changed = !equal(&facts, &flow.after[node]);
        flow.after[node] = facts;
        for &to in to {
            if (is_changed || !is_visited[to]) && waiting[to] < 2 {
                waiting[to] += 1;
                work.push_back(to);
            }
        }
    }
    flow
}

/// Whether sets have the same members; their capacities may differ.
fn equal(one: &FixedBitSet, other: &FixedBitSet) -> bool {
    one.is_subset(other) && other.is_subset(one)
}

fn insert(set: &mut FixedBitSet, names: impl IntoIterator<Item = Name>) {
    for name in names {
        set.grow_and_insert(name.index());
    }
}

fn remove<'n>(set: &mut FixedBitSet, names: impl IntoIterator<Item = &'n Name>) {
    for name in names {
        if name.index() < set.len() {
            set.set(name.index(), false);
        }
    }
}

/// What is known in functions that stand in the order of the text.
pub(super) fn solve(activity: &Activity<'_>, drawn: &[Drawn]) -> FxHashMap<Place, Known> {
    let indices = by_place(drawn);
    // The functions that are defined in front of each node, by function.
    let mut functions_before: Vec<Vec<FixedBitSet>> = Vec::new();
    let mut known = FxHashMap::default();
    // Behind the functions each `lambda` has a number too: nobody asks for it, but it makes TensorFlow visit nodes again.
    let mut lambdas = drawn.len();
    for own in drawn {
        let graph = &own.graph;
        let nodes = &graph.nodes;
        let outside = own.outside.and_then(|outside| {
            let node = *drawn[outside].graph.index.get(&own.place)?;
            Some(functions_before[outside][node].clone())
        });
        let functions = flow(graph, Direction::Forward, |node, defined| {
            if let (0, Some(outside)) = (node, &outside) {
                defined.union_with(outside);
            }
            let place = nodes[node].place;
            if let Some(&function) = indices.get(&place) {
                defined.grow_and_insert(function);
            } else if place.role == Role::Lambda {
                defined.grow_and_insert(lambdas + node);
            }
        });
        lambdas += nodes.len();
        let mut before = functions.before;
        if let (Some(entry), Some(outside)) = (before.first_mut(), outside) {
            entry.union_with(&outside);
        }
        // At its second visit TensorFlow finds a function in front of its own definition.
        for node in functions.again.ones() {
            if let Some(&function) = indices.get(&nodes[node].place) {
                before[node].grow_and_insert(function);
            }
        }
        known.extend(in_function(activity, graph, |node, live| {
            for function in before[node].ones().take_while(|&function| function < drawn.len()) {
                insert(live, activity.whole[&drawn[function].place].free());
            }
        }));
        functions_before.push(before);
    }
    known
}

fn in_function(
    activity: &Activity<'_>,
    graph: &Control,
    read_by_functions: impl Fn(NodeId, &mut FixedBitSet),
) -> FxHashMap<Place, Known> {
    let scope = |node: NodeId| -> Option<&Scope> { activity.own.get(&graph.nodes[node].place) };
    let defined = flow(graph, Direction::Forward, |node, defined| {
        let Some(scope) = scope(node) else { return };
        remove(defined, scope.modified.iter().chain(&scope.deleted));
        let made = scope.bound.iter().chain(&scope.globals).filter(|name| !scope.deleted.contains(name));
        insert(defined, made.chain(&scope.params).copied());
    });
    let live = flow(graph, Direction::Backward, |node, live| {
        let Some(scope) = scope(node) else { return };
        remove(live, scope.modified.iter().chain(&scope.deleted));
        insert(live, scope.read.iter().copied());
        read_by_functions(node, live);
    });

    let mut known: FxHashMap<Place, Known> = FxHashMap::default();
    for (index, node) in graph.nodes.iter().enumerate() {
        let (live_in, live_out) = (live.after[index].clone(), live.before[index].clone());
        known.insert(node.place, Known { live_in, live_out, defined_in: defined.before[index].clone() });
    }
    for compound in &graph.compounds {
        let mut own = Known::default();
        compound.behind.iter().for_each(|&node| own.live_out.union_with(&live.after[node]));
        compound.before.iter().for_each(|&node| own.defined_in.union_with(&defined.after[node]));
        known.insert(compound.place, own);
    }
    known
}
