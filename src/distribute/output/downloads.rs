//! Downloads whose result is the path that they are given: `path, _ = urlretrieve(url, path)`. The variable has the same value
//! without them.

use super::super::bound::{read_elsewhere, within};
use super::super::job::Job;
use crate::project::FileId;
use crate::semantic::{Definition, Value};
use crate::syntax::TextRange;

/// What saves a file from the network, and returns its path and what the server tells.
const DOWNLOAD: &str = "urllib.request.urlretrieve";

/// The parameter for the path.
const PATH: &str = "filename";

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

/// Whether a variable gets the path back that a download was given as the variable.
fn is_own_path(job: &Job<'_>, file: FileId, own: &Definition) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let Value::Unpack { base, index: Some(0), .. } = module.value(own.value).value else { return false };
    let Value::Call(id) = module.value(base).value else { return false };
    let download = facts.library.lookup(DOWNLOAD);
    let mut downloads = facts.called_symbols(file, id).filter(|symbol| Some(*symbol) == download);
    let path = downloads.find_map(|symbol| facts.argument(file, module.call(id), symbol, PATH));
    path.is_some_and(|path| {
        let mut uses = module.uses.iter();
        uses.any(|reading| reading.range == path.range && reading.variable == Some(own.variable))
    })
}
