//! Sessions of TensorFlow 1 that train: those that run something, in programs that have steps.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::influence::Place;
use super::loops::TrainingLoop;
use super::object::{Object, ObjectId};
use super::solver::Caller;
use crate::api::{Effect, Kind, Symbol};
use crate::project::FileId;
use crate::semantic::{CallId, StatementId, Value, ValueId};

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

/// The sessions that a method is called on, or that a `with` statement manages in whose body something is called.
fn sessions_that_run(facts: &Facts<'_>) -> FxHashSet<ObjectId> {
    let mut found = FxHashSet::default();
    let is_session = |kind: Kind| matches!(kind, Kind::Session | Kind::MonitoredSession);
    for file in facts.files().filter(|&file| facts.has_any(file, is_session)) {
        let module = facts.module(file);
        let receivers = module.calls.iter().filter_map(|call| facts.receiver(file, call));
        let calls_in_body = |statement: StatementId| {
            let around = module.statement(statement);
            module
                .calls
                .iter()
                .any(|call| call.statement != statement && around.range.contains_range(call.range))
        };
        let managed = module.managers.iter().filter(|&&(_, statement)| calls_in_body(statement));
        for value in receivers.chain(managed.map(|&(value, _)| value)) {
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

/// The parameter for the variable that counts an optimizer's steps.
const COUNTER: &str = "global_step";

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

    /// The variables that count the steps of optimizers: all ranks make as many.
    #[must_use]
    pub fn step_counters(&self) -> FxHashSet<ObjectId> {
        let mut found = FxHashSet::default();
        for (file, id) in self.calls_with(Effect::AppliesGradients) {
            let call = self.module(file).call(id);
            let steps = self.called_symbols(file, id).filter(|own| own.has(Effect::AppliesGradients));
            for counter in steps.filter_map(|symbol| self.argument(file, call, symbol, COUNTER)) {
                let known = self.objects(file, counter.value).filter(|(_, own)| *own != Object::Unknown);
                found.extend(known.map(|(own, _)| own));
            }
        }
        found
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
        self.fetched(file, id).is_some_and(|own| self.initialisers().of_all.contains(&(file, own)))
    }

    /// Whether a call runs the initialiser of some variables: `session.run(tf.variables_initializer(variables))`. Those of one
    /// process, which count for a metric, are left out.
    #[must_use]
    pub fn initialises_some_variables(&self, file: FileId, id: CallId) -> bool {
        self.fetched(file, id).is_some_and(|own| self.initialisers().of_some.contains(&(file, own)))
    }

    /// Found when they are first asked for.
    fn initialisers(&self) -> &Initialisers {
        self.initialisers.get_or_init(|| {
            let all = self.calls_of(ALL);
            let mut some = self.calls_of(SOME);
            some.retain(|&(file, call)| {
                let given = self.module(file).call(call).arguments.iter().map(|own| (file, own.value));
                let given: Vec<Place> = given.collect();
                let mut behind = self.influence().list_backwards(&given, |_| false).into_iter();
                !behind.any(|place| self.is_of_process(place))
            });
            let resting = |calls: &[(FileId, CallId)]| {
                let made = calls.iter().map(|&(file, call)| (file, self.module(file).call(call).result));
                self.influence().forwards(&made.collect::<Vec<Place>>(), |_| false)
            };
            Initialisers { of_all: resting(&all), of_some: resting(&some) }
        })
    }

    /// The calls of a function of a library.
    fn calls_of(&self, function: &str) -> Vec<(FileId, CallId)> {
        let function = self.library.lookup(function);
        let calls = self.files().flat_map(|file| {
            let calls = (0..self.module(file).calls.len()).map(CallId::new);
            calls.map(move |call| (file, call))
        });
        calls
            .filter(|&(file, call)| self.called_symbols(file, call).any(|own| Some(own) == function))
            .collect()
    }

    /// Whether a value is the name of a collection of local variables, or those.
    fn is_of_process(&self, (file, value): Place) -> bool {
        let is_one = |own: &Symbol| LOCAL.iter().any(|&name| self.library.lookup(name) == Some(own));
        match self.module(file).value(value).value {
            Value::Call(call) => self.called_symbols(file, call).any(is_one),
            _ => self.objects(file, value).filter_map(|(_, own)| self.symbol(own)).any(is_one),
        }
    }
}

/// What rests on operations that initialise variables.
#[derive(Debug)]
pub(super) struct Initialisers {
    of_all: FxHashSet<Place>,
    of_some: FxHashSet<Place>,
}

/// What initialises variables.
const ALL: &str = "tensorflow.compat.v1.global_variables_initializer";
const SOME: &str = "tensorflow.compat.v1.variables_initializer";

/// What each process has for itself, by name or by that of the collection.
const LOCAL: [&str; 3] = [
    "tensorflow.compat.v1.GraphKeys.LOCAL_VARIABLES",
    "tensorflow.compat.v1.GraphKeys.METRIC_VARIABLES",
    "tensorflow.compat.v1.local_variables",
];
