//! The project's modules in their compact form, and what their names mean to each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::api::Library;
use crate::project::{FileId, FileKind, FileProblem, Imports, Project, Target};
use crate::semantic::{self, FunctionId, Import, Imported, Module, ValueId};

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
    pub names: Vec<String>,
    /// Which imports lead where.
    pub imports: Imports,
    /// Files and folders that could not be read.
    pub problems: Vec<FileProblem>,
    /// Files whose bytes are no text; each is a finding.
    pub undecodable: Vec<(FileId, FileProblem)>,
}

impl Modules {
    /// Reads and analyses each file of the project by itself, in parallel.
    #[must_use]
    pub fn load(project: &Project) -> Self {
        Self::load_watched(project, &|| ())
    }

    /// Does the same and tells after each file.
    #[must_use]
    pub fn load_watched(project: &Project, after_each: &(dyn Fn() + Sync)) -> Self {
        let results: Vec<(Arc<Module>, Digest, Option<FileProblem>)> = project
            .files()
            .par_iter()
            .map(|file| {
                let result = match file.kind {
                    FileKind::Stub => (Arc::new(semantic::analyse("")), Digest::of(""), None),
                    FileKind::Source => match project.read(file.id) {
                        Ok(text) => (Arc::new(semantic::analyse(&text)), Digest::of(&text), None),
                        Err(problem) => (Arc::new(semantic::analyse("")), Digest::of(""), Some(problem)),
                    },
                };
                after_each();
                result
            })
            .collect();
        let mut problems = project.problems().to_vec();
        let mut list = Vec::with_capacity(results.len());
        let mut digests = Vec::with_capacity(results.len());
        let mut undecodable = Vec::new();
        for ((module, digest, problem), file) in results.into_iter().zip(project.files()) {
            list.push(module);
            digests.push(digest);
            match problem {
                Some(problem) if problem.offset.is_some() => undecodable.push((file.id, problem)),
                problem => problems.extend(problem),
            }
        }
        let names = project.files().iter().map(|file| file.name.as_str().to_owned()).collect();
        Self { list, digests, names, imports: Imports::new(project.files()), problems, undecodable }
    }

    /// The modules as they would be with these texts in place of what the files hold. Only these are analysed.
    #[must_use]
    pub fn with_texts(&self, texts: &BTreeMap<FileId, Arc<str>>) -> Self {
        let texts: Vec<(FileId, &Arc<str>)> = texts.iter().map(|(&file, text)| (file, text)).collect();
        let made: Vec<(FileId, Arc<Module>, Digest)> = texts
            .par_iter()
            .map(|&(file, text)| (file, Arc::new(semantic::analyse(text)), Digest::of(text)))
            .collect();
        let mut modules = self.clone();
        for (file, module, digest) in made {
            modules.list[file.index()] = module;
            modules.digests[file.index()] = digest;
        }
        modules
    }

    /// Whether `text` is what the module of a file was made of: places that the analysis gives lie in no other.
    #[must_use]
    pub fn is_made_of(&self, file: FileId, text: &str) -> bool {
        self.digests[file.index()] == Digest::of(text)
    }

    /// The module of a file.
    #[must_use]
    pub fn get(&self, file: FileId) -> &Module {
        &self.list[file.index()]
    }

    /// All files.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..u32::try_from(self.list.len()).expect("fewer files than 2^32")).map(FileId)
    }

    /// What `import` binds in `file`.
    #[must_use]
    pub fn imported(&self, file: FileId, import: &Import, library: &Library) -> Meaning {
        match &import.what {
            Imported::Root => {
                let first = import.module.split('.').next().unwrap_or_default();
                match self.imports.resolve_prefix(file, 0, &import.module).first() {
                    Some(&target) if target != Target::External => Meaning::Module(target),
                    _ => Meaning::External(first.to_owned()),
                }
            }
            Imported::Module | Imported::Star => {
                match self.imports.resolve(file, import.level, &import.module) {
                    Target::External => external(import.level, &import.module, None),
                    target => Meaning::Module(target),
                }
            }
            Imported::Name(name) => {
                let name = self.get(file).names.text(*name);
                match self.imports.resolve_from(file, import.level, &import.module, name) {
                    (Target::External, _) => external(import.level, &import.module, Some(name)),
                    // `from . import part` in a package: its own name for it is this very import.
                    (Target::File(module), submodule) if module == file && submodule != Target::External => {
                        Meaning::Module(submodule)
                    }
                    (Target::File(module), submodule) => match self.member(module, name, library, 0) {
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
            match self.imports.resolve(file, star.level, &star.module) {
                Target::File(module) => {
                    let source = self.get(module);
                    let public = match &source.all {
                        Some(all) => all.iter().any(|&id| source.names.text(id) == name),
                        None => !name.starts_with('_'),
                    };
                    if public && let Some(meaning) = self.member(module, name, library, depth + 1) {
                        return Some(meaning);
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
