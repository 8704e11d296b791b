//! The project's modules in their compact form, and what their names mean to each other.

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

/// All modules, by file.
#[derive(Debug)]
pub struct Modules {
    /// In the order of the project's files; an unreadable file is an empty module.
    pub list: Vec<Module>,
    /// The dotted names.
    pub names: Vec<String>,
    /// Which imports lead where.
    pub imports: Imports,
    /// Files that could not be read.
    pub problems: Vec<FileProblem>,
}

impl Modules {
    /// Reads and analyses each file of the project by itself, in parallel.
    #[must_use]
    pub fn load(project: &Project) -> Self {
        let results: Vec<(Module, Option<FileProblem>)> = project
            .files()
            .par_iter()
            .map(|file| match file.kind {
                FileKind::Stub => (semantic::analyse(""), None),
                FileKind::Source => match project.read(file.id) {
                    Ok(text) => (semantic::analyse(&text), None),
                    Err(problem) => (semantic::analyse(""), Some(problem)),
                },
            })
            .collect();
        let mut problems = project.problems().to_vec();
        let mut list = Vec::with_capacity(results.len());
        for (module, problem) in results {
            list.push(module);
            problems.extend(problem);
        }
        let names = project.files().iter().map(|file| file.name.as_str().to_owned()).collect();
        Self { list, names, imports: Imports::new(project.files()), problems }
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
