//! Sessions of TensorFlow 1 that train: those that run something, in programs that have steps.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::loops::TrainingLoop;
use super::object::ObjectId;
use super::solver::Caller;
use crate::api::Kind;
use crate::project::FileId;
use crate::semantic::CallId;

/// What tells them apart from others.
pub(super) struct TrainingSessions {
    /// The sessions that run something; the default one, given to a saver, does not.
    running: FxHashSet<ObjectId>,
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
        let steps = |file: &FileId| self.stepping.contains(file);
        made.iter().any(|session| self.running.contains(session))
            && (steps(&file)
                || self.calling.contains(&file)
                || facts.imported_files(file).iter().any(steps)
                || asking_files(facts, own).any(|file| steps(&file)))
    }
}

/// The files with code that calls the function which makes a session and gives it back.
fn asking_files<'f>(facts: &'f Facts<'_>, own: &TrainingLoop) -> impl Iterator<Item = FileId> + use<'f> {
    let file = own.caller.file;
    let made = facts.solution.values(file, facts.module(file).call(own.call).result);
    let maker = facts.function_of(own.caller).filter(|maker| {
        let mut returned = facts.module(file).function(maker.function).returns.iter();
        returned.any(|&value| facts.solution.values(file, value).iter().any(|own| made.contains(own)))
    });
    maker.into_iter().flat_map(|maker| facts.incoming(maker)).map(|edge| edge.caller.file)
}

/// The sessions that a method is called on or that a `with` statement manages.
fn sessions_that_run(facts: &Facts<'_>) -> FxHashSet<ObjectId> {
    let mut found = FxHashSet::default();
    let is_session = |kind: Kind| matches!(kind, Kind::Session | Kind::MonitoredSession);
    for file in facts.files().filter(|&file| facts.has_any(file, is_session)) {
        let module = facts.module(file);
        let receivers = module.calls.iter().filter_map(|call| facts.receiver(file, call));
        for value in receivers.chain(module.managers.iter().map(|&(value, _)| value)) {
            found.extend(facts.of_kind(file, value, Kind::Session));
            found.extend(facts.of_kind(file, value, Kind::MonitoredSession));
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
