//! Where the import statements of a file lead, found once for each file.

use smallvec::SmallVec;

use super::numbering::Lists;
use crate::project::{FileId, Imports, Target};
use crate::semantic::{Import, Imported, Module};

/// What the imports of one file name, by their numbers in the module.
#[derive(Debug)]
pub(super) struct ImportTargets {
    /// As [`Imports::resolve_prefix`] tells.
    prefixes: Lists<Target>,
    /// The module that something is taken from, and what is taken if that is a submodule.
    sources: Vec<(Target, Target)>,
}

impl ImportTargets {
    /// Asks where each import of a file leads.
    #[must_use]
    pub(super) fn new(imports: &Imports, file: FileId, module: &Module) -> Self {
        let mut targets = Self {
            prefixes: Lists::with_capacity(module.imports.len()),
            sources: Vec::with_capacity(module.imports.len()),
        };
        for import in &module.imports {
            targets.prefixes.push(imports.resolve_prefix(file, import.level, &import.module));
            targets.sources.push(match import.what {
                Imported::Name(name) => {
                    let name = module.names.text(name);
                    imports.resolve_from(file, import.level, &import.module, name)
                }
                Imported::Root | Imported::Module | Imported::Star => {
                    (imports.resolve(file, import.level, &import.module), Target::External)
                }
            });
        }
        targets
    }

    /// What each prefix of the dotted name means, as many as are in the project.
    #[must_use]
    pub(super) fn prefixes(&self, import: &Import) -> &[Target] {
        self.prefixes.of(import.id.index())
    }

    /// The module that the import names. With `from a import b`, it is the one where `b` is, if there are several `a`.
    #[must_use]
    pub(super) fn module(&self, import: &Import) -> Target {
        self.sources[import.id.index()].0
    }

    /// What `from a import b` takes if `b` is a submodule.
    #[must_use]
    pub(super) fn submodule(&self, import: &Import) -> Target {
        self.sources[import.id.index()].1
    }

    /// Everything that the import runs, and folders that it names, each once.
    #[must_use]
    pub(super) fn all(&self, import: &Import) -> SmallVec<[Target; 4]> {
        let mut all = SmallVec::from_slice(self.prefixes(import));
        for target in [self.module(import), self.submodule(import)] {
            if target != Target::External && !all.contains(&target) {
                all.push(target);
            }
        }
        all
    }
}
