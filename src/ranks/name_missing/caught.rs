//! Names that are asked for in `try`: who catches that one is unbound knows that it may be.

use crate::program::{Facts, Object};
use crate::project::FileId;
use crate::semantic::{BuiltinType, Module, StatementKind, Suite, Use, Value};
use crate::syntax::TextRange;

/// The classes of exceptions under which a name that is unbound is caught.
const CAUGHT: [&str; 4] = ["NameError", "UnboundLocalError", "Exception", "BaseException"];

/// Whether a handler around a use may catch that the name is unbound.
pub(super) fn is_caught(facts: &Facts<'_>, file: FileId, reading: &Use) -> bool {
    let module = facts.module(file);
    let tried = module.statements.iter().filter(|own| {
        own.scope == reading.scope && own.suite == Suite::Body && own.range.contains_range(reading.range)
    });
    let around = tried.filter_map(|own| own.parent).map(|id| module.statement(id));
    let mut suites = around.filter(|own| own.kind == StatementKind::Try).map(|own| own.range);
    suites.any(|range| catches(facts, file, module, range, reading))
}

/// Whether one of the handlers in the range of a `try` statement does.
fn catches(facts: &Facts<'_>, file: FileId, module: &Module, range: TextRange, reading: &Use) -> bool {
    let handlers = module.values.iter().filter(|own| {
        range.contains_range(own.range) && own.range.start() >= reading.range.end() && own.range != range
    });
    handlers.map(|own| &own.value).any(|own| match *own {
        Value::Instance(BuiltinType::Exception) => true,
        Value::Caught(classes) => {
            facts.is_unknown(file, classes)
                || facts.elements(file, classes).into_iter().any(|class| match facts.solution.object(class) {
                    Object::Builtin(name) => CAUGHT.contains(&facts.solution.names.text(name)),
                    _ => false,
                })
        }
        _ => false,
    })
}
