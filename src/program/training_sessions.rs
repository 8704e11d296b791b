//! Sessions of TensorFlow 1 that train: those that run something, in programs that have steps.

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::loops::TrainingLoop;
use super::object::ObjectId;
use super::solver::Caller;
use crate::api::Kind;
use crate::project::FileId;
use crate::semantic::CallId;

/// What tells them apart from others.
pub(super) struct TrainingSessions {
    /// The sessions that run something, each with the files in which it does; the default one, given to a saver, does not.
    running: FxHashMap<ObjectId, FxHashSet<FileId>>,
    /// The files in which steps are made.
    stepping: FxHashSet<FileId>,
    /// The files with code that calls a function which makes a step.
    calling: FxHashSet<FileId>,
}

impl TrainingSessions {
    /// Looks for them; `steps` are the calls that apply gradients.
    pub(super) fn new(facts: &Facts<'_>, steps: &[(FileId, CallId)]) -> Self {
        Self {
            running: sessions_that_run(facts),
            stepping: steps.iter().map(|&(file, _)| file).collect(),
            calling: files_that_call(facts, steps),
        }
    }

    /// Whether a session trains; one that only evaluates does not.
    pub(super) fn contain(&self, facts: &Facts<'_>, own: &TrainingLoop) -> bool {
        let file = own.caller.file;
        let made = facts.solution.values(file, facts.module(file).call(own.call).result);
        let running: FxHashSet<FileId> =
            made.iter().filter_map(|session| self.running.get(session)).flatten().copied().collect();
        let steps = |file: &FileId| self.stepping.contains(file);
        !running.is_empty()
            && running.iter().chain([&file]).any(|file| {
                steps(file) || self.calling.contains(file) || facts.imported_files(*file).iter().any(steps)
            })
    }
}

/// The sessions that a method is called on or that a `with` statement manages, with the files in which that is.
fn sessions_that_run(facts: &Facts<'_>) -> FxHashMap<ObjectId, FxHashSet<FileId>> {
    let mut found: FxHashMap<ObjectId, FxHashSet<FileId>> = FxHashMap::default();
    let is_session = |kind: Kind| matches!(kind, Kind::Session | Kind::MonitoredSession);
    for file in facts.files().filter(|&file| facts.has_any(file, is_session)) {
        let module = facts.module(file);
        let receivers = module.calls.iter().filter_map(|call| facts.receiver(file, call));
        for value in receivers.chain(module.managers.iter().map(|&(value, _)| value)) {
            let sessions =
                [Kind::Session, Kind::MonitoredSession].map(|kind| facts.of_kind(file, value, kind));
            for session in sessions.into_iter().flatten() {
                found.entry(session).or_default().insert(file);
            }
        }
    }
    found
}

/// The files with code that calls a function in which one of these calls stands. Who calls it from further away is a library.
fn files_that_call(facts: &Facts<'_>, calls: &[(FileId, CallId)]) -> FxHashSet<FileId> {
    let functions = calls.iter().filter_map(|&(file, call)| {
        let module = facts.module(file);
        facts.function_of(Caller { file, scope: module.code_scope(module.call(call).scope) })
    });
    functions.flat_map(|function| facts.incoming(function)).map(|edge| edge.caller.file).collect()
}
