//! Where a function of a library writes what it is given.

use crate::api::Parameter;
use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Passing};

/// Where a call writes.
pub(super) enum Destination {
    /// To the path that these are parts of.
    Path(Vec<Place>),
    /// It returns the text instead, `table.to_csv()`, or is not told to write.
    Nowhere,
}

/// The parameters that say where, of functions that are given what they write as well.
const PARAMETERS: [&str; 24] = [
    "dst",
    "newpath",
    "newname",
    "fdst",
    "new",
    "save_path",
    "output_path",
    "to_file",
    "target",
    "filename",
    "fname",
    "file",
    "fp",
    "f",
    "stream",
    "path_or_buf",
    "buf",
    "excel_writer",
    "filepath",
    "export_dir",
    "checkpoint_dir",
    "uri",
    "path",
    DIRECTORY,
];

/// The parameter for a folder in which a file is written, or several.
pub(super) const DIRECTORY: &str = "logdir";

/// The parameter for the file's name in that folder: it is always given, unlike names of operations.
const NAME: &str = "name";

/// The parameter for the end of the file's name.
const SUFFIX: &str = "filename_suffix";

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
            return path.map(|path| Destination::Path(vec![(file, path)]));
        };
        let is_folder = parameter.name() == DIRECTORY;
        let name = symbol.parameter(NAME).filter(|name| name.default().is_none());
        let names = name.into_iter().chain(symbol.parameter(SUFFIX)).filter(|_| is_folder);
        let given = |parameter: &Parameter| facts.argument(file, call, symbol, parameter.name());
        match given(parameter) {
            Some(argument) => {
                let parts = std::iter::once(argument).chain(names.filter_map(given));
                Some(Destination::Path(parts.map(|part| (file, part.value)).collect()))
            }
            None if !is_open && parameter.default() == Some("None") => Some(Destination::Nowhere),
            None => None,
        }
    })
}
