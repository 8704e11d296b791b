//! Code on the way to an exception: what it prints is printed when tracing fails, which is when it is of use.

use super::Graph;
use crate::program::Caller;
use crate::semantic::BlockId;

/// How far the calls of functions are followed back.
const DEPTH: u32 = 6;

impl Graph<'_> {
    /// Whether all ways from a block end in `raise`, or the function is called from such blocks only.
    pub(super) fn leads_to_exception(&self, caller: Caller, block: BlockId) -> bool {
        self.fails_behind(caller, block, DEPTH)
    }

    fn fails_behind(&self, caller: Caller, block: BlockId, depth: u32) -> bool {
        if self.ends_in_raise(caller, block) {
            return true;
        }
        let Some((function, depth)) = self.facts.function_of(caller).zip(depth.checked_sub(1)) else {
            return false;
        };
        let mut calls =
            self.facts.incoming(function).iter().filter(|edge| self.is_traced(edge.caller)).peekable();
        calls.peek().is_some()
            && calls.all(|edge| {
                edge.caller != caller
                    && edge.call.is_some_and(|call| {
                        let block = self.module(edge.caller.file).call(call).block;
                        self.fails_behind(edge.caller, block, depth)
                    })
            })
    }

    fn ends_in_raise(&self, caller: Caller, block: BlockId) -> bool {
        let module = self.module(caller.file);
        let flow = &module.scope(caller.scope).flow;
        let is_end = |block: &BlockId| flow.blocks[block.index()].successors.is_empty();
        let mut ends = flow.behind(block).into_iter().filter(is_end).peekable();
        ends.peek().is_some() && ends.all(|end| module.raises(caller.scope, end))
    }
}
