//! Tells which file of the project an import statement means.
//!
//! Nobody knows from the files alone what `sys.path` will be. A project of tutorials has fifty folders with a
//! `model.py` each, run from within; a package has modules that import each other by full names; many have both. So
//! absolute imports are looked for near the importer first: in its folder and the ones above, up to the root. Folders
//! that are packages come after all others, because Python doesn't look into the importer's own package (Python 2
//! did, and so does running a module of a package as a script), and not at all for names of the standard library.
//! The root's `src` is last, but for the root itself where that is a package. What is in none of these is looked for in
//! the folders that the project puts on the path itself, as far as they serve the importer.

mod libraries;

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::names::{is_package, stem};
use super::{FileId, SourceFile};
use crate::syntax::{is_builtin_module, is_known_standard_library};

/// A folder that holds Python files, directly or further down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FolderId(u32);

/// What an import names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A module or package of the project; a package is its `__init__` file.
    File(FileId),
    /// A folder of the project that is a package without `__init__`.
    Namespace(FolderId),
    /// Not in the project: a library, or an attribute, or missing.
    External,
}

/// Every place where an import can lead.
#[derive(Clone, Debug)]
pub struct Imports {
    folders: Vec<Folder>,
    names: FxHashMap<Box<str>, NameId>,
    entries: FxHashMap<(FolderId, NameId), Entry>,
    files: Vec<Place>,
    path: SearchPath,
}

/// The folders that a project puts on Python's search path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    /// Those that hold what is installed, for all files.
    pub installed: Vec<FolderId>,
    /// Those that programs put there themselves, for the files of theirs.
    pub own: FxHashMap<FileId, Arc<[FolderId]>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct NameId(u32);

/// A dotted name; nothing for a part that no file or folder is called by.
type Dotted = SmallVec<[Option<NameId>; 8]>;

#[derive(Clone, Debug)]
struct Folder {
    path: String,
    parent: Option<FolderId>,
    init: Option<FileId>,
}

/// What a name can mean in a folder.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    module: Option<FileId>,
    folder: Option<FolderId>,
}

/// Where a file is; `is_package` tells that it is the folder's `__init__`.
#[derive(Clone, Copy, Debug)]
struct Place {
    folder: FolderId,
    is_package: bool,
}

const ROOT: FolderId = FolderId(0);

/// The folder that the root is in; it holds nothing else, and the root only if that is a package.
const OUTSIDE: FolderId = FolderId(1);

impl Imports {
    /// Indexes `files`, which are all files of a project in their order.
    #[must_use]
    pub fn new(files: &[SourceFile]) -> Self {
        let lone = || Folder { path: String::new(), parent: None, init: None };
        let mut imports = Self {
            folders: vec![lone(), lone()],
            names: FxHashMap::default(),
            entries: FxHashMap::default(),
            files: Vec::with_capacity(files.len()),
            path: SearchPath::default(),
        };
        for file in files {
            imports.add(file);
        }
        imports
    }

    /// The same with another search path.
    #[must_use]
    pub fn searching(&self, path: SearchPath) -> Self {
        Self { path, ..self.clone() }
    }

    /// The folders that the project puts on the search path.
    #[must_use]
    pub fn search_path(&self) -> &SearchPath {
        &self.path
    }

    /// The project's root.
    #[must_use]
    pub fn root(&self) -> FolderId {
        ROOT
    }

    /// The folder that a folder is in.
    #[must_use]
    pub fn folder_around(&self, folder: FolderId) -> Option<FolderId> {
        self.folder(folder).parent
    }

    /// The folder that the parts of a path lead to from another; `None` if the project has none there.
    #[must_use]
    pub fn folder_at(&self, from: FolderId, parts: &[&str]) -> Option<FolderId> {
        parts.iter().try_fold(from, |folder, &part| match part {
            "." => Some(folder),
            ".." => self.folder(folder).parent,
            name => self.entries.get(&(folder, self.name(name)?))?.folder,
        })
    }

    fn add(&mut self, file: &SourceFile) {
        let (folder, name) = file.relative.rsplit_once('/').unwrap_or(("", &file.relative));
        let folder = self.add_folder(folder);
        let is_package = is_package(name);
        self.files.push(Place { folder, is_package });
        // `a.py` sorts before `a.pyi`, so a program is preferred to its stub.
        if is_package {
            self.folders[folder.0 as usize].init.get_or_insert(file.id);
            if folder == ROOT {
                self.add_root_package(file);
            }
        } else if stem(name) != name {
            let name = self.intern(stem(name));
            self.entries.entry((folder, name)).or_default().module.get_or_insert(file.id);
        }
    }

    /// Lets the modules of a package that is the project's root import each other by full names.
    fn add_root_package(&mut self, init: &SourceFile) {
        let name = init.path.parent().and_then(Path::file_name).and_then(OsStr::to_str);
        if let Some(name) = name {
            let name = self.intern(name);
            self.entries.insert((OUTSIDE, name), Entry { module: None, folder: Some(ROOT) });
        }
    }

    fn add_folder(&mut self, path: &str) -> FolderId {
        let mut folder = ROOT;
        let mut end = 0;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            end += part.len() + usize::from(end > 0);
            let name = self.intern(part);
            let entry = self.entries.entry((folder, name)).or_default();
            folder = *entry.folder.get_or_insert_with(|| {
                let id = FolderId(index(self.folders.len()));
                self.folders.push(Folder { path: path[..end].into(), parent: Some(folder), init: None });
                id
            });
        }
        folder
    }

    fn intern(&mut self, name: &str) -> NameId {
        if let Some(id) = self.names.get(name) {
            return *id;
        }
        let id = NameId(index(self.names.len()));
        self.names.insert(name.into(), id);
        id
    }

    /// A folder's path relative to the project root, with `/`; empty for the root.
    #[must_use]
    pub fn folder_path(&self, folder: FolderId) -> &str {
        &self.folders[folder.0 as usize].path
    }

    /// The folder that a file is in.
    #[must_use]
    pub fn folder_of(&self, file: FileId) -> FolderId {
        self.files[file.index()].folder
    }

    /// Whether a dotted name begins as one of the project's modules or folders does.
    #[must_use]
    pub fn may_be_module(&self, dotted: &str) -> bool {
        let dotted = dotted.trim_start_matches('.');
        let first = dotted.bytes().position(|byte| byte == b'.').map_or(dotted, |end| &dotted[..end]);
        self.names.contains_key(first)
    }

    /// Whether a file stands in a package.
    #[must_use]
    pub fn is_in_package(&self, file: FileId) -> bool {
        self.folders[self.files[file.index()].folder.0 as usize].init.is_some()
    }

    /// Whether a file is a folder's `__init__`.
    #[must_use]
    pub fn is_package(&self, file: FileId) -> bool {
        self.files[file.index()].is_package
    }

    /// Each module that is in a package or folder: the package, the module's name there, and the module.
    pub fn listing(&self) -> impl Iterator<Item = (Target, &str, Target)> {
        let mut texts = vec![""; self.names.len()];
        for (text, id) in &self.names {
            texts[id.0 as usize] = text;
        }
        self.entries.keys().map(move |&(folder, name)| {
            let parent = self.normal(Target::Namespace(folder));
            (parent, texts[name.0 as usize], self.normal(self.entry(folder, name)))
        })
    }

    /// What `import dotted` (level 0) or `from ..dotted import` (level 2) in `importer` means. The whole name must be
    /// in the project: where `a` is and `a.b` isn't, `a.b` is external.
    #[must_use]
    pub fn resolve(&self, importer: FileId, level: u32, dotted: &str) -> Target {
        let path = self.path(dotted);
        let Some(start) = self.start(importer, level, dotted, &path, None) else { return Target::External };
        self.descend(start, &path)
    }

    /// What each prefix of the dotted name means: for `a.b.c` the targets of `a`, `a.b` and `a.b.c`, as many as are
    /// in the project. `import a.b.c` runs all of them.
    #[must_use]
    pub fn resolve_prefix(&self, importer: FileId, level: u32, dotted: &str) -> Vec<Target> {
        let path = self.path(dotted);
        let Some(mut target) = self.start(importer, level, dotted, &path, None) else { return Vec::new() };
        let mut prefixes = Vec::new();
        for &part in &path {
            target = self.child(target, part);
            if target == Target::External {
                break;
            }
            prefixes.push(self.normal(target));
        }
        prefixes
    }

    /// The same for a string in a file that imports modules by strings. A lone word, as there are many, is not looked for
    /// among what is installed.
    #[must_use]
    pub fn resolve_string(&self, importer: FileId, text: &str) -> Vec<Target> {
        let path = self.path(text);
        let is_near = || self.near_start(importer, text, &path, None).is_some();
        if path.len() > 1 || is_near() { self.resolve_prefix(importer, 0, text) } else { Vec::new() }
    }

    /// What `from dotted import name` means: the module, and what `name` is if it is a submodule (an attribute of
    /// the module with that name comes first in Python; the caller knows its attributes).
    #[must_use]
    pub fn resolve_from(&self, importer: FileId, level: u32, dotted: &str, name: &str) -> (Target, Target) {
        let path = self.path(dotted);
        let start = self.start(importer, level, dotted, &path, Some(name));
        let module = start.map_or(Target::External, |start| self.descend(start, &path));
        (module, self.submodule(module, name))
    }

    /// The module `name` in a package; external where `parent` is no package or has no such module.
    #[must_use]
    pub fn submodule(&self, parent: Target, name: &str) -> Target {
        self.normal(self.child(parent, self.name(name)))
    }

    fn name(&self, name: &str) -> Option<NameId> {
        self.names.get(name).copied()
    }

    fn path(&self, dotted: &str) -> Dotted {
        parts(dotted).map(|part| self.name(part)).collect()
    }

    /// The folder that the first part of the name is to be looked for in, as a target.
    fn start(
        &self,
        importer: FileId,
        level: u32,
        dotted: &str,
        path: &Dotted,
        member: Option<&str>,
    ) -> Option<Target> {
        if level > 0 {
            return self.relative_start(importer, level);
        }
        let installed = || self.installed(parts(dotted).next()?);
        self.near_start(importer, dotted, path, member).or_else(installed).map(Target::Namespace)
    }

    fn relative_start(&self, importer: FileId, level: u32) -> Option<Target> {
        let mut folder = self.files[importer.index()].folder;
        for _ in 1..level {
            folder = self.folder(folder).parent?;
        }
        Some(Target::Namespace(folder))
    }

    /// The search folder in which most of an absolute name is found, installed ones left out. Among equals a module or package, or a folder
    /// without `__init__` that has the wanted `member`, comes before any other folder, then the nearest.
    fn near_start(
        &self,
        importer: FileId,
        dotted: &str,
        path: &Dotted,
        member: Option<&str>,
    ) -> Option<FolderId> {
        let name = (*path.first()?)?;
        let first = parts(dotted).next()?;
        let member = member.map(|member| self.name(member));
        let is_standard = is_standard(first);
        if is_standard && is_builtin_module(PYTHON, first) {
            return None;
        }
        let is_library = libraries::is_library(first);
        let own = self.files[importer.index()].folder;
        let above = || std::iter::successors(Some(own), |folder| self.folder(*folder).parent);
        let is_package = |folder: &FolderId| self.folder(*folder).init.is_some();
        let plain = above().filter(|folder| !is_package(folder));
        let packages = above().filter(|folder| !is_standard && is_package(folder));
        let source = self.name("src").and_then(|src| self.entries.get(&(ROOT, src))?.folder);

        let mut best = None;
        for folder in plain.chain(packages).chain(source).chain([OUTSIDE]) {
            let found = self.entry(folder, name);
            if found == Target::External {
                continue;
            }
            let is_own_name = found == Target::File(importer) && !self.files[importer.index()].is_package;
            if self.is_hidden(first, found) || is_own_name && (is_standard || is_library) {
                continue;
            }
            if self.is_fork_beside(first, found, own) {
                continue;
            }
            let (depth, last) = self.depth(folder, path);
            let is_meant = match last {
                Target::File(_) => true,
                _ => member.is_some_and(|member| self.child(last, member) != Target::External),
            };
            let rank = (depth, is_meant);
            if best.is_none_or(|(best, _)| rank > best) {
                best = Some((rank, folder));
            }
            if rank == (path.len(), true) {
                break;
            }
        }
        let is_there = |&folder: &FolderId| {
            let found = self.entry(folder, name);
            found != Target::External && !self.is_hidden(first, found)
        };
        let own = || self.path.own.get(&importer)?.iter().copied().find(is_there);
        best.map(|(_, folder)| folder).or_else(own)
    }

    /// The only folder from which a package of this name is installed: of several nobody knows which one is.
    fn installed(&self, package: &str) -> Option<FolderId> {
        let name = self.name(package)?;
        let is_package = |folder: &FolderId| {
            let found = self.entry(*folder, name);
            let is_package = match found {
                Target::File(file) => self.is_package(file),
                Target::Namespace(_) => true,
                Target::External => false,
            };
            is_package && !self.is_hidden(package, found)
        };
        let mut folders = self.path.installed.iter().copied().filter(is_package);
        folders.next().filter(|_| folders.next().is_none() && !is_standard(package))
    }

    /// How many parts of the name are there, and the last of them.
    fn depth(&self, folder: FolderId, path: &Dotted) -> (usize, Target) {
        let mut last = Target::Namespace(folder);
        let mut depth = 0;
        for &part in path {
            let child = self.child(last, part);
            if child == Target::External {
                break;
            }
            (depth, last) = (depth + 1, child);
        }
        (depth, self.normal(last))
    }

    fn descend(&self, start: Target, path: &Dotted) -> Target {
        self.normal(path.iter().fold(start, |target, &part| self.child(target, part)))
    }

    fn child(&self, parent: Target, name: Option<NameId>) -> Target {
        let folder = match parent {
            Target::Namespace(folder) => folder,
            Target::File(file) => match self.files[file.index()] {
                Place { folder, is_package: true } => folder,
                Place { .. } => return Target::External,
            },
            Target::External => return Target::External,
        };
        name.map_or(Target::External, |name| self.entry(folder, name))
    }

    /// A package before a module before a folder without `__init__`, as in Python.
    fn entry(&self, folder: FolderId, name: NameId) -> Target {
        let Some(entry) = self.entries.get(&(folder, name)) else { return Target::External };
        let package = entry.folder.and_then(|folder| self.folder(folder).init);
        match (package.or(entry.module), entry.folder) {
            (Some(file), _) => Target::File(file),
            (None, Some(folder)) => Target::Namespace(folder),
            (None, None) => Target::External,
        }
    }

    /// A folder's `__init__` file for the folder, where it has one.
    fn normal(&self, target: Target) -> Target {
        match target {
            Target::Namespace(folder) => self.folder(folder).init.map_or(target, Target::File),
            _ => target,
        }
    }

    fn folder(&self, folder: FolderId) -> &Folder {
        &self.folders[folder.0 as usize]
    }
}

/// The minor version of Python 3 whose built-in modules count; TensorFlow 2.15 runs on it.
const PYTHON: u8 = 11;

/// Whether a module comes with Python.
#[must_use]
pub fn is_standard(module: &str) -> bool {
    is_known_standard_library(PYTHON, module)
}

fn parts(dotted: &str) -> impl Iterator<Item = &str> {
    dotted.split('.').filter(|part| !part.is_empty())
}

fn index(length: usize) -> u32 {
    u32::try_from(length).expect("a project has fewer than 2^32 names")
}
