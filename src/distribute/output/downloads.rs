//! Downloads whose result is the path that they are told: `path, _ = urlretrieve(url, path)`. The variable has the same value
//! without them, and rank 0 can be left to make them: `path, _ = urlretrieve(url, "data.zip")`.

use super::super::bound::{read_elsewhere, within};
use super::super::job::Job;
use crate::project::FileId;
use crate::semantic::{CallId, Definition, StatementKind, Value};
use crate::syntax::TextRange;

/// The names that a stretch of code binds, that are read outside of it, and that have another value without it.
pub(super) fn missed_elsewhere(job: &Job<'_>, file: FileId, range: TextRange) -> Vec<String> {
    let module = job.facts.module(file);
    let mut names = read_elsewhere(module, range);
    names.retain(|name| {
        let mut bound = within(module, range).filter(|own| module.variable_name(own.variable) == name);
        !bound.all(|own| is_own_path(job, file, own))
    });
    names
}

/// What a variable is on ranks that leave a download to another, as an expression: `"data.zip"` for the path that it is told, and that
/// with what the server says, of which they know nothing, for all that it returns.
pub(super) fn without_it(job: &Job<'_>, file: FileId, own: &Definition) -> Option<String> {
    let text = job.text(file)?;
    if let Some(path) = job.facts.downloaded_path(file, own.value) {
        return Some(text.slice(path.range).to_owned());
    }
    let Value::Call(id) = text.module.value(own.value).value else { return None };
    let path = job.facts.told_to_download(file, id)?;
    Some(format!("({}, None)", text.slice(path.range)))
}

/// Whether a call is a download to a path that it is told, whose result goes to variables of which the other ranks know the value.
pub(super) fn can_be_replaced(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let module = job.facts.module(file);
    let range = module.statement(module.call(id).statement).range;
    let missed = missed_elsewhere(job, file, range);
    let mut bound = within(module, range);
    let is_known = |own: &Definition| {
        !missed.iter().any(|name| name == module.variable_name(own.variable))
            || without_it(job, file, own).is_some()
    };
    job.facts.told_to_download(file, id).is_some()
        && matches!(module.statement(module.call(id).statement).kind, StatementKind::Assign { .. })
        && !module.stores.iter().any(|own| range.contains_range(own.range))
        && bound.all(is_known)
}

/// Whether a variable gets the path back that a download was given as the variable.
fn is_own_path(job: &Job<'_>, file: FileId, own: &Definition) -> bool {
    let module = job.facts.module(file);
    job.facts.downloaded_path(file, own.value).is_some_and(|path| {
        let mut uses = module.uses.iter();
        uses.any(|reading| reading.range == path.range && reading.variable == Some(own.variable))
    })
}
