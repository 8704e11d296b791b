//! The project's modules in their compact form, and what their names mean to each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::components::Components;
use super::import_targets::{ImportTargets, Targets};
use super::search_path::{self, Named};
use super::solver::capacity;
use crate::api::Library;
use crate::project::{FileId, FileKind, FileProblem, Imports, Project, SearchPath, SourceFile, Target};
use crate::semantic::{self, FunctionId, Import, ImportId, Imported, Module, Value, ValueId};

/// A function or lambda of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionRef {
    /// Its file.
    pub file: FileId,
    /// Which of the file's.
    pub function: FunctionId,
}

/// A class of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassRef {
    /// Its file.
    pub file: FileId,
    /// Which of the file's.
    pub class: semantic::ClassId,
}

/// What a name of a module leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A value of a module of the project.
    Value(FileId, ValueId),
    /// A module, or a folder of modules.
    Module(Target),
    /// A library's module or member by its dotted name.
    External(String),
    /// Python's own.
    Builtin,
    /// Nobody knows.
    Unknown,
}

/// What tells two texts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest([u8; 32]);

impl Digest {
    fn of(text: &str) -> Self {
        Self(*blake3::hash(text.as_bytes()).as_bytes())
    }
}

/// All modules, by file.
#[derive(Clone, Debug)]
pub struct Modules {
    /// In the order of the project's files; an unreadable file is an empty module. Shared between the project as it
    /// is and as fixes would make it.
    pub list: Vec<Arc<Module>>,
    /// Of the text that each module was made of.
    digests: Vec<Digest>,
    /// The dotted names.
    pub names: Arc<[String]>,
    /// What kinds of files they are.
    pub kinds: Arc<[FileKind]>,
    /// Where imports lead.
    targets: Targets,
    /// The same without what programs put on the search path themselves.
    near: Targets,
    /// Which files can have to do with each other.
    pub components: Arc<Components>,
    /// Files and folders that could not be read.
    pub problems: Vec<FileProblem>,
    /// Files whose bytes are no text; each is a finding.
    pub undecodable: Vec<(FileId, FileProblem)>,
    /// How many objects a value may be before it is unknown; the whole project's size decides.
    pub capacity: usize,
}

/// A file on its own.
struct Made {
    file: FileId,
    module: Arc<Module>,
    digest: Digest,
    problem: Option<FileProblem>,
}

impl Made {
    fn of(file: FileId, text: &str) -> Self {
        Self { file, module: Arc::new(semantic::analyse(text)), digest: Digest::of(text), problem: None }
    }

    fn read(project: &Project, file: &SourceFile) -> Self {
        match file.kind {
            FileKind::Stub => Self::of(file.id, ""),
            FileKind::Source | FileKind::Notebook => match project.read(file.id) {
                Ok(text) => Self::of(file.id, &text),
                Err(problem) => Self { problem: Some(problem), ..Self::of(file.id, "") },
            },
        }
    }
}

impl Modules {
    /// Reads and analyses each file of the project by itself, in parallel.
    #[must_use]
    pub fn load(project: &Project) -> Self {
        Self::load_with(project, |_| None)
    }

    /// Reads and analyses the files of the project that `known` has not, in parallel. `known` tells which file of
    /// other modules is still the same.
    #[must_use]
    pub fn load_with<'k>(
        project: &Project,
        known: impl Fn(&SourceFile) -> Option<(&'k Self, FileId)> + Sync,
    ) -> Self {
        let files = project.files().par_iter();
        let made = files.map(|file| match known(file) {
            Some((modules, same)) => modules.made(same, file.id),
            None => Made::read(project, file),
        });
        let made: Vec<Made> = made.collect();
        let list: Vec<Arc<Module>> = made.iter().map(|own| Arc::clone(&own.module)).collect();
        let near = Targets::new(Arc::new(Imports::new(project.files())), &list);
        let mut modules = Self {
            list,
            digests: made.iter().map(|own| own.digest).collect(),
            names: project.files().iter().map(|file| file.name.as_str().to_owned()).collect(),
            kinds: project.files().iter().map(|file| file.kind).collect(),
            targets: near.clone(),
            near,
            components: Arc::default(),
            problems: project.problems().to_vec(),
            undecodable: Vec::new(),
            capacity: 0,
        };
        for Made { file, problem, .. } in made {
            modules.remember(file, problem);
        }
        modules.linked(&[])
    }

    /// What is known of a file by itself, under another number.
    fn made(&self, file: FileId, new: FileId) -> Made {
        let problem = self.undecodable.iter().find(|(other, _)| *other == file);
        Made {
            file: new,
            module: Arc::clone(&self.list[file.index()]),
            digest: self.digests[file.index()],
            problem: problem.map(|(_, problem)| problem.clone()),
        }
    }

    /// Takes down what keeps a file from being text, or from being read at all.
    fn remember(&mut self, file: FileId, problem: Option<FileProblem>) {
        match problem {
            Some(problem) if problem.offset.is_some() => self.undecodable.push((file, problem)),
            problem => self.problems.extend(problem),
        }
    }

    /// These modules with what only all of them tell, after some of them have changed.
    fn linked(mut self, changed: &[FileId]) -> Self {
        let named = Named::of(&self);
        if named.installed == self.near.imports.search_path().installed {
            self.near.find_again(changed, &self.list);
        } else {
            let path = SearchPath { installed: named.installed.clone(), ..SearchPath::default() };
            self.near = Targets::new(Arc::new(self.near.imports.searching(path)), &self.list);
        }
        self.targets = search_path::along(&self.near, &named, &self.list);
        self.components = Arc::new(Components::new(&self));
        self.capacity = capacity(self.list.iter().map(|module| module.values.len()).sum());
        self
    }

    /// The modules as they would be with these texts in place of what the files hold. Only these are analysed.
    #[must_use]
    pub fn with_texts(&self, texts: &BTreeMap<FileId, Arc<str>>) -> Self {
        let texts: Vec<(FileId, &Arc<str>)> = texts.iter().map(|(&file, text)| (file, text)).collect();
        let made = texts.par_iter().map(|&(file, text)| Made::of(file, text)).collect();
        self.with(made)
    }

    /// The modules with what these files of `project` hold now.
    #[must_use]
    pub fn read_again(&self, project: &Project, files: &[FileId]) -> Self {
        let made = files.par_iter().map(|&file| Made::read(project, project.file(file))).collect();
        self.with(made)
    }

    fn with(&self, made: Vec<Made>) -> Self {
        let mut modules = self.clone();
        let mut changed = Vec::with_capacity(made.len());
        for Made { file, module, digest, problem } in made {
            modules.list[file.index()] = module;
            modules.digests[file.index()] = digest;
            modules.undecodable.retain(|(other, _)| *other != file);
            modules.remember(file, problem);
            changed.push(file);
        }
        modules.linked(&changed)
    }

    /// These files as if the others were empty. What is found in whole components is the same as in all modules.
    #[must_use]
    pub fn only(&self, files: &FxHashSet<FileId>) -> Self {
        let nothing = Arc::new(semantic::analyse(""));
        let mut modules = self.clone();
        for file in self.files().filter(|file| !files.contains(file)) {
            modules.list[file.index()] = Arc::clone(&nothing);
        }
        modules.undecodable.retain(|(file, _)| files.contains(file));
        modules
    }

    /// These files as one program sees them that begins with `entry`: the others are not there, and what a file does
    /// only if it is run itself is left out in all but the first.
    #[must_use]
    pub fn alone(&self, entry: FileId, files: &FxHashSet<FileId>) -> Self {
        let mut modules = self.only(files);
        for &file in files.iter().filter(|&&file| file != entry) {
            if let Some(imported) = modules.get(file).when_imported() {
                modules.list[file.index()] = Arc::new(imported);
            }
        }
        modules
    }

    /// Whether `text` is what the module of a file was made of: places that the analysis gives lie in no other.
    #[must_use]
    pub fn is_made_of(&self, file: FileId, text: &str) -> bool {
        self.digests[file.index()] == Digest::of(text)
    }

    /// The text that the module of a file was made of; nothing if the file has another by now.
    #[must_use]
    pub fn text(&self, project: &Project, file: FileId) -> Option<Arc<str>> {
        let document = project.document(file)?;
        self.is_made_of(file, &document.text).then_some(document.text)
    }

    /// Whether a file is the same here and there.
    #[must_use]
    pub fn is_same(&self, other: &Self, file: FileId) -> bool {
        Arc::ptr_eq(&self.list[file.index()], &other.list[file.index()])
    }

    /// The module of a file.
    #[must_use]
    pub fn get(&self, file: FileId) -> &Module {
        &self.list[file.index()]
    }

    /// Whether a file is a test, by the names that pytest collects: `test_net.py`, `net_test.py`, what is in `tests`.
    #[must_use]
    pub fn is_test(&self, file: FileId) -> bool {
        let mut parts = self.names[file.index()].rsplit('.');
        let own = parts.next().unwrap_or_default();
        own == "conftest"
            || own.starts_with("test_")
            || own.ends_with("_test")
            || parts.any(|folder| matches!(folder, "test" | "tests"))
    }

    /// Whether a function is a test by its name, in a file that is one.
    #[must_use]
    pub fn is_test_function(&self, function: FunctionRef) -> bool {
        let module = self.get(function.file);
        self.is_test(function.file)
            && module.names.text(module.function(function.function).name).starts_with("test")
    }

    /// Whether pytest finds tests in a file.
    #[must_use]
    pub fn has_tests(&self, file: FileId) -> bool {
        let module = self.get(file);
        let is_class = |own: &semantic::Class| module.names.text(own.name).starts_with("Test");
        self.functions_of(file).any(|own| self.is_test_function(own))
            || self.is_test(file) && module.classes.iter().any(is_class)
    }

    /// What import statements mean, wherever they stand.
    #[must_use]
    pub fn imports(&self) -> &Imports {
        &self.targets.imports
    }

    /// Where the imports of a file lead.
    #[must_use]
    pub(super) fn targets(&self, file: FileId) -> &ImportTargets {
        self.targets.of(file)
    }

    /// The project's files that one import runs: packages, modules and submodules that it names.
    pub(super) fn files_of_import(&self, file: FileId, import: &Import) -> SmallVec<[FileId; 4]> {
        let file_of = |target| match target {
            Target::File(file) => Some(file),
            Target::Namespace(_) | Target::External => None,
        };
        self.targets(file).all(import).into_iter().filter_map(file_of).collect()
    }

    /// These files, and all that they import, directly or through others.
    #[must_use]
    pub fn with_imported(&self, files: impl IntoIterator<Item = FileId>) -> FxHashSet<FileId> {
        let mut work: Vec<FileId> = files.into_iter().collect();
        let mut all: FxHashSet<FileId> = work.iter().copied().collect();
        while let Some(file) = work.pop() {
            work.extend(self.imported_by(file).filter(|&other| all.insert(other)));
        }
        all
    }

    /// The project's files that a file imports itself.
    pub fn imported_by(&self, file: FileId) -> impl Iterator<Item = FileId> {
        self.get(file).imports.iter().flat_map(move |import| self.files_of_import(file, import))
    }

    /// All files.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..u32::try_from(self.list.len()).expect("fewer files than 2^32")).map(FileId)
    }

    /// All functions and lambdas, in order.
    pub fn functions(&self) -> impl Iterator<Item = FunctionRef> + '_ {
        self.files().flat_map(|file| self.functions_of(file))
    }

    /// The functions and lambdas of a file, in order.
    pub fn functions_of(&self, file: FileId) -> impl Iterator<Item = FunctionRef> + use<> {
        let count = self.get(file).functions.len();
        (0..count).map(move |index| FunctionRef { file, function: FunctionId::new(index) })
    }

    /// The class whose body defines a function.
    #[must_use]
    pub fn class_of(&self, FunctionRef { file, function }: FunctionRef) -> Option<ClassRef> {
        self.get(file).function(function).class.map(|class| ClassRef { file, class })
    }

    /// The first import statement of a file that is of a training library.
    #[must_use]
    pub fn training_import(&self, file: FileId, library: &Library) -> Option<ImportId> {
        let found = self.get(file).imports.iter().find(|import| {
            import.level == 0
                && library.is_training_library(import.package())
                && self.targets(file).prefixes(import).is_empty()
        });
        found.map(|import| import.id)
    }

    /// What `import` binds in `file`.
    #[must_use]
    pub fn imported(&self, file: FileId, import: &Import, library: &Library) -> Meaning {
        let targets = self.targets(file);
        match &import.what {
            Imported::Root => match targets.prefixes(import).first() {
                Some(&target) => Meaning::Module(target),
                None => Meaning::External(import.package().to_owned()),
            },
            Imported::Module | Imported::Star => match targets.module(import) {
                Target::External => external(import.level, &import.module, None),
                target => Meaning::Module(target),
            },
            Imported::Name(name) => {
                let name = self.get(file).names.text(*name);
                match (targets.module(import), targets.submodule(import)) {
                    (Target::External, _) => external(import.level, &import.module, Some(name)),
                    // `from . import part` in a package: its own name for it is this very import.
                    (Target::File(module), submodule) if module == file && submodule != Target::External => {
                        Meaning::Module(submodule)
                    }
                    (Target::File(module), submodule) => match self.member(module, name, library, 0) {
                        Some(Meaning::Value(of, value)) if self.names_submodule(of, value, submodule) => {
                            Meaning::Module(submodule)
                        }
                        Some(meaning) => meaning,
                        None if submodule != Target::External => Meaning::Module(submodule),
                        None => Meaning::Unknown,
                    },
                    (Target::Namespace(_), Target::External) => Meaning::Unknown,
                    (Target::Namespace(_), submodule) => Meaning::Module(submodule),
                }
            }
        }
    }

    /// Whether a value is what an import makes of a submodule: a star may give a package its own submodule.
    fn names_submodule(&self, file: FileId, value: ValueId, submodule: Target) -> bool {
        let module = self.get(file);
        submodule != Target::External
            && matches!(module.value(value).value, Value::Import(import) if self.targets(file).submodule(module.import(import)) == submodule)
    }

    /// What `name` means as an attribute of the module `file`, its submodules left out.
    #[must_use]
    pub fn member(&self, file: FileId, name: &str, library: &Library, depth: usize) -> Option<Meaning> {
        let module = self.get(file);
        if let Some(id) = module.names.get(name)
            && let Some(&value) = module.scope(Module::TOP).exports.get(&id)
        {
            return Some(Meaning::Value(file, value));
        }
        self.through_stars(file, name, library, depth)
    }

    /// What `name` means if one of the star imports of `file` brought it; the last one wins.
    #[must_use]
    pub fn through_stars(
        &self,
        file: FileId,
        name: &str,
        library: &Library,
        depth: usize,
    ) -> Option<Meaning> {
        // A module may star-import itself through others.
        if depth > 8 {
            return None;
        }
        let stars = self.get(file).imports.iter().rev().filter(|import| import.what == Imported::Star);
        for star in stars {
            match self.targets(file).module(star) {
                Target::File(module) => {
                    let source = self.get(module);
                    let public = match &source.all {
                        Some(all) => all.iter().any(|&id| source.names.text(id) == name),
                        None => !name.starts_with('_'),
                    };
                    if public && let Some(meaning) = self.member(module, name, library, depth + 1) {
                        return Some(meaning);
                    }
                    if public && let Some(submodule) = self.imported_submodule(file, star, module, name) {
                        return Some(Meaning::Module(submodule));
                    }
                }
                Target::Namespace(_) => {}
                Target::External => {
                    let qualified = format!("{}.{name}", star.module);
                    if star.level == 0 && library.lookup(&qualified).is_some() {
                        return Some(Meaning::External(qualified));
                    }
                }
            }
        }
        None
    }

    /// The submodule of this name that a package has imported itself, `import package.part`, which gives it the name.
    fn imported_submodule(&self, file: FileId, star: &Import, package: FileId, name: &str) -> Option<Target> {
        let (_, submodule) = self.imports().resolve_from(file, star.level, &star.module, name);
        let targets = self.targets(package);
        let is_imported = |own: &Import| targets.all(own).contains(&submodule);
        (submodule != Target::External && self.get(package).imports.iter().any(is_imported))
            .then_some(submodule)
    }

    /// What a name means that nothing in `file` binds.
    #[must_use]
    pub fn free(&self, file: FileId, name: &str, library: &Library) -> Meaning {
        if let Some(meaning) = self.through_stars(file, name, library, 0) {
            return meaning;
        }
        if crate::syntax::is_python_builtin(name) {
            return Meaning::Builtin;
        }
        match name {
            "__name__" | "__file__" | "__doc__" | "__path__" | "unicode" | "xrange" | "raw_input"
            | "basestring" | "unichr" | "reduce" | "execfile" | "long" | "file" | "cmp" | "reload" => {
                Meaning::Builtin
            }
            _ => Meaning::Unknown,
        }
    }
}

fn external(level: u32, module: &str, name: Option<&str>) -> Meaning {
    if level > 0 {
        return Meaning::Unknown;
    }
    Meaning::External(name.map_or_else(|| module.to_owned(), |name| format!("{module}.{name}")))
}
