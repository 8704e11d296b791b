//! The control flow graph of a function as `AutoGraph` draws it: statements follow each other, nothing raises but `raise`.
//!
//! A node is a simple statement, the test of an `if` or a loop, the parameters, an item of a `with`, a nested definition or a
//! `lambda`. A `try` runs to its end; its `except` clauses are alternatives behind it, which only a `raise` inside enters by itself.
//! Jumps go through the `finally` blocks that they leave.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::node::Place;
use crate::syntax::TextSize;

/// A node, an index into [`Control::nodes`].
pub(super) type NodeId = usize;

/// A node of the graph.
#[derive(Debug)]
pub(super) struct ControlNode {
    pub place: Place,
    /// Where it begins; parameters and the items of `with` have no line in Python's tree.
    pub start: Option<TextSize>,
    pub next: BTreeSet<NodeId>,
    pub previous: BTreeSet<NodeId>,
    /// The innermost compound statement around, an index into [`Control::compounds`].
    owner: Option<usize>,
}

/// A compound statement: control enters and leaves it as a whole.
#[derive(Debug)]
pub(super) struct Compound {
    pub place: Place,
    parent: Option<usize>,
    /// Nodes outside that lead into it.
    pub before: BTreeSet<NodeId>,
    /// Nodes outside that it leads to.
    pub behind: BTreeSet<NodeId>,
}

/// The control flow graph of a function. The first node is its entry.
#[derive(Debug, Default)]
pub(super) struct Control {
    pub nodes: Vec<ControlNode>,
    pub compounds: Vec<Compound>,
    /// The last nodes.
    pub exits: BTreeSet<NodeId>,
    pub index: FxHashMap<Place, NodeId>,
}

/// A set of nodes that several may hold and change.
pub(super) type Leaves = usize;

/// Where control enters and leaves a `finally`.
#[derive(Clone, Copy)]
struct Finally {
    begin: Option<NodeId>,
    ends: Leaves,
    /// Whether control comes to it without a jump.
    is_reached: bool,
}

/// A graph under construction.
pub(super) struct Builder {
    graph: Control,
    /// Sets of nodes. `AutoGraph` shares them: what is added to the ends of a `finally` later, a jump through it finds too.
    sets: Vec<BTreeSet<NodeId>>,
    /// The nodes that lead to the next one.
    leaves: Leaves,
    owner: Option<usize>,
    /// The `finally` blocks that a jump is yet to go through, innermost first.
    guards: FxHashMap<NodeId, Vec<Place>>,
    finally: FxHashMap<Place, Finally>,
    /// `finally` blocks without a node yet.
    pending: Vec<Place>,
    /// Jumps out of sections.
    exits: FxHashMap<Place, Vec<NodeId>>,
    /// Jumps to the begin of loops.
    continues: FxHashMap<Place, Vec<NodeId>>,
    /// What an `except` clause may catch.
    raises: FxHashMap<Place, Vec<NodeId>>,
}

/// An alternative that is being built: where control parts, and the ends of the ways so far.
pub(super) struct Alternatives {
    entry: Leaves,
    ends: Vec<Leaves>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self {
            graph: Control::default(),
            sets: vec![BTreeSet::new()],
            leaves: 0,
            owner: None,
            guards: FxHashMap::default(),
            finally: FxHashMap::default(),
            pending: Vec::new(),
            exits: FxHashMap::default(),
            continues: FxHashMap::default(),
            raises: FxHashMap::default(),
        }
    }

    fn set(&mut self, nodes: impl IntoIterator<Item = NodeId>) -> Leaves {
        self.sets.push(nodes.into_iter().collect());
        self.sets.len() - 1
    }

    fn extend(&mut self, set: Leaves, nodes: &[NodeId]) {
        self.sets[set].extend(nodes);
    }

    fn members(&self, set: Leaves) -> Vec<NodeId> {
        self.sets[set].iter().copied().collect()
    }

    fn connect(&mut self, from: &[NodeId], to: NodeId) {
        for &from in from {
            self.graph.nodes[from].next.insert(to);
            self.graph.nodes[to].previous.insert(from);
        }
    }

    fn add(&mut self, place: Place, start: Option<TextSize>) -> NodeId {
        let node = self.graph.nodes.len();
        let (next, previous) = (BTreeSet::new(), BTreeSet::new());
        self.graph.nodes.push(ControlNode { place, start, next, previous, owner: self.owner });
        self.graph.index.insert(place, node);
        self.connect(&self.members(self.leaves), node);
        for guard in std::mem::take(&mut self.pending) {
            if let Some(finally) = self.finally.get_mut(&guard) {
                finally.begin = Some(node);
            }
        }
        node
    }

    /// Adds a node that the next one follows.
    pub(super) fn ordinary(&mut self, place: Place, start: Option<TextSize>) -> NodeId {
        let node = self.add(place, start);
        self.leaves = self.set([node]);
        node
    }

    fn jump(&mut self, place: Place, start: TextSize, guards: Vec<Place>) -> NodeId {
        let node = self.add(place, Some(start));
        self.leaves = self.set([]);
        self.guards.insert(node, guards);
        node
    }

    /// Adds a jump out of `section`, through `guards`.
    pub(super) fn exit(
        &mut self,
        place: Place,
        start: TextSize,
        section: Place,
        guards: Vec<Place>,
    ) -> NodeId {
        let node = self.jump(place, start, guards);
        self.exits.entry(section).or_default().push(node);
        node
    }

    /// Adds a jump to the begin of the loop `section`, through `guards`.
    pub(super) fn continues(&mut self, place: Place, start: TextSize, section: Place, guards: Vec<Place>) {
        let node = self.jump(place, start, guards);
        self.continues.entry(section).or_default().push(node);
    }

    /// Lets these `except` clauses catch what `node` raises.
    pub(super) fn raise(&mut self, node: NodeId, handlers: Vec<Place>) {
        for handler in handlers {
            self.raises.entry(handler).or_default().push(node);
        }
    }

    /// Leads a jump through the `finally` blocks that it leaves: where it comes out.
    fn through_guards(&mut self, node: NodeId) -> Vec<NodeId> {
        let mut cursor = vec![node];
        for guard in self.guards.remove(&node).unwrap_or_default() {
            if let Some(&Finally { begin: Some(begin), ends, .. }) = self.finally.get(&guard) {
                self.connect(&cursor, begin);
                cursor = self.members(ends);
            }
        }
        cursor
    }

    /// Ends a section: what jumped out of it goes on here.
    pub(super) fn end_section(&mut self, section: Place) {
        for exit in self.exits.remove(&section).unwrap_or_default() {
            let nodes = self.through_guards(exit);
            self.extend(self.leaves, &nodes);
        }
    }

    /// Ends a loop: control goes back to its begin.
    pub(super) fn end_loop(&mut self, section: Place, begin: NodeId) {
        self.connect(&self.members(self.leaves), begin);
        for jump in self.continues.remove(&section).unwrap_or_default() {
            let nodes = self.through_guards(jump);
            self.connect(&nodes, begin);
        }
        self.leaves = self.set([begin]);
    }

    /// Begins the first of several ways from here.
    pub(super) fn first_way(&mut self) -> Alternatives {
        Alternatives { entry: self.leaves, ends: Vec::new() }
    }

    /// Begins another way.
    pub(super) fn next_way(&mut self, alternatives: &mut Alternatives) {
        alternatives.ends.push(self.leaves);
        self.leaves = alternatives.entry;
    }

    /// Joins the ways.
    pub(super) fn join(&mut self, alternatives: &Alternatives) {
        for &end in &alternatives.ends {
            let nodes = self.members(end);
            self.extend(self.leaves, &nodes);
        }
    }

    /// Enters an `except` clause.
    pub(super) fn begin_handler(&mut self, handler: Place) {
        if let Some(raises) = self.raises.get(&handler).cloned() {
            self.extend(self.leaves, &raises);
        }
    }

    /// Enters the `finally` of a `try`.
    pub(super) fn begin_finally(&mut self, place: Place) {
        let is_reached = !self.sets[self.leaves].is_empty();
        self.finally.insert(place, Finally { begin: None, ends: self.leaves, is_reached });
        self.pending.push(place);
    }

    /// Leaves the `finally` of a `try`. If only jumps come to it, nothing follows it.
    pub(super) fn end_finally(&mut self, place: Place) {
        let leaves = self.leaves;
        let is_reached = self.finally.get_mut(&place).is_some_and(|finally| {
            finally.ends = leaves;
            finally.is_reached
        });
        if !is_reached {
            self.leaves = self.set([]);
        }
    }

    /// Enters a compound statement.
    pub(super) fn begin_statement(&mut self, place: Place) {
        let (before, behind) = (BTreeSet::new(), BTreeSet::new());
        self.graph.compounds.push(Compound { place, parent: self.owner, before, behind });
        self.owner = Some(self.graph.compounds.len() - 1);
    }

    /// Leaves the innermost compound statement.
    pub(super) fn end_statement(&mut self) {
        self.owner = self.owner.and_then(|owner| self.graph.compounds[owner].parent);
    }

    pub(super) fn build(mut self) -> Control {
        self.graph.exits = std::mem::take(&mut self.sets[self.leaves]);
        self.graph.connect_statements();
        self.graph
    }
}

impl Control {
    /// The compound statements around a node, innermost first.
    fn around(&self, node: NodeId) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.nodes[node].owner, |&owner| self.compounds[owner].parent)
    }

    fn connect_statements(&mut self) {
        let edges = self.nodes.iter().enumerate();
        let edges: Vec<(NodeId, NodeId)> =
            edges.flat_map(|(from, node)| node.next.iter().map(move |&to| (from, to))).collect();
        for (from, to) in edges {
            if self.nodes[from].owner == self.nodes[to].owner {
                continue;
            }
            let left: FxHashSet<usize> = self.around(from).collect();
            let entered: FxHashSet<usize> = self.around(to).collect();
            for &owner in left.difference(&entered) {
                self.compounds[owner].behind.insert(to);
            }
            for &owner in entered.difference(&left) {
                self.compounds[owner].before.insert(from);
            }
        }
    }
}
