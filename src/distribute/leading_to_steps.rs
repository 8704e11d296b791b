//! The code that leads to the steps of training.

use rustc_hash::FxHashSet;

use super::job::Job;
use super::session::{is_session, runs};
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::CallId;

/// The code of a program that makes steps of training.
#[derive(Debug, Default)]
pub(super) struct LeadingToSteps {
    /// The calls that make a step, or train.
    pub(super) calls: FxHashSet<(FileId, CallId)>,
    /// The code that makes such calls, itself or in what it calls.
    pub(super) code: FxHashSet<Caller>,
}

impl LeadingToSteps {
    pub(super) fn of(job: &Job<'_>) -> Self {
        let facts = job.facts;
        let mut own = Self::default();
        for training in job.program.loops.iter().chain(&job.program.steps_of_fit) {
            own.calls.extend(training.steps.iter().chain(&training.by_hand));
            own.calls.insert((training.caller.file, training.call));
        }
        if job.program.loops.iter().any(is_session) {
            own.calls.extend(job.calls().filter(|&(file, call)| runs::steps(job, file, call)));
        }
        let at =
            |&(file, call): &(FileId, CallId)| Caller { file, scope: facts.module(file).call(call).scope };
        let mut work: Vec<Caller> = own.calls.iter().map(at).collect();
        while let Some(caller) = work.pop() {
            if own.code.insert(caller)
                && let Some(function) = facts.function_of(caller)
            {
                let edges = facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge));
                work.extend(edges.map(|edge| edge.caller));
            }
        }
        own
    }
}
