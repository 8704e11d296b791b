//! Which code runs only once Horovod is started: `hvd.rank()` and `hvd.size()` fail before.

use rustc_hash::{FxHashMap, FxHashSet};

use super::job::Job;
use crate::api::{Effect, Kind};
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::{CallId, Module, ScopeId, StatementId};
use crate::syntax::TextSize;

/// Whether a call is made only once Horovod is started.
pub(super) fn runs_started(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let data = job.facts.module(file).call(call);
    code_runs_started(job, file, data.scope, data.range.start())
}

/// Whether code runs only once Horovod is started: that of a scope, at a place in the text. Functions are called
/// later, unless they start Horovod themselves.
pub(super) fn code_runs_started(job: &Job<'_>, file: FileId, scope: ScopeId, at: TextSize) -> bool {
    let module = job.facts.module(file);
    let code = module.code_scope(scope);
    if job.program.already_distributed {
        return match job.common.starts.get_or_init(|| starts(job)).get(&Caller { file, scope: code }) {
            Some(&end) => end <= at,
            None => code != Module::TOP,
        };
    }
    if code != Module::TOP {
        return true;
    }
    // There Horovod is imported, and started if the file is the owner.
    let has_horovod = job.end_of_imports(file).is_none_or(|end| end <= at);
    // The start stands in front of all imports of the project's own modules.
    let is_started =
        || job.owner() == job.program.entry || job.start_of(file).is_some_and(|start| start <= at);
    has_horovod && (file == job.owner() || is_started())
}

/// Whether a module makes an optimizer while it is imported, and no import in front of it leads to where Horovod is started: its rate
/// needs the number of ranks. Or whether the program prints or writes before it comes to that import.
pub(super) fn needs_earlier_start(job: &Job<'_>) -> bool {
    let facts = job.facts;
    let writes = |file: FileId, call: CallId| {
        let mut symbols = facts.called_symbols(file, call);
        symbols.any(|own| own.has(Effect::WritesFile) || own.has(Effect::Prints))
    };
    let needs = |&(file, call): &(FileId, CallId)| {
        let data = facts.module(file).call(call);
        file != job.owner()
            && facts.module(file).code_scope(data.scope) == Module::TOP
            && (facts.may_be(file, data.result, Kind::Optimizer)
                || file == job.program.entry && writes(file, call))
    };
    !job.program.already_distributed
        && job.owner() != job.program.entry
        && job.calls().filter(needs).any(|(file, call)| !runs_started(job, file, call))
}

/// Where the import ends by which a file's own code comes to the owner of the loop, where Horovod is started: behind it
/// that is done, also where modules import each other.
pub(super) fn start_by_import(job: &Job<'_>, file: FileId) -> Option<TextSize> {
    let mut seen = FxHashSet::default();
    leads_to_owner(job, file, &mut seen)
}

fn leads_to_owner(job: &Job<'_>, file: FileId, seen: &mut FxHashSet<FileId>) -> Option<TextSize> {
    if !seen.insert(file) {
        return None;
    }
    let module = job.facts.module(file);
    let unconditional = |statement: StatementId| {
        let own = module.statement(statement);
        own.scope == Module::TOP && own.parent.is_none()
    };
    let mut imports = module.imports.iter().filter(|import| unconditional(import.statement));
    let import = imports.find(|import| {
        let mut files = job.facts.files_of_import(file, import).into_iter();
        files.any(|to| to == job.owner() || leads_to_owner(job, to, seen).is_some())
    })?;
    Some(module.statement(import.statement).range.end())
}

/// Where the first call ends that starts Horovod in the code of each scope that does so.
fn starts(job: &Job<'_>) -> FxHashMap<Caller, TextSize> {
    let mut found = FxHashMap::default();
    for (file, id) in job.facts.calls_with(Effect::Initializes) {
        let module = job.facts.module(file);
        let call = module.call(id);
        found.entry(Caller { file, scope: module.code_scope(call.scope) }).or_insert(call.range.end());
    }
    found
}
