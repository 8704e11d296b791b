//! Code that a program only runs if it does not come to certain calls: `if args.horovod: hvd.init() else: evaluate()`.

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, Reversed, Walker};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Runs;
use crate::api::Effect;
use crate::program::{CallEdge, Caller, FunctionRef, Unreached, Via};
use crate::semantic::{BlockId, CallId, ScopeKind};

impl Runs<'_, '_, '_> {
    /// What is only run beside the way to these calls, where all of them lie behind one piece of code that runs once.
    pub(super) fn without(&self, calls: &[(Caller, CallId)]) -> Unreached {
        let leading = self.leading(calls.iter().map(|&(caller, _)| caller).collect());
        let mut callers: Vec<Caller> = self.program.reached.iter().copied().collect();
        callers.sort_unstable();
        let mut on_the_way = self.on_each_way(&callers, calls);
        on_the_way.retain(|&caller| self.runs_once(caller));
        let blocks = |&caller: &Caller| {
            self.beside(caller, calls, &leading).into_iter().map(move |block| (caller, block))
        };
        let beside: FxHashSet<(Caller, BlockId)> = on_the_way.iter().flat_map(blocks).collect();
        let is_closed = |caller: Caller, block: BlockId, arm: usize| {
            let flow = &self.facts.module(caller.file).scope(caller.scope).flow;
            beside.contains(&(caller, flow.blocks[block.index()].successors[arm]))
        };
        let is_run = |edge: &CallEdge| self.facts.is_run(self.program, edge);
        Unreached::behind(self.facts, &callers, is_closed, is_run)
            .and_uncalled(self.facts, &self.not_chosen(&on_the_way, &leading))
    }

    /// Whether a scope's code is that of a module, or a function with a single call. What a library calls is run once by
    /// functions of it, `app.run(main)`, and as often as they like by the objects that are given it.
    fn runs_once(&self, caller: Caller) -> bool {
        let facts = self.facts;
        let is_by_object = |edge: &CallEdge| {
            let mut symbols =
                edge.call.into_iter().flat_map(|call| facts.called_symbols(edge.caller.file, call));
            edge.via == Via::Library && symbols.any(|own| own.is_class() || own.has(Effect::Trains))
        };
        match (facts.module(caller.file).scope(caller.scope).kind, facts.function_of(caller)) {
            (ScopeKind::Module, _) => true,
            (_, Some(function)) => match facts.incoming(function) {
                [only] => !is_by_object(only),
                _ => false,
            },
            _ => false,
        }
    }

    /// The code without which the program comes to none of these calls: `callers` are all that it reaches.
    fn on_each_way(&self, callers: &[Caller], calls: &[(Caller, CallId)]) -> Vec<Caller> {
        let mut graph: DiGraph<Option<Caller>, ()> = DiGraph::new();
        let root = graph.add_node(None);
        let nodes: FxHashMap<Caller, NodeIndex> =
            callers.iter().map(|&caller| (caller, graph.add_node(Some(caller)))).collect();
        for caller in callers {
            if self.facts.function_of(*caller).is_none() {
                graph.add_edge(root, nodes[caller], ());
            }
            for next in self.next(*caller, true) {
                graph.add_edge(nodes[caller], nodes[&next], ());
            }
        }
        let dominators = simple_fast(&graph, root);
        let mut targets = calls.iter().filter_map(|(caller, _)| nodes.get(caller));
        let ways = |target: &NodeIndex| dominators.dominators(*target).map(Iterator::collect::<Vec<_>>);
        // What nothing is known to call tells nothing of the way to it.
        let Some(mut common) = targets.next().and_then(ways) else { return Vec::new() };
        for target in targets {
            let Some(own) = ways(target) else { return Vec::new() };
            let own: FxHashSet<NodeIndex> = own.into_iter().collect();
            common.retain(|node| own.contains(node));
        }
        common.into_iter().filter_map(|node| graph[node]).collect()
    }

    /// The functions that are only called where a call of code on the way chooses one of several, `modes[name]()`, and some of
    /// them lead there.
    fn not_chosen(&self, on_the_way: &[Caller], leading: &FxHashSet<Caller>) -> Vec<FunctionRef> {
        let others: FxHashSet<Caller> =
            on_the_way.iter().flat_map(|&caller| self.others(caller, leading)).collect();
        let is_called_here = |function: FunctionRef| {
            let mut edges =
                self.facts.incoming(function).iter().filter(|edge| self.facts.is_run(self.program, edge));
            edges.all(|edge| on_the_way.contains(&edge.caller))
        };
        let functions = others.into_iter().filter_map(|own| self.facts.function_of(own));
        functions.filter(|&own| is_called_here(own)).collect()
    }

    /// The blocks of a scope that are neither in front of what leads to these calls, nor it, nor behind it.
    fn beside(
        &self,
        caller: Caller,
        calls: &[(Caller, CallId)],
        leading: &FxHashSet<Caller>,
    ) -> Vec<BlockId> {
        let facts = self.facts;
        let module = facts.module(caller.file);
        let flow = &module.scope(caller.scope).flow;
        let own = calls.iter().filter(|(of, _)| *of == caller).map(|&(_, call)| call);
        let called =
            facts.reached_functions(caller).filter(|(_, own)| leading.contains(&facts.code_of(*own)));
        let all = own.chain(called.filter_map(|(edge, _)| edge.call));
        let blocks: Vec<BlockId> = all.map(|call| module.call(call).block).collect();
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
