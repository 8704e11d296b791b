//! Models that are compiled again before they train: what an earlier call of `compile` gave them makes no step.

use rustc_hash::FxHashSet;

use super::job::Job;
use super::keras::Compile;
use crate::program::{Caller, Facts, TrainingLoop, comes_to};
use crate::project::FileId;
use crate::semantic::CallId;

/// How many calls are followed back from the first call of `compile` to where the second one stands.
const DEPTH: u32 = 4;

/// The search for a later call of `compile` of the same model.
pub(super) struct Recompiled<'s, 'c> {
    job: &'s Job<'c>,
    compiles: &'s [Compile<'c>],
    own: &'s TrainingLoop,
    /// The code that comes to the training.
    training: FxHashSet<Caller>,
}

impl<'s, 'c> Recompiled<'s, 'c> {
    /// `compiles` are those of one model which a loop trains.
    pub(super) fn new(job: &'s Job<'c>, compiles: &'s [Compile<'c>], own: &'s TrainingLoop) -> Self {
        let mut training = FxHashSet::default();
        let mut work = vec![own.caller];
        while let Some(caller) = work.pop() {
            if training.insert(caller) {
                let function = job.facts.function_of(caller);
                let edges = function.map_or(&[][..], |function| job.facts.incoming(function));
                work.extend(edges.iter().map(|edge| edge.caller));
            }
        }
        Self { job, compiles, own, training }
    }

    /// Whether the model is compiled again on all ways from a call of `compile` to the training. A program that is yet
    /// to be distributed is rewritten wherever it compiles, so that no way of it is forgotten.
    pub(super) fn is(&self, first: Compile<'_>) -> bool {
        self.job.program.already_distributed
            && self.compiles.len() > 1
            && self.is_followed((first.file, first.call), DEPTH)
    }

    /// Whether all ways from a call come to another `compile`, and to no training before it.
    fn is_followed(&self, (file, call): (FileId, CallId), depth: u32) -> bool {
        let facts = self.job.facts;
        if self.compiles.iter().any(|then| then.file == file && self.follows(file, call, then.call)) {
            return true;
        }
        let caller = Caller { file, scope: facts.module(file).call(call).scope };
        let Some(function) = facts.function_of(caller).filter(|_| depth > 0 && caller != self.own.caller)
        else {
            return false;
        };
        let mut edges =
            facts.incoming(function).iter().filter(|edge| facts.is_run(self.job.program, edge)).peekable();
        edges.peek().is_some()
            && edges.all(|edge| {
                edge.call.is_some_and(|call| {
                    !Facts::is_call_back(edge) && self.is_followed((edge.caller.file, call), depth - 1)
                })
            })
    }

    /// Whether all ways from one call of a scope come to another, and nothing trains between them.
    fn follows(&self, file: FileId, first: CallId, then: CallId) -> bool {
        let facts = self.job.facts;
        let module = facts.module(file);
        let (from, to) = (module.call(first), module.call(then));
        let trains = |index: usize| {
            let call = CallId::new(index);
            (file, call) == (self.own.caller.file, self.own.call)
                || facts
                    .called_functions(file, call)
                    .any(|function| self.training.contains(&facts.code_of(function)))
        };
        let is_between = |range: crate::syntax::TextRange| {
            from.range.start() <= range.start() && range.start() < to.range.start()
        };
        // A function that makes models gives another one at each call.
        let is_same = facts.receiver(file, to).is_some_and(|model| {
            facts.receiver(file, from) == Some(model)
                || from.result == model
                || from.arguments.iter().any(|argument| argument.value == model)
        });
        let mut calls = module.calls.iter().enumerate();
        is_same
            && from.scope == to.scope
            && from.range.end() <= to.range.start()
            && comes_to(module, from.scope, from.block, to.block)
            && !calls.any(|(index, call)| call.scope == from.scope && is_between(call.range) && trains(index))
    }
}
