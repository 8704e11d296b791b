//! Code that a program only runs if it does not start Horovod: `if args.horovod: hvd.init() else: evaluate()`.

use petgraph::graph::NodeIndex;
use petgraph::visit::{Dfs, Reversed, Walker};
use rustc_hash::FxHashSet;

use super::Runs;
use crate::program::{CallEdge, Caller, Unreached};
use crate::semantic::{BlockId, ScopeKind};

impl Runs<'_, '_> {
    /// What is only run beside the way to the starts, where all of them lie behind one piece of code that runs once.
    pub(super) fn without(&self, starts: &[Caller], leading: &FxHashSet<Caller>) -> Unreached {
        let mut callers: Vec<Caller> = self.program.reached.iter().copied().collect();
        callers.sort_unstable();
        let mut beside: FxHashSet<(Caller, BlockId)> = FxHashSet::default();
        for &caller in callers.iter().filter(|caller| leading.contains(caller)) {
            let blocks = self.beside(caller, leading);
            if !blocks.is_empty() && self.runs_once(caller) && self.is_on_each_way(caller, starts) {
                beside.extend(blocks.into_iter().map(|block| (caller, block)));
            }
        }
        let is_closed = |caller: Caller, block: BlockId, arm: usize| {
            let flow = &self.facts.module(caller.file).scope(caller.scope).flow;
            beside.contains(&(caller, flow.blocks[block.index()].successors[arm]))
        };
        let is_run = |edge: &CallEdge| self.facts.is_run(self.program, edge);
        Unreached::behind(self.facts, &callers, is_closed, is_run)
    }

    /// Whether a scope's code is that of a module, or a function with a single call.
    fn runs_once(&self, caller: Caller) -> bool {
        match (self.facts.module(caller.file).scope(caller.scope).kind, self.facts.function_of(caller)) {
            (ScopeKind::Module, _) => true,
            (_, Some(function)) => self.facts.incoming(function).len() == 1,
            _ => false,
        }
    }

    /// Whether no start is come to without the code of a scope.
    fn is_on_each_way(&self, caller: Caller, starts: &[Caller]) -> bool {
        let others = self.program.reached.iter().copied();
        let modules = others.filter(|own| self.facts.function_of(*own).is_none() && *own != caller);
        let mut work: Vec<Caller> = modules.collect();
        let mut found: FxHashSet<Caller> = FxHashSet::default();
        found.insert(caller);
        while let Some(next) = work.pop() {
            if found.insert(next) {
                work.extend(self.next(next, true));
            }
        }
        starts.iter().all(|start| *start == caller || !found.contains(start))
    }

    /// The blocks of a scope that are neither in front of what leads to a start, nor it, nor behind it.
    fn beside(&self, caller: Caller, leading: &FxHashSet<Caller>) -> Vec<BlockId> {
        let facts = self.facts;
        let module = facts.module(caller.file);
        let flow = &module.scope(caller.scope).flow;
        let own = self.starting().filter(|(of, _)| *of == caller).map(|(_, call)| call);
        let called =
            facts.reached_functions(caller).filter(|(_, own)| leading.contains(&facts.code_of(*own)));
        let calls = own.chain(called.filter_map(|(edge, _)| edge.call));
        let blocks: Vec<BlockId> = calls.map(|call| module.call(call).block).collect();
        if blocks.is_empty() {
            return Vec::new();
        }
        let graph = flow.graph();
        let mut on_the_way: FxHashSet<NodeIndex> = FxHashSet::default();
        for start in blocks.iter().map(|block| NodeIndex::new(block.index())) {
            on_the_way.extend(Dfs::new(&graph, start).iter(&graph));
            on_the_way.extend(Dfs::new(Reversed(&graph), start).iter(Reversed(&graph)));
        }
        let all = graph.node_indices().filter(|node| !on_the_way.contains(node));
        all.map(|node| BlockId::new(node.index())).filter(|block| flow.is_reachable(*block)).collect()
    }
}
