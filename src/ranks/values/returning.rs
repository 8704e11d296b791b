//! Branches that only decide whether a function is left: `if time.time() > end: return`. The ranks that remain have come the
//! same way to where ways meet again, so that what variables hold there is the same on all of them.

use petgraph::visit::{Dfs, Reversed};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::blocks::Blocks;
use crate::program::{Caller, Facts, Place};
use crate::semantic::{BlockId, Flow, Module, StatementKind, Variable};

/// Who decides what the ranks run that do not leave a function early.
pub(super) struct Remaining {
    decided: FxHashMap<BlockId, Vec<BlockId>>,
    /// What the ranks run that leave it.
    left: FxHashSet<BlockId>,
    /// The blocks that end in a `return` or an exception in the middle of a loop.
    ends_in_loop: FxHashSet<BlockId>,
}

impl Remaining {
    /// Of a scope; nothing if none of its branches decides whether it is left.
    pub(super) fn new(module: &Module, blocks: &Blocks, caller: Caller) -> Option<Self> {
        let flow = &module.scope(caller.scope).flow;
        let leaving = Leaving::new(module, flow, blocks, caller);
        let mut kept = flow.blocks.clone();
        let mut left: FxHashSet<BlockId> = FxHashSet::default();
        for (index, block) in kept.iter_mut().enumerate() {
            let from = BlockId::new(index);
            if flow.is_reachable(from) && leaving.meets[index] {
                let (out, stays): (Vec<_>, Vec<_>) =
                    block.successors.iter().partition(|&&next| leaving.is_left(from, next));
                left.extend(out.into_iter().flat_map(|next| leaving.tree(next)));
                block.successors = stays;
            }
        }
        if left.is_empty() {
            return None;
        }
        let control = Flow::new(kept).control_dependence();
        let mut decided: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
        for block in (0..flow.blocks.len()).map(BlockId::new) {
            for own in control.direct(block) {
                decided.entry(own.branch).or_default().push(block);
            }
        }
        Some(Self { decided, left, ends_in_loop: leaving.ends })
    }

    /// The blocks that run or not depending on how a branch goes, on ranks that remain.
    pub(super) fn region(&self, branch: BlockId) -> FxHashSet<BlockId> {
        let mut found: FxHashSet<BlockId> = FxHashSet::default();
        let mut work = vec![branch];
        while let Some(at) = work.pop() {
            let decided = self.decided.get(&at).into_iter().flatten();
            work.extend(decided.filter(|&&block| found.insert(block)));
        }
        found
    }

    /// Whether a block ends a loop in the middle, at one turn or another.
    pub(super) fn leaves_loop(&self, block: BlockId) -> bool {
        self.left.contains(&block) && self.ends_in_loop.contains(&block)
    }

    /// Whether what a variable holds at a place, by itself or merged again, is read by code of its scope that ranks run
    /// which remain, and by no other.
    pub(super) fn keeps(
        &self,
        facts: &Facts<'_>,
        blocks: &Blocks,
        caller: Caller,
        place: Place,
        variable: Variable,
    ) -> bool {
        let mut seen: FxHashSet<Place> = FxHashSet::default();
        let mut work = vec![place];
        let mut is_read = false;
        while let Some(place) = work.pop().filter(|_| seen.len() <= MERGED) {
            if seen.insert(place) {
                let mut readers = blocks.readers(place, variable).peekable();
                is_read |= readers.peek().is_some();
                if readers.any(|(reader, block)| reader != caller || self.left.contains(&block)) {
                    return false;
                }
                let merging = facts.influence().dependents(place);
                work.extend(merging.filter(|&next| blocks.names_of(next).contains(&variable)));
            }
        }
        is_read && seen.len() <= MERGED
    }
}

/// So many merged values are looked through for who reads what they merge.
const MERGED: usize = 64;

/// Which ways lead out of a scope and to no place where ways meet.
struct Leaving<'f> {
    flow: &'f Flow,
    /// By block, whether control may come from it to where ways meet, or is there.
    meets: Vec<bool>,
    /// By block, whether control comes to it again.
    repeats: Vec<bool>,
    /// The blocks that end in a `return` or an exception in the middle of a loop.
    ends: FxHashSet<BlockId>,
}

impl<'f> Leaving<'f> {
    fn new(module: &Module, flow: &'f Flow, blocks: &Blocks, caller: Caller) -> Self {
        let count = flow.blocks.len();
        let mut repeats = vec![false; count];
        for block in flow.components().into_iter().filter(|component| component.len() > 1).flatten() {
            repeats[block.index()] = true;
        }
        let is_loop = |id| matches!(module.statement(id).kind, StatementKind::For | StatementKind::While);
        let ends_in_loop = |&block: &BlockId| {
            let mut leaves = blocks.of(caller, block).leaves.iter();
            leaves.any(|&leave| module.ancestor_ids(leave).any(is_loop))
        };
        let ends = (0..count).map(BlockId::new).filter(ends_in_loop).collect();
        Self { flow, meets: leading_to_meetings(flow), repeats, ends }
    }

    /// Whether ranks that go from a block to another leave the scope, and not only a loop.
    fn is_left(&self, from: BlockId, next: BlockId) -> bool {
        let ends = |block: BlockId| {
            !self.flow.blocks[block.index()].successors.is_empty() || self.ends.contains(&block)
        };
        !self.meets[next.index()] && (!self.repeats[from.index()] || self.tree(next).all(ends))
    }

    /// A block from which control comes to no place where ways meet, and all behind it.
    fn tree(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        let mut work = vec![block];
        std::iter::from_fn(move || {
            let block = work.pop()?;
            work.extend(&self.flow.blocks[block.index()].successors);
            Some(block)
        })
    }
}

/// For each block whether control may come from it to where ways meet, or is there.
fn leading_to_meetings(flow: &Flow) -> Vec<bool> {
    let mut ways = vec![0_usize; flow.blocks.len()];
    for (index, block) in flow.blocks.iter().enumerate() {
        for next in block.successors.iter().filter(|_| flow.is_reachable(BlockId::new(index))) {
            ways[next.index()] += 1;
        }
    }
    let graph = flow.graph();
    let mut search = Dfs::empty(Reversed(&graph));
    search.stack.extend(graph.node_indices().filter(|node| ways[node.index()] > 1));
    let mut leads = vec![false; flow.blocks.len()];
    while let Some(node) = search.next(Reversed(&graph)) {
        leads[node.index()] = true;
    }
    leads
}
