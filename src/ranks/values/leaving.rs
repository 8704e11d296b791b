//! Branches that only decide whether a rank makes another turn of a loop: `if time.time() > end: break`. The ranks that
//! make a turn have come the same way, so that what its code computes is the same on all of them; what is read behind the
//! loop is not.

use rustc_hash::FxHashSet;

use super::super::blocks::Blocks;
use crate::program::{Caller, Facts, Place};
use crate::semantic::{BlockId, Flow, Module, Variable};

/// A loop that some branch leaves.
pub(super) struct Turn<'f> {
    blocks: &'f Blocks,
    module: &'f Module,
    caller: Caller,
    /// What a turn executes.
    executed: FxHashSet<BlockId>,
}

impl<'f> Turn<'f> {
    /// The innermost loop around a branch, if a rank that goes on with the loop has taken one certain arm.
    pub(super) fn left_at(
        facts: &Facts<'f>,
        blocks: &'f Blocks,
        caller: Caller,
        branch: BlockId,
    ) -> Option<Self> {
        let module = facts.module(caller.file);
        let flow = &module.scope(caller.scope).flow;
        let arms = &flow.blocks[branch.index()].successors;
        let executed = innermost(flow, branch)?;
        let staying = arms.iter().filter(|&arm| executed.contains(arm)).count();
        (staying == 1 && arms.len() > 1).then_some(Self { blocks, module, caller, executed })
    }

    /// Whether what a variable holds at a place, and what a turn binds it to, is read in the loop and nowhere else.
    pub(super) fn keeps(&self, place: Place, variable: Variable) -> bool {
        let is_inside =
            |(reader, block): (Caller, BlockId)| reader == self.caller && self.executed.contains(&block);
        let bound = self.executed.iter().flat_map(|&block| &self.blocks.of(self.caller, block).definitions);
        let bound = bound.map(|&index| &self.module.definitions[index as usize]);
        let mut bound = bound.filter(|own| own.variable == variable).map(|own| (place.0, own.value));
        self.blocks.readers(place, variable).next().is_some()
            && self.blocks.readers(place, variable).all(is_inside)
            && bound.all(|value| self.blocks.readers(value, variable).all(is_inside))
    }
}

/// The blocks of the innermost loop that a block is in.
fn innermost(flow: &Flow, block: BlockId) -> Option<FxHashSet<BlockId>> {
    let dominance = flow.dominance();
    let mut before: Vec<Vec<BlockId>> = vec![Vec::new(); flow.blocks.len()];
    for (index, own) in flow.blocks.iter().enumerate() {
        for next in &own.successors {
            before[next.index()].push(BlockId::new(index));
        }
    }
    let headers =
        (0..flow.blocks.len()).map(BlockId::new).filter(|&header| dominance.dominates(header, block));
    let loops = headers.filter_map(|header| {
        let mut work: Vec<BlockId> = before[header.index()].clone();
        work.retain(|&end| dominance.dominates(header, end));
        let mut turn: FxHashSet<BlockId> = std::iter::once(header).collect();
        while let Some(block) = work.pop() {
            if turn.insert(block) {
                work.extend(&before[block.index()]);
            }
        }
        turn.contains(&block).then_some(turn).filter(|turn| turn.len() > 1)
    });
    loops.min_by_key(FxHashSet::len)
}
