//! Which files import which, and which of them concern training.

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::super::object::{Object, ObjectId};
use super::super::programs::{Pattern, Program};
use super::Facts;
use crate::api::Symbol;
use crate::project::{FileId, FileKind};
use crate::semantic::{Import, ImportId};

/// Where the imports of each file lead.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// The project's files that importing the file runs.
    imported: Vec<Vec<FileId>>,
    /// The project's files that import the file.
    importers: Vec<Vec<FileId>>,
    /// The first import of a training library.
    training_imports: Vec<Option<ImportId>>,
}

impl<'a> Facts<'a> {
    pub(super) fn find_concerned(&self) -> FxHashSet<FileId> {
        // A program need not name the library itself: it may import modules that do.
        let mut users: Vec<FileId> =
            self.modules.files().filter(|&file| self.uses_training_library(file)).collect();
        let mut work = Vec::new();
        let mut known: FxHashSet<FileId> = users.iter().copied().collect();
        while let Some(file) = users.pop() {
            work.push(file);
            let others = self.importers(file).iter().copied();
            users.extend(others.filter(|&importer| known.insert(importer)));
        }
        let mut concerned = FxHashSet::default();
        while let Some(file) = work.pop() {
            if concerned.insert(file) {
                work.extend(self.imported_files(file));
            }
        }
        concerned
    }

    fn uses_training_library(&self, file: FileId) -> bool {
        self.training_import(file).is_some() || self.imports_training_library_late(file)
    }

    /// Whether a call in the file gives it a module of a training library: `importlib.import_module`.
    fn imports_training_library_late(&self, file: FileId) -> bool {
        let is_library = |object: ObjectId| match self.solution.object(object) {
            Object::External(external) => {
                let external = self.solution.externals.get(external);
                let package = external.path.split('.').next().unwrap_or_default();
                external.symbol.is_some_and(Symbol::is_module) && self.library.is_training_library(package)
            }
            _ => false,
        };
        // Most files hold no such object at all.
        self.objects_in(file).iter().any(|&object| is_library(object))
            && self
                .module(file)
                .calls
                .iter()
                .any(|call| self.solution.values(file, call.result).iter().any(|&object| is_library(object)))
    }

    /// The first import of a file that is of a training library.
    #[must_use]
    pub fn training_import(&self, file: FileId) -> Option<&'a Import> {
        self.files.training_imports[file.index()].map(|import| self.module(file).import(import))
    }

    /// The project's files that importing a file runs, in order.
    #[must_use]
    pub fn imported_files(&self, file: FileId) -> &[FileId] {
        &self.files.imported[file.index()]
    }

    /// The project's files that import a file, in order.
    #[must_use]
    pub fn importers(&self, file: FileId) -> &[FileId] {
        &self.files.importers[file.index()]
    }

    /// Whether a file is a notebook, which one process runs.
    #[must_use]
    pub fn is_notebook(&self, file: FileId) -> bool {
        self.modules.kinds[file.index()] == FileKind::Notebook
    }

    /// The files of the programs that train.
    #[must_use]
    pub fn files_of_training(&self) -> &FxHashSet<FileId> {
        self.training.get_or_init(|| {
            let training = self.programs.iter().filter(|program| program.pattern != Pattern::None);
            training.flat_map(Program::files).collect()
        })
    }

    pub(super) fn find_reach(&self) -> Reach {
        let imported = |file: FileId| {
            let imports = self.module(file).imports.iter();
            let mut found: Vec<FileId> =
                imports.flat_map(|import| self.files_of_import(file, import)).collect();
            found.sort_unstable();
            found.dedup();
            found.retain(|&found| found != file);
            found
        };
        let files: Vec<FileId> = self.modules.files().collect();
        let imported: Vec<Vec<FileId>> = files.into_par_iter().map(imported).collect();
        let mut importers = vec![Vec::new(); imported.len()];
        for file in self.modules.files() {
            for other in &imported[file.index()] {
                importers[other.index()].push(file);
            }
        }
        Reach {
            imported,
            importers,
            training_imports: (self.modules.files())
                .map(|file| self.modules.training_import(file, self.library))
                .collect(),
        }
    }

    /// The project's files that one import runs: packages, modules and submodules that it names.
    #[must_use]
    pub fn files_of_import(&self, file: FileId, import: &Import) -> SmallVec<[FileId; 4]> {
        self.modules.files_of_import(file, import)
    }
}
