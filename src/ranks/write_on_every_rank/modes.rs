//! Calls that open files, and whether they do it to write: their `mode` decides.

use super::super::model::Model;
use crate::api::Effect;
use crate::program::{Place, writes_by_mode};
use crate::project::FileId;
use crate::semantic::CallId;

/// The parameter that decides.
const MODE: &str = "mode";

/// The parameters that decide of a log.
const LOG_MODES: [&str; 2] = [MODE, "filemode"];

/// The path of a file that a call opens for writing: `open(path, 'w')`, `tf.io.gfile.GFile(path, 'w')`,
/// `pathlib.Path(path).open('w')`, and of logs and
/// caches.
pub(super) fn opened_for_writing(model: &Model<'_>, file: FileId, id: CallId) -> Option<Place> {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    let first = || call.arguments.first().map(|own| (file, own.value));
    if facts.opens_for_writing(file, call) {
        return facts.path_asked(file, call).map(|path| (file, path)).or_else(first);
    }
    if let Some(path) = facts.log_file(file, id).or_else(|| facts.cache_file(file, id)) {
        return Some((file, path.value));
    }
    facts.called_symbols(file, id).filter(|symbol| symbol.has(Effect::ReadsFile)).find_map(|symbol| {
        let mode = facts.argument(file, call, symbol, MODE)?;
        if !writes_by_mode(&model.text((file, mode.value))?) {
            return None;
        }
        match symbol.position_of(MODE) {
            // A method of a path.
            Some(0) => facts.receiver(file, call).map(|path| (file, path)),
            _ => first(),
        }
    })
}

/// Whether a call has what is logged appended to a file line by line, as it is done unless told otherwise: ranks may mean to
/// share it.
pub(super) fn is_shared_log(model: &Model<'_>, file: FileId, id: CallId) -> bool {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    facts.called_symbols(file, id).filter(|symbol| symbol.has(Effect::KeepsLog)).any(|symbol| {
        let given = LOG_MODES.into_iter().find_map(|parameter| facts.argument(file, call, symbol, parameter));
        given.is_none_or(|mode| model.text((file, mode.value)).is_some_and(|mode| mode.starts_with('a')))
    })
}
