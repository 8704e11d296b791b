//! Names that new code can have, and who else sees a module's names.

use crate::program::{Facts, Object};
use crate::project::FileId;
use crate::semantic::{Constant, Imported, Module, NameId, Value};

/// The wish, or the wish with a number, that no code of the module binds or reads.
#[must_use]
pub fn fresh(module: &Module, wish: &str) -> String {
    let numbered = (2..).map(|number| format!("{wish}_{number}"));
    let mut names = std::iter::once(wish.to_owned()).chain(numbered);
    names.find(|name| !is_taken(module, name)).expect("some number is free")
}

fn is_taken(module: &Module, name: &str) -> bool {
    let Some(id) = module.names.get(name) else { return false };
    let is_bound = module.scopes.iter().flat_map(|scope| &scope.symbols).any(|symbol| symbol.name == id);
    is_bound || module.values.iter().any(|evaluation| evaluation.value == Value::Free(id))
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
    facts.imported_files(importer).contains(&imported)
}

fn is_star_importing(facts: &Facts<'_>, importer: FileId, imported: FileId) -> bool {
    let stars = facts.module(importer).imports.iter().filter(|import| import.what == Imported::Star);
    let mut stars = stars.filter(|import| facts.files_of_import(importer, import).contains(&imported));
    stars.next().is_some()
}
