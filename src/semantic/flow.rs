//! The control flow graph of one scope, and what follows from it: reachability and control dependence.
//!
//! Exceptions are edges from the beginning of a `try` to its handlers, not from every instruction: what stands
//! in a `try` is control dependent on it, once.

use petgraph::algo::dominators::{self, Dominators};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::id::{BlockId, StatementId, ValueId};
use crate::syntax::TextRange;

/// What decides where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BranchKind {
    /// `if`, `elif`, a conditional expression.
    If,
    /// `and`: the right operand is evaluated if the left one is true.
    And,
    /// `or`: the right operand is evaluated if the left one is false.
    Or,
    /// `while`
    While,
    /// `for`, also in comprehensions: the body may not run.
    For,
    /// A `case` with a pattern: the subject may have another form.
    Match,
    /// A `case` with a value: the subject may be another one.
    Case,
    /// `try`: what follows an exception is skipped.
    Try,
    /// `assert`
    Assert,
}

impl BranchKind {
    /// What the condition of a branch is where control goes to one of its arms; `None` if it is no truth.
    #[must_use]
    pub fn outcome(self, arm: usize) -> Option<bool> {
        match self {
            Self::If | Self::And | Self::While | Self::Case => Some(arm == 0),
            Self::Or => Some(arm != 0),
            Self::For | Self::Match | Self::Try | Self::Assert => None,
        }
    }
}

/// The end of a block that has several successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// What it is.
    pub kind: BranchKind,
    /// The value that decides: the condition, the iterable, the subject or its
    /// comparison with the value of a `case`; `None` for `try`.
    pub condition: Option<ValueId>,
    /// The condition's expression, or the `try` keyword.
    pub range: TextRange,
    /// The statement.
    pub statement: StatementId,
}

/// A stretch of code, in the order of evaluation of uses and definitions: the first included, the last not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Where it begins.
    pub from: u32,
    /// Where it ends.
    pub to: u32,
}

impl Stretch {
    /// Whether what has this place in the order of evaluation lies within.
    #[must_use]
    pub fn contains(self, order: u32) -> bool {
        (self.from..self.to).contains(&order)
    }
}

/// How values come to a block when the edges alone do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detour {
    /// An exception may have come from anywhere in the stretch, with any value that was defined there.
    Exception(Stretch),
    /// A `finally` suite, the stretch, lies between; what it leaves alone is as it was at the end of this block.
    Finally(BlockId, Stretch),
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Where control may go next.
    pub successors: Vec<BlockId>,
    /// What decides, if there are several.
    pub branch: Option<Branch>,
    /// How values come here beside the edges.
    pub detour: Option<Detour>,
}

/// A scope's control flow graph. Block 0 is where control enters; leaving is a successor of none.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// Which of them control can reach.
    pub reachable: Vec<bool>,
}

impl Flow {
    /// Where control enters.
    pub const ENTRY: BlockId = BlockId::FIRST;

    /// Whether control comes from a block to the end of the scope.
    #[must_use]
    pub fn comes_to_end(&self, block: BlockId) -> bool {
        self.behind(block).into_iter().any(|own| self.blocks[own.index()].successors.is_empty())
    }

    /// A graph of `blocks`, with reachability.
    #[must_use]
    pub fn new(blocks: Vec<Block>) -> Self {
        let mut reachable = vec![false; blocks.len()];
        let mut work = vec![Self::ENTRY];
        while let Some(block) = work.pop() {
            if blocks.get(block.index()).is_some() && !reachable[block.index()] {
                reachable[block.index()] = true;
                work.extend(&blocks[block.index()].successors);
            }
        }
        Self { blocks, reachable }
    }

    /// Whether control can reach `block`.
    #[must_use]
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.reachable[block.index()]
    }

    /// Whether control may go from the end of a block to another, or to its beginning again.
    #[must_use]
    pub fn leads(&self, from: BlockId, to: BlockId) -> bool {
        self.blocks[from.index()].successors.iter().any(|&next| self.behind(next).contains(&to))
    }

    /// The strongly connected components, in the order in which what follows them is known: the blocks of a loop
    /// together, behind what follows it.
    #[must_use]
    pub fn components(&self) -> Vec<Vec<BlockId>> {
        let components = tarjan_scc(&self.graph()).into_iter();
        components.map(|nodes| nodes.into_iter().map(|node| BlockId::new(node.index())).collect()).collect()
    }

    /// A block, and all that control may go to from it.
    #[must_use]
    pub fn behind(&self, block: BlockId) -> Vec<BlockId> {
        let mut seen = vec![false; self.blocks.len()];
        let mut found = Vec::new();
        let mut work = vec![block];
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut seen[block.index()], true) {
                found.push(block);
                work.extend(&self.blocks[block.index()].successors);
            }
        }
        found
    }

    /// Which blocks each block comes behind on all ways from the entry.
    #[must_use]
    pub fn dominance(&self) -> Dominance {
        let entry = NodeIndex::new(Self::ENTRY.index());
        Dominance::new(&dominators::simple_fast(&self.graph(), entry), self.blocks.len())
    }

    /// The blocks and their successors as a graph; its nodes have the numbers of the blocks.
    #[must_use]
    pub fn graph(&self) -> DiGraph<(), ()> {
        let mut graph = DiGraph::with_capacity(self.blocks.len(), self.blocks.len() * 2);
        for _ in &self.blocks {
            graph.add_node(());
        }
        for (index, block) in self.blocks.iter().enumerate() {
            for successor in &block.successors {
                graph.add_edge(NodeIndex::new(index), NodeIndex::new(successor.index()), ());
            }
        }
        graph
    }

    /// Who decides whether each block runs (Ferrante, Ottenstein, Warren 1987): the branches on which it is
    /// control dependent, directly or through another branch.
    #[must_use]
    pub fn control_dependence(&self) -> ControlDependence {
        let count = self.blocks.len();
        let exit = NodeIndex::new(count);
        let mut reversed = DiGraph::<(), ()>::with_capacity(count + 1, count * 2);
        for _ in 0..=count {
            reversed.add_node(());
        }
        for (index, block) in self.blocks.iter().enumerate() {
            let from = NodeIndex::new(index);
            if block.successors.is_empty() {
                reversed.add_edge(exit, from, ());
            }
            for successor in &block.successors {
                reversed.add_edge(NodeIndex::new(successor.index()), from, ());
            }
        }
        // A loop that never ends reaches no exit; tie it there, or its blocks would have no post-dominator.
        let mut seen = vec![false; count + 1];
        let mut mark = |reversed: &DiGraph<(), ()>, from: NodeIndex| {
            let mut work = vec![from];
            while let Some(node) = work.pop() {
                if !std::mem::replace(&mut seen[node.index()], true) {
                    work.extend(reversed.neighbors(node));
                }
            }
            seen.clone()
        };
        let mut reached = mark(&reversed, exit);
        for index in (0..count).rev() {
            if !reached[index] {
                reversed.add_edge(exit, NodeIndex::new(index), ());
                reached = mark(&reversed, NodeIndex::new(index));
            }
        }
        ControlDependence::new(self, &dominators::simple_fast(&reversed, exit))
    }
}

/// The tree of dominators: when a walk through it enters each block, and when it leaves it.
#[derive(Clone, Debug)]
pub struct Dominance {
    spans: Vec<(u32, u32)>,
}

impl Dominance {
    fn new(tree: &Dominators<NodeIndex>, count: usize) -> Self {
        let mut inner = vec![Vec::new(); count];
        for index in 0..count {
            if let Some(dominator) = tree.immediate_dominator(NodeIndex::new(index)) {
                inner[dominator.index()].push(index);
            }
        }
        let mut spans = vec![(0, 0); count];
        let mut clock = 0;
        let mut work = vec![(Flow::ENTRY.index(), false)];
        while let Some((index, is_left)) = work.pop() {
            clock += 1;
            if is_left {
                spans[index].1 = clock;
            } else {
                spans[index].0 = clock;
                work.push((index, true));
                work.extend(inner[index].iter().map(|&next| (next, false)));
            }
        }
        Self { spans }
    }

    /// Whether control comes to `block` only through `dominator`.
    #[must_use]
    pub fn dominates(&self, dominator: BlockId, block: BlockId) -> bool {
        let ((enter, leave), (inner, _)) = (self.spans[dominator.index()], self.spans[block.index()]);
        enter <= inner && inner < leave
    }
}

/// A branch that decides whether a block runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// The block that branches.
    pub branch: BlockId,
    /// Which of its successors leads to the block.
    pub arm: usize,
}

/// For each block the branching blocks that decide whether it runs.
#[derive(Clone, Debug)]
pub struct ControlDependence {
    direct: Vec<Vec<Dependence>>,
}

impl ControlDependence {
    fn new(flow: &Flow, post: &Dominators<NodeIndex>) -> Self {
        let mut direct = vec![Vec::new(); flow.blocks.len()];
        for (index, block) in flow.blocks.iter().enumerate() {
            if block.successors.len() < 2 {
                continue;
            }
            let stop = post.immediate_dominator(NodeIndex::new(index));
            for (arm, successor) in block.successors.iter().enumerate() {
                let own = Dependence { branch: BlockId::new(index), arm };
                let mut runner = Some(NodeIndex::new(successor.index()));
                while let Some(node) = runner
                    && Some(node) != stop
                    && node.index() < direct.len()
                {
                    direct[node.index()].push(own);
                    runner = post.immediate_dominator(node);
                }
            }
        }
        Self { direct }
    }

    /// The branching blocks on which `block` depends, transitively, nearest first; a loop's own header among
    /// them when it decides on a further turn.
    #[must_use]
    pub fn of(&self, block: BlockId) -> Vec<BlockId> {
        let mut found: Vec<BlockId> = Vec::new();
        let mut next = 0;
        let add = |found: &mut Vec<BlockId>, block: BlockId| {
            for own in self.direct(block) {
                if !found.contains(&own.branch) {
                    found.push(own.branch);
                }
            }
        };
        add(&mut found, block);
        while let Some(&branch) = found.get(next) {
            add(&mut found, branch);
            next += 1;
        }
        found
    }

    /// The branches that decide by themselves whether `block` runs, and how.
    #[must_use]
    pub fn direct(&self, block: BlockId) -> &[Dependence] {
        &self.direct[block.index()]
    }
}
