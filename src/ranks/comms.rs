//! What each function communicates: a summary for each of its blocks, of all that a rank sends from there to the
//! function's end.
//!
//! Horovod matches eager collectives by their kind and order, and those of one traced step by their names
//! (`ranks.md`, B1), so a summary is a sequence of events; traced steps are one event with a set of names. Summaries
//! are shared values: two ways through a function are equal exactly if their summaries are the same node, whatever
//! follows the place where they meet. Each block is looked at once, each function before those that call it.

mod asks;
mod sessions;
mod settled;
mod turns;
mod walk;

use std::rc::Rc;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use super::guards::Key;
use super::model::Model;
use crate::finding::Location;
use crate::program::Caller;
use crate::semantic::{BlockId, Flow};
use walk::Walk;

/// A summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

/// A kind of event with all that has to be equal on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(u32);

/// How a way through a function ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The caller goes on.
    Returns,
    /// The program ends as it was meant to.
    Exits,
    /// An error ends it.
    Fails,
    /// The loop at this depth makes another turn.
    Repeats(u32),
}

/// What a rank communicates from some place on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Nothing more.
    End(Ending),
    /// First this, then the rest.
    Then(EventId, NodeId),
    /// One of these, by a condition.
    Choice(Key, Box<[NodeId]>),
}

/// Something that all ranks have to take part in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A collective of this name, with its reduction and root as far as they are told.
    Collective {
        /// The collective and how it reduces; what Horovod matches.
        kind: Box<str>,
        /// What it is for: its name, or the variables.
        purpose: Option<Key>,
    },
    /// A step of a traced function: its collectives, in no order.
    Step(Box<[EventId]>),
    /// A function whose communication depends on conditions.
    Call(NodeId),
}

/// The places of the events of a way, one after the other.
#[derive(Clone, Copy, Debug)]
struct Trail {
    at: Location,
    next: Option<u32>,
}

/// What a block communicates, with what follows it.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The events.
    pub node: NodeId,
    trail: Option<u32>,
}

/// The ways through a scope.
#[derive(Debug, Default)]
struct Ways {
    /// From each block on.
    blocks: Vec<Option<Way>>,
    /// For each block that branches the way behind each arm.
    arms: FxHashMap<BlockId, Vec<Way>>,
    /// What the rank's number is asked by blocks that branch.
    asked: FxHashMap<BlockId, Key>,
    /// Those of the questions that are asked again behind one of them, so that all ranks do the same in the end.
    settled: FxHashSet<Key>,
}

/// The summaries of all scopes that programs reach.
#[derive(Debug, Default)]
pub struct Comms {
    nodes: Vec<Node>,
    /// For each node whether anything is communicated.
    talks: Vec<bool>,
    node_ids: FxHashMap<Node, NodeId>,
    events: Vec<Event>,
    event_ids: FxHashMap<Event, EventId>,
    trails: Vec<Trail>,
    scopes: FxHashMap<Caller, Ways>,
    /// The scopes, those that are called before those that call them.
    pub order: Vec<Caller>,
    /// Those that may call themselves and communicate: how often is not known.
    recursive: FxHashSet<Caller>,
    /// The blocks with calls that communicate, of the scopes that were asked for.
    speaking: FxHashMap<Caller, Rc<[BlockId]>>,
}

/// Where two ways part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// What the one way does first that the other does not do then.
    pub one: Option<Location>,
    /// What the other does.
    pub other: Option<Location>,
    /// Both go on to collectives that Horovod can't tell apart: values are mixed.
    pub mixes: bool,
}

impl Comms {
    /// The summaries of a model's programs.
    #[must_use]
    pub fn new(model: &Model<'_>) -> Self {
        let mut comms = Self::default();
        let mut graph = DiGraph::<Caller, ()>::new();
        let mut nodes: FxHashMap<Caller, NodeIndex> = FxHashMap::default();
        for caller in model.callers() {
            nodes.insert(caller, graph.add_node(caller));
        }
        for node in graph.node_indices().collect::<Vec<_>>() {
            for (_, function) in model.facts.reached_functions(graph[node]) {
                if let Some(&callee) = nodes.get(&model.facts.code_of(function)) {
                    graph.update_edge(node, callee, ());
                }
            }
        }
        for component in tarjan_scc(&graph) {
            for &node in &component {
                let ways = Walk::new(model, &mut comms, graph[node]).ways();
                comms.scopes.insert(graph[node], ways);
                comms.order.push(graph[node]);
            }
            let mut callers = component.iter().map(|&node| graph[node]);
            let is_cycle = component.len() > 1 || graph.contains_edge(component[0], component[0]);
            if is_cycle
                && callers.clone().any(|own| comms.of_scope(own).is_some_and(|own| comms.communicates(own)))
            {
                comms.recursive.extend(&mut callers);
            }
        }
        comms
    }

    /// What follows the beginning of a block.
    #[must_use]
    pub fn way(&self, caller: Caller, block: BlockId) -> Option<Way> {
        *self.scopes.get(&caller)?.blocks.get(block.index())?
    }

    /// What follows each arm of a block that branches.
    #[must_use]
    pub fn arms(&self, caller: Caller, block: BlockId) -> &[Way] {
        self.scopes.get(&caller).and_then(|own| own.arms.get(&block)).map_or(&[], Vec::as_slice)
    }

    /// Whether nothing but an error follows.
    #[must_use]
    pub fn only_fails(&self, way: Way) -> bool {
        *self.node(way.node) == Node::End(Ending::Fails)
    }

    /// What a scope's code communicates.
    #[must_use]
    pub fn of_scope(&self, caller: Caller) -> Option<NodeId> {
        self.way(caller, Flow::ENTRY).map(|way| way.node)
    }

    /// The node behind an id.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Whether anything is communicated.
    #[must_use]
    pub fn communicates(&self, id: NodeId) -> bool {
        self.talks[id.0 as usize]
    }

    /// Whether a scope's code communicates and may call itself.
    #[must_use]
    pub fn is_recursive(&self, caller: Caller) -> bool {
        self.recursive.contains(&caller)
    }

    /// The place of the first event.
    #[must_use]
    pub fn first(&self, way: Way) -> Option<Location> {
        way.trail.map(|trail| self.trails[trail as usize].at)
    }

    fn intern(&mut self, node: Node) -> NodeId {
        let next = NodeId(u32::try_from(self.nodes.len()).expect("fewer summaries than 2^32"));
        *self.node_ids.entry(node).or_insert_with_key(|node| {
            self.talks.push(match node {
                Node::End(ending) => matches!(ending, Ending::Repeats(_)),
                Node::Then(..) => true,
                Node::Choice(_, arms) => arms.iter().any(|arm| self.talks[arm.0 as usize]),
            });
            self.nodes.push(node.clone());
            next
        })
    }

    fn event(&mut self, event: Event) -> EventId {
        let next = EventId(u32::try_from(self.events.len()).expect("fewer events than 2^32"));
        *self.event_ids.entry(event).or_insert_with_key(|event| {
            self.events.push(event.clone());
            next
        })
    }

    fn then(&mut self, event: EventId, at: Location, rest: Way) -> Way {
        let node = self.intern(Node::Then(event, rest.node));
        self.trails.push(Trail { at, next: rest.trail });
        let trail = u32::try_from(self.trails.len() - 1).expect("fewer events than 2^32");
        Way { node, trail: Some(trail) }
    }

    fn end(&mut self, ending: Ending) -> Way {
        Way { node: self.intern(Node::End(ending)), trail: None }
    }

    /// The events of a way without conditions, and how it ends; `None` if there are conditions, or too many events.
    fn line(&self, mut id: NodeId) -> Option<(Vec<EventId>, Ending)> {
        const MANY: usize = 32;
        let mut events = Vec::new();
        loop {
            match self.node(id) {
                Node::End(ending) => return Some((events, *ending)),
                Node::Then(event, rest) if events.len() < MANY => {
                    events.push(*event);
                    id = *rest;
                }
                _ => return None,
            }
        }
    }

    /// Where two ways part; `None` if a rank on the one is in step with a rank on the other. In traced code the order
    /// does not matter. `follows` tells whether more is communicated when the function returns.
    #[must_use]
    pub fn parting(&self, one: Way, other: Way, traced: bool, follows: bool) -> Option<Parting> {
        if traced && let (Some((mut a, _)), Some((mut b, _))) = (self.line(one.node), self.line(other.node)) {
            a.sort_unstable();
            b.sort_unstable();
            if a == b {
                return None;
            }
        }
        let (mut a, mut b) = (one, other);
        loop {
            if a.node == b.node {
                return None;
            }
            match (self.node(a.node), self.node(b.node)) {
                (Node::Then(first, rest), Node::Then(second, other)) if first == second => {
                    a = Way {
                        node: *rest,
                        trail: a.trail.and_then(|trail| self.trails[trail as usize].next),
                    };
                    b = Way {
                        node: *other,
                        trail: b.trail.and_then(|trail| self.trails[trail as usize].next),
                    };
                }
                (Node::End(first), Node::End(second)) => {
                    let ends = [Ending::Returns, Ending::Exits, Ending::Fails];
                    if !follows && ends.contains(first) && ends.contains(second) {
                        return None;
                    }
                    break;
                }
                _ => break,
            }
        }
        let mixes =
            self.kinds(a.node).is_some_and(|kinds| !kinds.is_empty() && Some(kinds) == self.kinds(b.node));
        Some(Parting { one: self.first(a), other: self.first(b), mixes })
    }

    /// What Horovod matches of the events of a way without conditions.
    fn kinds(&self, id: NodeId) -> Option<Vec<&str>> {
        let (events, _) = self.line(id)?;
        let kinds = events.into_iter().map(|event| match &self.events[event.0 as usize] {
            Event::Collective { kind, .. } => Some(&**kind),
            _ => None,
        });
        kinds.collect()
    }
}
