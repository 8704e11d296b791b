//! Which files can have to do with each other: those that imports link, directly or through others.
//!
//! Nothing flows between files that no chain of imports links, so each component is analysed as if the others were
//! not there: what is found in a program does not depend on what else is in the repository, and after an edit only
//! the component of the edited file is analysed again.

use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

use super::modules::Modules;
use crate::project::{FileId, FolderId, Target};
use crate::semantic::Module;

/// The function and the built-in that import a module by a string.
const BY_NAME: [&str; 2] = ["import_module", "__import__"];

/// Whether a module may import others by strings, as far as its names tell.
#[must_use]
pub(super) fn imports_by_name(module: &Module) -> bool {
    BY_NAME.iter().any(|name| module.names.get(name).is_some())
}

/// The component of each file: the first of its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Components {
    first: Vec<FileId>,
}

impl Components {
    /// Links the files of a project by what they import.
    #[must_use]
    pub(super) fn new(modules: &Modules) -> Self {
        let mut linking = Linking {
            modules,
            union: UnionFind::new(modules.list.len()),
            packages: Vec::new(),
            known: FxHashSet::default(),
            submodules: FxHashMap::default(),
        };
        linking.by_statements();
        // A package that a file has got hold of leads to those of its modules that somebody names.
        while linking.through_packages() || linking.by_strings() {}
        linking.components()
    }

    /// The first file of the component that a file is in; it stands for the component.
    #[must_use]
    pub fn of(&self, file: FileId) -> FileId {
        self.first[file.index()]
    }

    /// The files that are in a component with one of these.
    #[must_use]
    pub fn around(&self, files: impl IntoIterator<Item = FileId>) -> FxHashSet<FileId> {
        let wanted: FxHashSet<FileId> = files.into_iter().map(|file| self.of(file)).collect();
        let all = (0..).map(FileId).zip(&self.first);
        all.filter(|(_, first)| wanted.contains(first)).map(|(file, _)| file).collect()
    }
}

/// Files, and what has been found to link them so far.
struct Linking<'a> {
    modules: &'a Modules,
    union: UnionFind<u32>,
    /// The packages that files have as values.
    packages: Vec<(FileId, Target)>,
    /// The same as a set.
    known: FxHashSet<(FileId, Target)>,
    /// What is in them.
    submodules: FxHashMap<Target, Vec<(&'a str, Target)>>,
}

impl<'a> Linking<'a> {
    /// Links a file to a module; a package is remembered. Tells whether anything is new.
    fn link(&mut self, file: FileId, target: Target) -> bool {
        let is_new = match target {
            Target::File(other) => self.union.union(file.0, other.0),
            Target::Namespace(_) | Target::External => false,
        };
        let is_package = match target {
            Target::File(file) => self.modules.imports().is_package(file),
            Target::Namespace(_) => true,
            Target::External => false,
        };
        if is_package && self.known.insert((file, target)) {
            self.packages.push((file, target));
        }
        is_new
    }

    fn by_statements(&mut self) {
        let modules = self.modules;
        for file in self.modules.files() {
            for import in &modules.get(file).imports {
                for target in modules.targets(file).all(import) {
                    self.link(file, target);
                }
            }
        }
    }

    /// Links each component that has a package to the package's modules that one of its files names.
    fn through_packages(&mut self) -> bool {
        if self.packages.is_empty() {
            return false;
        }
        let groups = self.groups();
        let mut changed = false;
        let mut done: FxHashSet<(u32, Target)> = FxHashSet::default();
        let mut next = 0;
        // What is linked may be a package itself.
        while let Some(&(file, package)) = self.packages.get(next) {
            next += 1;
            let group = self.union.find(file.0);
            if !done.insert((group, package)) {
                continue;
            }
            for (name, submodule) in self.submodules_of(package) {
                let is_linked = matches!(submodule, Target::File(other) if self.union.equiv(file.0, other.0));
                let members = groups.get(&group).map_or(&[][..], Vec::as_slice);
                if !is_linked && members.iter().any(|member| self.mentions(*member, name)) {
                    changed |= self.link(file, submodule);
                }
            }
        }
        changed
    }

    fn submodules_of(&mut self, package: Target) -> Vec<(&'a str, Target)> {
        if self.submodules.is_empty() {
            let imports = self.modules.imports();
            for (parent, name, child) in imports.listing() {
                self.submodules.entry(parent).or_default().push((name, child));
            }
        }
        self.submodules.get(&package).cloned().unwrap_or_default()
    }

    fn mentions(&self, file: FileId, name: &str) -> bool {
        self.modules.get(file).names.get(name).is_some()
    }

    /// Links the components that import modules by strings to all modules that a string of theirs names.
    fn by_strings(&mut self) -> bool {
        let sites: Vec<FileId> =
            self.modules.files().filter(|&file| imports_by_name(self.modules.get(file))).collect();
        if sites.is_empty() {
            return false;
        }
        let groups = self.groups();
        let mut texts: FxHashMap<u32, FxHashSet<&str>> = FxHashMap::default();
        let mut changed = false;
        // Where a name leads depends on the folder alone, as far as it leads elsewhere.
        let mut done: FxHashSet<(u32, FolderId)> = FxHashSet::default();
        for site in sites {
            // The groups of before: what is linked meanwhile has its turn when this is called again.
            let group = self.union.find(site.0);
            let Some(members) = groups.get(&group) else { continue };
            if !done.insert((group, self.modules.imports().folder_of(site))) {
                continue;
            }
            let texts = texts.entry(group).or_insert_with(|| self.module_names(members));
            for text in &*texts {
                for target in self.named(site, text) {
                    changed |= self.link(site, target);
                }
            }
        }
        changed
    }

    /// What is imported by a dotted name, which may be that of a module, or of what a module has. `net.h5` is none because
    /// there is a module `net`.
    fn named(&self, site: FileId, text: &str) -> Vec<Target> {
        let found = self.modules.imports().resolve_string(site, text);
        let mut behind = text.split('.').filter(|part| !part.is_empty()).skip(found.len());
        let is_member =
            |name: &str| matches!(found.last(), Some(&Target::File(file)) if self.binds(file, name));
        match (behind.next(), behind.next()) {
            (None, _) => found,
            (Some(member), None) if is_member(member) => found,
            _ => Vec::new(),
        }
    }

    /// Whether a module has something of this name, if it isn't by a star.
    fn binds(&self, file: FileId, name: &str) -> bool {
        let module = self.modules.get(file);
        module.names.get(name).is_some_and(|name| module.scope(Module::TOP).exports.contains_key(&name))
    }

    /// The strings in files that may be the name of a module of the project.
    fn module_names(&self, files: &[FileId]) -> FxHashSet<&'a str> {
        let modules = self.modules;
        let all = files.iter().flat_map(|file| modules.get(*file).names.iter());
        all.filter(|text| modules.imports().may_be_module(text)).collect()
    }

    /// The files of each component, by its representative.
    fn groups(&self) -> FxHashMap<u32, Vec<FileId>> {
        let mut groups: FxHashMap<u32, Vec<FileId>> = FxHashMap::default();
        for file in self.modules.files() {
            groups.entry(self.union.find(file.0)).or_default().push(file);
        }
        groups
    }

    fn components(&self) -> Components {
        let mut first: FxHashMap<u32, FileId> = FxHashMap::default();
        let of = |file: FileId| *first.entry(self.union.find(file.0)).or_insert(file);
        Components { first: self.modules.files().map(of).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::program::Modules;
    use crate::project::{ConfigSource, OpenOptions, Project};

    /// The components, each by the names of its files.
    fn components(files: &[(&str, &str)]) -> Vec<String> {
        let root = Path::new("/nowhere");
        let overlay = files.iter().map(|(name, text)| (root.join(name), (*text).to_owned())).collect();
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| root.join(name)).collect();
        let options = OpenOptions { config: ConfigSource::Isolated, overlay, ..OpenOptions::default() };
        let project = Project::open(&paths, &options).expect("all files are in memory");
        let modules = Modules::load(&project);
        let mut lists: std::collections::BTreeMap<FileId, Vec<&str>> = std::collections::BTreeMap::new();
        for file in project.files() {
            lists.entry(modules.components.of(file.id)).or_default().push(&file.relative);
        }
        lists.into_values().map(|names| names.join(" ")).collect()
    }

    #[test]
    fn imports_link_files_in_both_directions() {
        let files =
            [("a.py", "import b"), ("b.py", "import os"), ("c.py", "import b"), ("d.py", "import os")];
        assert_eq!(components(&files), ["a.py b.py c.py", "d.py"]);
    }

    #[test]
    fn a_submodule_that_is_read_from_its_package_is_linked() {
        let package = [("p/__init__.py", ""), ("p/a.py", ""), ("p/b.py", ""), ("q/c.py", "")];
        let with = |text| {
            let mut files = package.to_vec();
            files.push(("main.py", text));
            components(&files)
        };
        assert_eq!(with("import p\np.a.f()"), ["main.py p/__init__.py p/a.py", "p/b.py", "q/c.py"]);
        assert_eq!(with("import q\nq.c"), ["main.py q/c.py", "p/__init__.py", "p/a.py", "p/b.py"]);
        assert_eq!(with("import r\nr.c")[0], "main.py");
    }

    #[test]
    fn a_package_may_be_handed_on() {
        let files = [
            ("p/__init__.py", ""),
            ("p/a.py", ""),
            ("lib.py", "import p as package"),
            ("main.py", "from lib import package\npackage.a.f()"),
        ];
        assert_eq!(components(&files), ["lib.py main.py p/__init__.py p/a.py"]);
    }

    #[test]
    fn a_string_links_where_modules_are_imported_by_name() {
        let file = |import: &str| {
            let text = format!("{import}\ndef load():\n    return import_module('models.net')");
            components(&[("main.py", &text), ("models/net.py", ""), ("models/other.py", "")])
        };
        assert_eq!(file("from importlib import import_module"), ["main.py models/net.py", "models/other.py"]);
        let named = |name: &str| {
            let text = format!("from importlib import import_module\nname = '{name}'");
            components(&[("main.py", &text), ("net.py", "class Net: pass")]).len()
        };
        assert_eq!([named("net"), named("net.Net"), named("net."), named("net.h5")], [1, 1, 1, 2]);
        let files = [("main.py", "name = 'models.net'"), ("models/net.py", "")];
        assert_eq!(components(&files).len(), 2, "a string by itself imports nothing");
    }
}
