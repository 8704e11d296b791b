//! Files that show how something is done and that no Python runs: they do not parse, or ask for a name that nobody binds.

use super::facts::Facts;
use super::object::Object;
use crate::project::FileId;
use crate::semantic::{Imported, Module, Use, Value};
use crate::syntax::is_python_builtin;

/// Names that only Python 2 defines, and those that notebooks have without binding them.
const GIVEN: [&str; 22] = [
    "apply",
    "basestring",
    "buffer",
    "cmp",
    "coerce",
    "execfile",
    "file",
    "intern",
    "long",
    "raw_input",
    "reduce",
    "reload",
    "unichr",
    "unicode",
    "xrange",
    "dbutils",
    "display",
    "displayHTML",
    "get_ipython",
    "sc",
    "spark",
    "sqlContext",
];

/// What binds names that the source does not show.
const BY_NAME: [&str; 5] =
    ["builtins.exec", "builtins.execfile", "builtins.globals", "builtins.locals", "builtins.vars"];

impl Facts<'_> {
    /// Whether a run of a file ends with an error for certain, before any of its functions is called from another.
    #[must_use]
    pub fn is_listing(&self, file: FileId) -> bool {
        let module = self.module(file);
        let errors = &module.errors;
        !errors.is_empty() && !errors.iter().any(|own| own.is_of_python_2)
            || !self.is_notebook(file)
                && module.uses.iter().any(|own| asks_nobody(module, own))
                && !module.imports.iter().any(|own| own.what == Imported::Star)
                && !self.binds_by_name(file)
    }

    fn binds_by_name(&self, file: FileId) -> bool {
        let symbols = BY_NAME.map(|name| self.library.lookup(name));
        self.module(file).calls.iter().any(|call| {
            self.objects(file, call.callee).any(|(_, object)| {
                matches!(object, Object::Builtin(_)) && symbols.contains(&self.symbol(object))
            })
        })
    }
}

/// Whether a statement at the top of a module, which every run comes to, asks for a name that the module never binds before.
fn asks_nobody(module: &Module, reading: &Use) -> bool {
    let name = match module.value(reading.value).value {
        Value::Free(name) => module.names.text(name),
        Value::Unbound => "",
        _ => return false,
    };
    let is_given = name.starts_with("__") || is_python_builtin(name) || GIVEN.contains(&name);
    reading.scope == Module::TOP
        && !is_given
        && module.statements.iter().any(|own| {
            own.scope == Module::TOP && own.parent.is_none() && own.header.contains_range(reading.range)
        })
}
