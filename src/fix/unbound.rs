//! A fix must not make a program read a name that stands for nothing, as it would where an import is missing: no check
//! tells of such a name, for nobody asks a linter of training code about it.

use rustc_hash::FxHashSet;

use crate::api::Library;
use crate::program::{Meaning, Modules};
use crate::project::FileId;
use crate::semantic::{Use, Value};

/// The first name of a file that is read behind a change where nothing binds it. What was unbound before is no fault of
/// the change.
pub(super) fn brought_in<'m>(
    before: &Modules,
    after: &'m Modules,
    library: &Library,
    file: FileId,
) -> Option<&'m str> {
    let old: FxHashSet<&str> = unbound(before, library, file).collect();
    unbound(after, library, file).find(|name| !old.contains(name))
}

/// The names that a file reads where nothing binds them, here or where a star import looks.
fn unbound<'m>(modules: &'m Modules, library: &Library, file: FileId) -> impl Iterator<Item = &'m str> {
    let module = modules.get(file);
    let name = move |own: &Use| match (&module.value(own.value).value, own.variable) {
        (Value::Unbound, Some(variable)) => Some(module.variable_name(variable)),
        (&Value::Free(name), _) => {
            let name = module.names.text(name);
            (modules.free(file, name, library) == Meaning::Unknown).then_some(name)
        }
        _ => None,
    };
    module.uses.iter().filter_map(name)
}
