//! Calls that open files, and whether they do it to write: their `mode` decides.

use super::super::model::Model;
use crate::api::{Effect, Parameter};
use crate::program::{Place, writes_by_mode};
use crate::project::FileId;
use crate::semantic::CallId;

/// The parameter that decides.
const MODE: &str = "mode";

/// The path of a file that a call opens for writing: `open(path, 'w')`, `tf.io.gfile.GFile(path, 'w')`,
/// `pathlib.Path(path).open('w')`.
pub(super) fn opened_for_writing(model: &Model<'_>, file: FileId, id: CallId) -> Option<Place> {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    let first = || call.arguments.first().map(|own| (file, own.value));
    if facts.opens_for_writing(file, call) {
        return facts.path_asked(file, call).map(|path| (file, path)).or_else(first);
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

/// Whether a call makes what appends line by line to a file unless it is told otherwise, as handlers of logs do: ranks may
/// mean to share it.
pub(super) fn is_shared_log(model: &Model<'_>, file: FileId, id: CallId) -> bool {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    facts.called_symbols(file, id).any(|symbol| {
        let appends = symbol.parameter(MODE).and_then(Parameter::default) == Some("'a'");
        let given = facts.argument(file, call, symbol, MODE).map(|mode| model.text((file, mode.value)));
        symbol.is_class()
            && appends
            && given.is_none_or(|mode| mode.is_some_and(|mode| mode.starts_with('a')))
    })
}
