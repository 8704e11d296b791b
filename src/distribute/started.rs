//! Which code runs only once Horovod is started: `hvd.rank()` and `hvd.size()` fail before.

use rustc_hash::FxHashMap;

use super::initialisation::end_of_imports;
use super::job::Job;
use crate::api::Effect;
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::{CallId, Module, ScopeId};
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
    if file == job.owner() {
        return end_of_imports(job, file).is_none_or(|end| end <= at);
    }
    // The start stands in front of all imports of the project's own modules.
    job.owner() == job.program.entry
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
