//! Whether a model is trained behind a place: weights that are loaded to predict with need not be equal.

use rustc_hash::FxHashSet;

use super::Replicas;
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::{BlockId, CallId};

impl Replicas<'_, '_> {
    /// The scopes whose code comes to a step of training, by itself or in what it calls.
    pub(super) fn scopes_that_train(&self) -> FxHashSet<Caller> {
        let facts = self.model.facts;
        let mut found = FxHashSet::default();
        let mut work: Vec<Caller> = self
            .steps
            .keys()
            .map(|&(file, call)| Caller { file, scope: facts.module(file).call(call).scope })
            .collect();
        while let Some(caller) = work.pop() {
            if found.insert(caller) {
                let function = facts.function_of(caller);
                let incoming = function.map_or(&[][..], |function| facts.incoming(function));
                work.extend(incoming.iter().map(|edge| edge.caller));
            }
        }
        found
    }

    /// Whether a step of training may follow a call: in its own scope, or when that returns.
    pub(super) fn trains_behind(&self, file: FileId, call: CallId) -> bool {
        let facts = self.model.facts;
        let mut seen = FxHashSet::default();
        let mut work = vec![(file, call)];
        while let Some((file, call)) = work.pop() {
            let caller = Caller { file, scope: facts.module(file).call(call).scope };
            if self.trains_later(caller, call) {
                return true;
            }
            if seen.insert(caller) {
                let function = facts.function_of(caller);
                let incoming = function.map_or(&[][..], |function| facts.incoming(function));
                // Who hands the function on calls it at a time that nobody sees.
                if incoming.iter().any(|edge| edge.call.is_none()) {
                    return true;
                }
                work.extend(incoming.iter().filter_map(|edge| Some((edge.caller.file, edge.call?))));
            }
        }
        false
    }

    fn trains_later(&self, caller: Caller, call: CallId) -> bool {
        let module = self.model.facts.module(caller.file);
        let blocks = &module.scope(caller.scope).flow.blocks;
        let own = module.call(call);
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let mut work: Vec<BlockId> = blocks[own.block.index()].successors.clone();
        while let Some(block) = work.pop() {
            if seen.insert(block) {
                work.extend(&blocks[block.index()].successors);
            }
        }
        let is_later = |&other: &CallId| {
            let range = module.call(other).range;
            seen.contains(&own.block) || range.start() >= own.range.end()
        };
        let here = self.model.blocks.of(caller, own.block).calls.iter().filter(|&other| is_later(other));
        let later = seen.iter().flat_map(|&block| &self.model.blocks.of(caller, block).calls);
        here.chain(later).any(|&other| self.trains(caller.file, other))
    }

    /// Whether a call makes a step of training, or comes to one.
    pub(super) fn trains(&self, file: FileId, call: CallId) -> bool {
        let facts = self.model.facts;
        self.steps.contains_key(&(file, call))
            || facts
                .called_functions(file, call)
                .any(|function| self.training.contains(&facts.code_of(function)))
    }
}
