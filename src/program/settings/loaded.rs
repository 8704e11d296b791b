//! Whether a package is loaded when a program asks for it: `if "horovod" in sys.modules:`. What nothing in the project imports but
//! code that has asked so is not.

use super::super::facts::Facts;
use super::super::influence::Place;
use super::super::object::Object;
use super::super::solver::Caller;
use super::Settings;
use crate::project::FileId;
use crate::semantic::{Branch, Constant, Import, Method, Module, Operator, StatementId, Value};

/// The modules that are loaded, by name.
const LOADED: &str = "sys.modules";

impl Settings<'_, '_> {
    /// Whether a comparison asks for a package that is never loaded.
    pub(super) fn asks_for_missing_package(&self, place: Place) -> bool {
        let facts = self.facts;
        asked_package(facts, place).is_some_and(|package| {
            facts.files().all(|file| {
                let module = facts.module(file);
                let mut imports =
                    module.imports.iter().filter(|own| own.level == 0 && own.package() == package);
                imports.all(|own| is_asked_before(facts, (file, module), own, package))
            })
        })
    }
}

/// The package that a comparison asks for.
fn asked_package<'f>(facts: &'f Facts<'_>, (file, value): Place) -> Option<&'f str> {
    let module = facts.module(file);
    let Value::Operator { operator: Operator::Compare(Method::CONTAINS), left, right } =
        module.value(value).value
    else {
        return None;
    };
    let Value::Constant(Constant::Str(name)) = module.value(right).value else { return None };
    let is_loaded = |object| match object {
        Object::External(external) => &*facts.solution.externals.get(external).path == LOADED,
        _ => false,
    };
    let mut asked = facts.objects(file, left);
    asked.any(|(_, own)| is_loaded(own)).then(|| module.names.text(name))
}

/// Whether an import stands under such a question for its package.
fn is_asked_before(
    facts: &Facts<'_>,
    (file, module): (FileId, &Module),
    import: &Import,
    package: &str,
) -> bool {
    let statement: StatementId = import.statement;
    let own = module.statement(statement);
    let caller = Caller { file, scope: module.code_scope(own.scope) };
    let asks = |branch: &Branch| {
        branch.condition.is_some_and(|condition| asked_package(facts, (file, condition)) == Some(package))
    };
    facts.conditions(caller, own.block).iter().any(|own| asks(&own.branch))
}
