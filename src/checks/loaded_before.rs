//! Whether the library of an import in a function is loaded by then: an import that comes late changes nothing there.

use rustc_hash::FxHashSet;

use crate::program::Facts;
use crate::project::FileId;
use crate::semantic::{Import, Module};
use crate::syntax::TextSize;

/// Which modules are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importers {
    /// All of the project.
    All,
    /// Those of programs that train.
    OfTraining,
}

/// Whether the library of an import is loaded when its module is: the module itself imports it at its top, or each
/// module that imports this one has done so before.
#[must_use]
pub fn is_loaded_before(facts: &Facts<'_>, file: FileId, import: &Import, importers: Importers) -> bool {
    let package = import.package();
    if import.level > 0 || !facts.library.is_training_library(package) {
        return false;
    }
    let asked = match importers {
        Importers::All => &facts.concerned,
        Importers::OfTraining => facts.files_of_training(),
    };
    Loading { facts, package, asked }.is_loaded(file, &mut FxHashSet::default())
}

/// Whether the module's own code has loaded the library of an import when it comes to a place.
#[must_use]
pub fn is_loaded_by(facts: &Facts<'_>, file: FileId, import: &Import, at: TextSize) -> bool {
    let package = import.package();
    import.level == 0
        && facts.library.is_training_library(package)
        && first_loading(facts, file, package).is_some_and(|loading| loading < at)
}

/// What is asked of each module on the way.
struct Loading<'a> {
    facts: &'a Facts<'a>,
    package: &'a str,
    asked: &'a FxHashSet<FileId>,
}

impl Loading<'_> {
    /// Whether the package is loaded when a module's functions run; `seen` has the modules that are asked already.
    fn is_loaded(&self, file: FileId, seen: &mut FxHashSet<FileId>) -> bool {
        let facts = self.facts;
        if first_loading(facts, file, self.package).is_some() || !seen.insert(file) {
            return true;
        }
        let is_asked = |file: &FileId| self.asked.contains(file);
        let mut importers = facts.importers(file).iter().copied().filter(is_asked).peekable();
        importers.peek().is_some() && importers.all(|other| self.loads_before(other, file, seen))
    }

    /// Whether a module that imports another has the package by then.
    fn loads_before(&self, other: FileId, file: FileId, seen: &mut FxHashSet<FileId>) -> bool {
        let facts = self.facts;
        let mut ways = facts.module(other).imports.iter();
        let first = ways.find(|way| facts.files_of_import(other, way).contains(&file));
        match (first_loading(facts, other, self.package), first) {
            (Some(loading), Some(first)) => loading <= first.range.start(),
            (Some(_), None) => false,
            (None, _) => self.is_loaded(other, seen),
        }
    }
}

/// Where a module's own code first imports a package, under no condition.
fn first_loading(facts: &Facts<'_>, file: FileId, wanted: &str) -> Option<TextSize> {
    let module = facts.module(file);
    let mut imports = module.imports.iter().filter(|import| {
        let statement = module.statement(import.statement);
        import.level == 0
            && import.package() == wanted
            && statement.scope == Module::TOP
            && statement.parent.is_none()
    });
    imports.next().map(|import| import.range.start())
}
