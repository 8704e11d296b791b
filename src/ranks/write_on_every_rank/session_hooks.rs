//! Hooks of sessions that write: `tf.train.SummarySaverHook(output_dir="logs")`, which every session runs that is given it. Those
//! for the chief alone run on each rank, too, unless the session is told whether it is the chief.

use rustc_hash::FxHashSet;

use super::super::model::Model;
use super::Written;
use crate::api::{Effect, Symbol};
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Use};

/// The class of hooks.
const HOOK: &str = "tensorflow.estimator.SessionRunHook";

/// The parameters for the folder that a hook writes to.
const FOLDERS: [&str; 2] = ["checkpoint_dir", "output_dir"];

/// The parameters for hooks, and for those that the chief alone runs.
const HOOKS: &str = "hooks";
const OF_CHIEF: &str = "chief_only_hooks";

/// The parameter that tells whether it is the chief.
const CHIEF: &str = "is_chief";

/// What the hook that a call makes writes; `None` if it makes none that writes, or nobody knows that each rank runs it.
pub(super) fn written(model: &Model<'_>, file: FileId, id: CallId) -> Option<Written> {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    let base = facts.library.lookup(HOOK)?;
    let writes = |symbol: &Symbol| {
        let effects = [Effect::WritesFile, Effect::WritesSummary];
        symbol.members().iter().any(|member| effects.iter().any(|&effect| member.has(effect)))
    };
    let is_writer =
        |symbol: &&Symbol| symbol.is_class() && facts.library.is_subclass(symbol, base) && writes(symbol);
    let symbol = facts.called_symbols(file, id).find(is_writer)?;
    let folder = FOLDERS.into_iter().find_map(|name| facts.argument(file, call, symbol, name))?;
    let is_told = !facts.is_none(file, folder.value) && is_run_by_all(model, (file, call.result));
    is_told.then(|| Written::To(vec![(file, folder.value)]))
}

/// Whether a hook is given to something that runs it on each rank that makes it.
fn is_run_by_all(model: &Model<'_>, hook: Place) -> bool {
    let facts = model.facts;
    let (file, value) = hook;
    let mut reads = facts.module(file).uses.iter().filter(|own| own.value == value).peekable();
    let is_read_by_one = |own: &Use| model.guard(Caller { file, scope: own.scope }, own.block).is_one();
    if reads.peek().is_some() && reads.all(is_read_by_one) {
        return false;
    }
    let is_of_one = |(file, value): Place| {
        let at = facts.location(file, facts.module(file).value(value).range);
        let caller = facts.code_at(at);
        facts.block_at(caller, at).is_some_and(|block| model.guard(caller, block).is_one())
    };
    let mut behind = facts.influence().forwards(&[hook], is_of_one);
    behind.retain(|&place| !is_of_one(place));
    let files: FxHashSet<FileId> = behind.iter().map(|&(file, _)| file).collect();
    files.into_iter().any(|file| {
        (0..).map(CallId::new).zip(&facts.module(file).calls).any(|(id, call)| {
            facts.called_symbols(file, id).any(|symbol| {
                let given = |name: &str| facts.argument(file, call, symbol, name);
                let is_given =
                    |name: &str| given(name).is_some_and(|own| behind.contains(&(file, own.value)));
                is_given(HOOKS) || is_given(OF_CHIEF) && given(CHIEF).is_none()
            })
        })
    })
}
