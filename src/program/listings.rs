//! Files that show how something is done and that no Python runs: they do not parse, or ask for a name that nobody binds.

use super::facts::Facts;
use super::object::Object;
use super::programs::{Program, way};
use super::solver::Caller;
use crate::finding::Location;
use crate::project::FileId;
use crate::semantic::{Call, CallKind, Imported, Module, Use, Value};
use crate::syntax::{TextSize, is_python_builtin};

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
    /// Where a run of a file ends with an error for certain: what stands above has been done by then.
    #[must_use]
    pub fn fails_at(&self, file: FileId) -> Option<TextSize> {
        let module = self.module(file);
        let errors = &module.errors;
        if !errors.is_empty() && !errors.iter().any(|own| own.is_of_python_2) {
            return Some(TextSize::default());
        }
        let asking = module.uses.iter().filter(|own| asks_nobody(module, own)).map(|own| own.range.start());
        asking.min().filter(|_| {
            !self.is_notebook(file)
                && !module.imports.iter().any(|own| own.what == Imported::Star)
                && !self.binds_by_name(file)
        })
    }

    /// Whether a run of a program has ended with an error before it has come to some code.
    #[must_use]
    pub fn fails_before(&self, program: &Program, at: Location) -> bool {
        let Some(end) = self.fails_at(program.entry) else { return false };
        let code = self.code_at(at);
        let top = Caller { file: program.entry, scope: Module::TOP };
        if code == top {
            return end < at.text_range().end();
        }
        way(self, program, code).first().is_none_or(|edge| {
            let call = edge.call.map(|call| self.module(edge.caller.file).call(call));
            // What decorates a function does not call it.
            let is_later = |call: &Call| call.kind != CallKind::Expression || end <= call.range.start();
            edge.caller == top && call.is_some_and(is_later)
        })
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
