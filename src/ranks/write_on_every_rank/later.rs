//! What is written later than it is told where: the events that are added to a writer, the profile that `stop` ends.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::destination::DIRECTORY;
use super::super::model::Model;
use super::run_calls;
use crate::api::{Effect, Symbol};
use crate::program::{Caller, Facts, Object};
use crate::project::FileId;
use crate::semantic::{CallId, Passing};

/// The parameters for what is written at once: a writer that is given none makes its file with the first event.
const AT_ONCE: [&str; 3] = ["graph", "graph_def", "session"];

/// The calls that say where is written later, with those that write there.
#[derive(Debug, Default)]
pub(super) struct Later {
    openers: FxHashMap<(FileId, CallId), Opener>,
    /// The calls that write where another call has said.
    told: FxHashSet<(FileId, CallId)>,
}

/// What becomes of what a call says where to write.
#[derive(Debug, Default)]
pub(super) struct Opener {
    /// The calls that write there, in the order of the program.
    pub(super) writings: Vec<(Caller, CallId)>,
    /// It is given to code that nobody knows.
    pub(super) escapes: bool,
}

impl Later {
    pub(super) fn new(model: &Model<'_>) -> Self {
        let facts = model.facts;
        let mut later = Self::default();
        let calls = facts.calls_with(Effect::WritesLater);
        let (writers, recordings): (Vec<_>, Vec<_>) = calls.partition(|&(file, id)| {
            facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::WritesLater) && symbol.is_class())
        });
        let is_later = |&(file, id): &(FileId, CallId)| !writes_at_once(facts, file, id);
        let writers: Vec<_> = writers.into_iter().filter(is_later).collect();
        if writers.is_empty() && recordings.is_empty() {
            return later;
        }
        later.openers.extend(writers.into_iter().map(|call| (call, Opener::default())));
        let calls = run_calls(model);
        for &(caller, id) in &calls {
            later.add_events(facts, caller, id);
        }
        later.add_recordings(facts, &recordings, &calls);
        later
    }

    /// What becomes of what a call says where to write; `None` if it says nothing of the kind, or nobody sees what writes
    /// there.
    pub(super) fn opener(&self, file: FileId, call: CallId) -> Option<&Opener> {
        self.openers.get(&(file, call))
    }

    /// Whether a call writes where another call has said.
    pub(super) fn is_told(&self, file: FileId, call: CallId) -> bool {
        self.told.contains(&(file, call))
    }

    /// `writer.add_summary(summary, step)`, or a library's function that is given the writer.
    fn add_events(&mut self, facts: &Facts<'_>, caller: Caller, id: CallId) {
        let file = caller.file;
        let call = facts.module(file).call(id);
        // What is given nothing adds nothing: `flush`, `close`.
        let adds = |symbol: &Symbol| symbol.has(Effect::WritesSummary) && !symbol.parameters().is_empty();
        let receiver = facts.receiver(file, call).filter(|_| facts.called_symbols(file, id).any(adds));
        let is_of_library =
            || facts.called_symbols(file, id).any(|own| facts.library.is_training_library(own.package()));
        let is_unknown = || {
            let mut callees = facts.callees(file, id).iter();
            callees.any(|edge| matches!(facts.solution.object(edge.callee), Object::Unknown))
        };
        let given = call.arguments.iter().map(|own| (own.value, false));
        for (value, is_receiver) in receiver.map(|own| (own, true)).into_iter().chain(given) {
            for (object, _) in facts.objects(file, value) {
                let made = facts.made_at(object);
                let Some(opener) = made.and_then(|made| self.openers.get_mut(&made)) else { continue };
                if is_receiver || is_of_library() {
                    opener.writings.push((caller, id));
                } else {
                    opener.escapes |= is_unknown();
                }
            }
        }
    }

    /// `stop()` of the same module: by itself it has no path. Which one ends a recording is clear in the code that begins
    /// it; elsewhere it may be any.
    fn add_recordings(
        &mut self,
        facts: &Facts<'_>,
        recordings: &[(FileId, CallId)],
        calls: &[(Caller, CallId)],
    ) {
        let scope =
            |&(file, id): &(FileId, CallId)| Caller { file, scope: facts.module(file).call(id).scope };
        let beginning: FxHashSet<Caller> = recordings.iter().map(scope).collect();
        for &begin in recordings {
            let ends = |&&(caller, id): &&(Caller, CallId)| ends(facts, begin, (caller.file, id));
            let own = scope(&begin);
            let mut writings: Vec<_> =
                calls.iter().filter(|call| call.0 == own).filter(ends).copied().collect();
            if writings.is_empty() {
                let elsewhere = calls.iter().filter(|call| !beginning.contains(&call.0));
                writings = elsewhere.filter(ends).copied().collect();
            }
            if !writings.is_empty() {
                self.told.extend(writings.iter().map(|&(caller, id)| (caller.file, id)));
                self.openers.insert(begin, Opener { writings, escapes: false });
            }
        }
    }
}

/// Whether a writer is given something that it writes when it is made.
fn writes_at_once(facts: &Facts<'_>, file: FileId, id: CallId) -> bool {
    let call = facts.module(file).call(id);
    facts.called_symbols(file, id).any(|symbol| {
        let mut given = AT_ONCE.into_iter().filter_map(|name| facts.argument(file, call, symbol, name));
        given.any(|own| !facts.is_none(file, own.value))
    }) || call.arguments.iter().any(|own| matches!(own.passing, Passing::Spread | Passing::Merge))
}

/// Whether a call writes what another one has begun to record.
fn ends(facts: &Facts<'_>, begin: (FileId, CallId), end: (FileId, CallId)) -> bool {
    let module = |symbol: &Symbol| symbol.name().rsplit_once('.').map(|(module, _)| module.to_owned());
    facts.called_symbols(end.0, end.1).any(|own| {
        own.has(Effect::WritesFile)
            && !own.has(Effect::WritesLater)
            && own.parameter(DIRECTORY).is_none()
            && facts
                .called_symbols(begin.0, begin.1)
                .any(|begin| begin.has(Effect::WritesLater) && module(begin) == module(own))
    })
}
