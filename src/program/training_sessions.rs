//! Sessions of TensorFlow 1 that train: those that run something, in programs that have steps.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::loops::TrainingLoop;
use super::object::ObjectId;
use super::solver::Caller;
use crate::api::Kind;
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

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

/// The method that runs something in a session.
const RUN: &str = "run";

impl Facts<'_> {
    /// The session that a call runs something in: `session.run(step)`.
    #[must_use]
    pub fn session_run(&self, file: FileId, id: CallId) -> Option<ValueId> {
        let session = self.run_of(file, id)?;
        let is_session =
            [Kind::Session, Kind::MonitoredSession].into_iter().any(|kind| self.may_be(file, session, kind));
        is_session.then_some(session)
    }

    /// What a method is called on that is named like the one of sessions.
    fn run_of(&self, file: FileId, id: CallId) -> Option<ValueId> {
        let module = self.module(file);
        match module.value(module.call(id).callee).value {
            Value::Attribute { base, name, .. } => (module.names.text(name) == RUN).then_some(base),
            _ => None,
        }
    }

    /// What a call runs in a session: `step` in `session.run(step)`, or in `step.run()`.
    #[must_use]
    pub fn fetched(&self, file: FileId, id: CallId) -> Option<ValueId> {
        let base = self.run_of(file, id)?;
        match self.module(file).call(id).arguments.first() {
            Some(fetched) => {
                let may_be = self.session_run(file, id).is_some() || self.is_unknown(file, base);
                may_be.then_some(fetched.value)
            }
            None => Some(base),
        }
    }

    /// Whether a call runs the initialiser of all variables in a session: `session.run(tf.global_variables_initializer())`.
    #[must_use]
    pub fn initialises_variables(&self, file: FileId, id: CallId) -> bool {
        let initializer = self.library.lookup("tensorflow.compat.v1.global_variables_initializer");
        let Some(fetched) = self.fetched(file, id) else { return false };
        let behind = self.influence().list_backwards(&[(file, fetched)], |_| false);
        behind.into_iter().any(|(file, value)| match self.module(file).value(value).value {
            Value::Call(call) => self.called_symbols(file, call).any(|symbol| Some(symbol) == initializer),
            _ => false,
        })
    }
}
