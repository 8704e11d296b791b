//! Names that new code can have, and who else sees a module's names.

use crate::program::{Facts, Object};
use crate::project::FileId;
use crate::semantic::{Constant, Imported, Module, NameId, Scope, ScopeId, Value, ValueId, Variable};
use crate::syntax::TextRange;

/// The wish, or the wish with a number, for a new variable of a scope: no code that would see it has the name.
#[must_use]
pub fn fresh(module: &Module, scope: ScopeId, wish: &str) -> String {
    let numbered = (2..).map(|number| format!("{wish}_{number}"));
    let mut names = std::iter::once(wish.to_owned()).chain(numbered);
    names.find(|name| !is_taken(module, scope, name)).expect("some number is free")
}

fn is_taken(module: &Module, scope: ScopeId, name: &str) -> bool {
    let Some(id) = module.names.get(name) else { return false };
    // What is bound outside of a function may be hidden, if nothing within reads it.
    let within = module.scope(scope).range;
    let is_seen = |range: TextRange| scope == Module::TOP || within.contains_range(range);
    let is_own = |variable: Variable| module.symbol(variable).name == id;
    let is_free = |value: ValueId| module.value(value).value == Value::Free(id);
    let is_bound_in = |own: &Scope| own.symbols.iter().any(|symbol| symbol.name == id);
    module.scopes.iter().any(|own| is_seen(own.range) && is_bound_in(own))
        || module.definitions.iter().any(|own| is_seen(own.range) && is_own(own.variable))
        || module
            .uses
            .iter()
            .any(|own| is_seen(own.range) && own.variable.map_or_else(|| is_free(own.value), is_own))
}

/// Whether code outside of a module may read the variable of the module's own scope with this name: another module
/// imports it or takes it as an attribute, or some text is equal to it, as in `__all__` or `globals()["name"]`.
#[must_use]
pub fn is_visible_outside(facts: &Facts<'_>, file: FileId, name: &str) -> bool {
    let is_text = |module: &Module, id: NameId| {
        module.values.iter().any(|evaluation| evaluation.value == Value::Constant(Constant::Str(id)))
    };
    facts.modules.files().any(|other| {
        let module = facts.module(other);
        let Some(id) = module.names.get(name) else { return is_star_importing(facts, other, file) };
        is_text(module, id)
            || is_star_importing(facts, other, file)
            || module.imports.iter().any(|import| {
                import.what == Imported::Name(id) && facts.files_of_import(other, import).contains(&file)
            })
            || module.values.iter().any(|evaluation| match evaluation.value {
                Value::Attribute { base, name, .. } if name == id => {
                    facts.is_unknown(other, base) && other != file && imports(facts, other, file)
                        || facts.objects(other, base).any(|(_, object)| object == Object::Module(file))
                }
                _ => false,
            })
    })
}

fn imports(facts: &Facts<'_>, importer: FileId, imported: FileId) -> bool {
    facts.imported_files(importer).binary_search(&imported).is_ok()
}

fn is_star_importing(facts: &Facts<'_>, importer: FileId, imported: FileId) -> bool {
    // Most files don't import it at all.
    (importer == imported || imports(facts, importer, imported))
        && facts.module(importer).imports.iter().any(|import| {
            import.what == Imported::Star && facts.files_of_import(importer, import).contains(&imported)
        })
}
