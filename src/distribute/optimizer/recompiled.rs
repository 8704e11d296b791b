//! Models that are compiled again before they train: what an earlier call of `compile` gave them makes no step.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::keras::Compile;
use crate::program::{Caller, Facts, Object, TrainingLoop, comes_to, for_bound};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId, Flow, ValueId};
use crate::syntax::TextSize;

/// How many calls are followed from the first call of `compile`, back and on, to where the second one stands.
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

    /// Whether the model is compiled again on all ways from a call of `compile` to the training, or there is none: who evaluates
    /// compiles, too. A program that is yet to be distributed is rewritten wherever it compiles, so that no way of it is
    /// forgotten.
    pub(super) fn is(&self, first: Compile<'_>) -> bool {
        let job = self.job;
        let compile = (first.file, first.call);
        let trains = || job.facts.may_follow(job.program, compile, (self.own.caller.file, self.own.call));
        job.program.already_distributed
            && self.compiles.len() > 1
            && (!trains() || self.is_followed(compile, DEPTH))
    }

    /// Whether all ways from a call come to another `compile`, and to no training before it.
    fn is_followed(&self, (file, call): (FileId, CallId), depth: u32) -> bool {
        let facts = self.job.facts;
        let data = facts.module(file).call(call);
        let caller = Caller { file, scope: data.scope };
        let arguments = data.arguments.iter().map(|argument| argument.value);
        // A function that makes models gives another one at each call.
        let values = arguments.chain([data.result]).chain(facts.receiver(file, data)).collect();
        if self.is_compiled(&Held { caller, values, block: data.block, since: data.range.end() }, depth) {
            return true;
        }
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

    /// Whether all ways on in a scope come to a `compile` of the model, there or in a function that is given it, and
    /// nothing trains before.
    fn is_compiled(&self, held: &Held, depth: u32) -> bool {
        let facts = self.job.facts;
        let Caller { file, scope } = held.caller;
        let module = facts.module(file);
        // Calls are made in the order in which they end: their arguments come before them.
        let calls = || {
            let calls = module.calls.iter().enumerate().map(|(index, call)| (CallId::new(index), call));
            calls.filter(|(_, call)| call.scope == scope && call.range.end() >= held.since)
        };
        let trains = |id: CallId| {
            (file, id) == (self.own.caller.file, self.own.call)
                || facts
                    .called_functions(file, id)
                    .any(|function| self.training.contains(&facts.code_of(function)))
        };
        let trained = calls().filter(|&(id, _)| trains(id)).map(|(_, call)| call.range.end()).min();
        calls().any(|(id, call)| {
            call.range.end() > held.since
                && trained.is_none_or(|trained| call.range.end() <= trained)
                && comes_to(module, scope, held.block, call.block)
                && (self.compiles.iter().any(|own| (own.file, own.call) == (file, id))
                    && facts.receiver(file, call).is_some_and(|model| held.values.contains(&model))
                    || depth > 0 && self.is_compiled_by(held, id, depth - 1))
        })
    }

    /// Whether all functions that a call gives the model compile it.
    fn is_compiled_by(&self, held: &Held, id: CallId, depth: u32) -> bool {
        let facts = self.job.facts;
        let file = held.caller.file;
        let call = facts.module(file).call(id);
        let edges = facts.callees(file, id);
        call.arguments.iter().any(|argument| held.values.contains(&argument.value))
            && !edges.is_empty()
            && edges.iter().all(|edge| match facts.solution.object(edge.callee) {
                Object::Function(function) if !Facts::is_call_back(edge) => {
                    let mut values = Vec::new();
                    let own = facts.module(function.file).function(function.function);
                    for_bound(facts, file, call, function, |value, parameter| {
                        if held.values.contains(&value) {
                            values.push(own.parameters[parameter].value);
                        }
                    });
                    let caller = facts.code_of(function);
                    let since = facts.module(function.file).scope(caller.scope).range.start();
                    let begun = Held { caller, values, block: Flow::ENTRY, since };
                    own.yields.is_empty() && self.is_compiled(&begun, depth)
                }
                _ => false,
            })
    }
}

/// A model in the hands of a scope's code.
struct Held {
    caller: Caller,
    /// Its names there.
    values: Vec<ValueId>,
    /// From where on.
    block: BlockId,
    since: TextSize,
}
