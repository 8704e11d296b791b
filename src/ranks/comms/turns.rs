//! The loops of a scope: which edges close them, where control goes behind them, and whether a turn communicates.

use super::walk::{Loop, Walk};
use super::{Ending, Node};
use crate::semantic::{BlockId, CallId, Flow};

impl Walk<'_, '_> {
    /// Finds the loops by the edges that lead back.
    pub(super) fn find_loops(&mut self) {
        let mut state = vec![0_u8; self.blocks.len()];
        let mut stack = vec![(Flow::ENTRY, 0)];
        let mut found: Vec<(BlockId, BlockId)> = Vec::new();
        while let Some((block, index)) = stack.pop() {
            state[block.index()] = 1;
            if let Some(&next) = self.blocks[block.index()].successors.get(index) {
                stack.push((block, index + 1));
                match state[next.index()] {
                    0 => stack.push((next, 0)),
                    1 => found.push((block, next)),
                    _ => {}
                }
            } else {
                state[block.index()] = 2;
            }
        }
        if found.is_empty() {
            return;
        }
        let mut before: Vec<Vec<BlockId>> = vec![Vec::new(); self.blocks.len()];
        for (index, block) in self.blocks.iter().enumerate() {
            for next in &block.successors {
                before[next.index()].push(BlockId::new(index));
            }
        }
        for (latch, header) in found {
            let known = self.loops.iter().position(|own| own.header == header);
            let of = known.unwrap_or_else(|| {
                let blocks = std::iter::once(header).collect();
                let own = Loop { header, blocks, exit: None, communicates: false, depth: 0 };
                self.loops.push(own);
                self.loops.len() - 1
            });
            self.back.insert((latch, header), of);
            let mut work = vec![latch];
            while let Some(block) = work.pop() {
                if self.loops[of].blocks.insert(block) {
                    work.extend(&before[block.index()]);
                }
            }
        }
        for of in 0..self.loops.len() {
            let own = &self.loops[of];
            let mut blocks: Vec<BlockId> = own.blocks.iter().copied().collect();
            blocks.sort_unstable_by_key(|&block| (block != own.header, block));
            let mut ahead = blocks.iter().flat_map(|block| &self.blocks[block.index()].successors);
            let exit = ahead.find(|next| !own.blocks.contains(next)).copied();
            let around = self.loops.iter().filter(|other| other.header != own.header);
            let depth = around.filter(|other| other.blocks.contains(&own.header)).count();
            let communicates = blocks.into_iter().any(|block| self.block_communicates(block));
            let own = &mut self.loops[of];
            own.exit = exit;
            own.depth = u32::try_from(depth).unwrap_or(u32::MAX);
            own.communicates = communicates;
        }
    }

    fn block_communicates(&mut self, block: BlockId) -> bool {
        if self.model.unreached.is_block(self.caller, block) {
            return false;
        }
        let start = self.comms.end(Ending::Returns);
        let calls = self.model.blocks.of(self.caller, block).calls.iter().rev();
        let calls: Vec<CallId> = calls.copied().collect();
        calls.into_iter().any(|call| {
            let way = self.with_call(call, start);
            matches!(self.comms.node(way.node), Node::Then(..))
        })
    }
}
