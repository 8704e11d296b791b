//! Where import statements lead, found once for each file.

use std::sync::Arc;

use rayon::prelude::*;
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

/// Where the imports of all files lead.
#[derive(Clone, Debug)]
pub(super) struct Targets {
    /// What was asked.
    pub(super) imports: Arc<Imports>,
    lists: Vec<Arc<ImportTargets>>,
}

impl Targets {
    /// Asks where the imports of each file lead.
    pub(super) fn new(imports: Arc<Imports>, modules: &[Arc<Module>]) -> Self {
        let mut targets = Self { imports, lists: Vec::new() };
        let files: Vec<FileId> = (0..).map(FileId).take(modules.len()).collect();
        targets.lists = targets.found(&files, modules);
        targets
    }

    /// Asks anew for some files.
    pub(super) fn find_again(&mut self, files: &[FileId], modules: &[Arc<Module>]) {
        for (file, list) in files.iter().zip(self.found(files, modules)) {
            self.lists[file.index()] = list;
        }
    }

    fn found(&self, files: &[FileId], modules: &[Arc<Module>]) -> Vec<Arc<ImportTargets>> {
        let found =
            files.par_iter().map(|&file| ImportTargets::new(&self.imports, file, &modules[file.index()]));
        found.map(Arc::new).collect()
    }

    /// All files.
    pub(super) fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..).map(FileId).take(self.lists.len())
    }

    /// Where those of a file lead.
    pub(super) fn of(&self, file: FileId) -> &ImportTargets {
        &self.lists[file.index()]
    }

    /// Whether an import of a file leads nowhere yet that may mean something of the project.
    pub(super) fn is_open(&self, file: FileId, module: &Module) -> bool {
        let leads_nowhere = |own: &Import| own.level == 0 && self.of(file).prefixes(own).is_empty();
        module.imports.iter().any(|own| leads_nowhere(own) && self.imports.may_be_module(&own.module))
    }
}
