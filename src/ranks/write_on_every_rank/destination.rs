//! Where a function of a library writes what it is given.

use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Passing};

/// Where a call writes.
pub(super) enum Destination {
    /// To this path.
    Path(Place),
    /// It returns the text instead, `table.to_csv()`, or is not told to write.
    Nowhere,
}

/// The parameters that say where, of functions that are given what they write as well.
const PARAMETERS: [&str; 15] = [
    "dst",
    "target",
    "filename",
    "fname",
    "file",
    "fp",
    "f",
    "stream",
    "path_or_buf",
    "excel_writer",
    "filepath",
    "export_dir",
    "checkpoint_dir",
    "uri",
    "path",
];

/// The parameters for what is written, of methods of the path itself.
const CONTENTS: &str = "data";

/// Where a call writes, as far as a parameter says it.
pub(super) fn of(facts: &Facts<'_>, file: FileId, id: CallId) -> Option<Destination> {
    let call = facts.module(file).call(id);
    let is_open = call.arguments.iter().any(|own| matches!(own.passing, Passing::Spread | Passing::Merge));
    facts.called_symbols(file, id).find_map(|symbol| {
        let parameter = PARAMETERS.into_iter().find_map(|name| symbol.parameter(name));
        let Some(parameter) = parameter else {
            let is_of_path = symbol.position_of(CONTENTS) == Some(0);
            let path = facts.receiver(file, call).filter(|_| is_of_path);
            return path.map(|path| Destination::Path((file, path)));
        };
        match facts.argument(file, call, symbol, parameter.name()) {
            Some(argument) => Some(Destination::Path((file, argument.value))),
            None if !is_open && parameter.default() == Some("None") => Some(Destination::Nowhere),
            None => None,
        }
    })
}
