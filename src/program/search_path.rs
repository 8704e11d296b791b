//! The folders that a project puts on Python's search path itself: `sys.path.append(os.path.dirname(__file__))`, and those of
//! the packages that it installs by a `setup.py` of theirs.
//!
//! What is installed serves all files. What a file puts on the path serves those that may be of one program with it: a
//! repository of fifty projects that each go to `..` for their `utils` has fifty of them.

use std::path::Path;
use std::sync::Arc;

use petgraph::unionfind::UnionFind;
use rustc_hash::{FxHashMap, FxHashSet};

use super::import_targets::Targets;
use super::modules::Modules;
use crate::project::{FileId, FolderId, Imports, SearchPath, Target};
use crate::semantic::{Call, Constant, Import, Imported, Module, NameId, Value, ValueId};

/// The methods that put something on the list `sys.path`.
const PUTS: [&str; 3] = ["append", "insert", "extend"];

/// The packages whose `setup` says what is installed from where its script lies.
const INSTALLERS: [&str; 3] = ["setuptools", "distutils", "skbuild"];

/// That function.
const SETUP: &str = "setup";

/// The folder beside such a script in which packages lie, if not beside it.
const SOURCES: &str = "src";

/// Of how many values at most a path is looked at.
const VALUES: usize = 64;

/// The folders that files name.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Those from which packages are installed, in the order of the files.
    pub(super) installed: Vec<FolderId>,
    /// Those that files put on the path, in their order.
    put: Vec<(FileId, FolderId)>,
}

impl Named {
    /// The folders that the files of a project name, as far as they are its own.
    pub(super) fn of(modules: &Modules) -> Self {
        let imports = modules.imports();
        let mut named = Self::default();
        for file in modules.files() {
            let module = modules.get(file);
            if installs(module) {
                let own = imports.folder_of(file);
                let installed = [Some(own), imports.folder_at(own, &[SOURCES])].into_iter().flatten();
                named.installed.extend(installed.filter(|&own| own != imports.root()));
            }
            if ["sys", "path"].iter().any(|name| module.names.get(name).is_none()) {
                continue;
            }
            for call in module.calls.iter().filter(|call| is_of_path(module, call)) {
                named.put.extend(of_call(imports, file, module, call).into_iter().map(|own| (file, own)));
            }
        }
        let mut seen: FxHashSet<FolderId> = FxHashSet::default();
        named.installed.retain(|&own| seen.insert(own));
        named
    }

    /// The files that a folder on the path serves, each with its folders: those that are linked to the file that puts it
    /// there, and may be of one program.
    fn own(&self, links: &UnionFind<u32>, files: &[FileId]) -> FxHashMap<FileId, Arc<[FolderId]>> {
        let mut folders: FxHashMap<u32, Vec<FolderId>> = FxHashMap::default();
        for &(file, folder) in &self.put {
            let own = folders.entry(links.find(file.0)).or_default();
            if !own.contains(&folder) {
                own.push(folder);
            }
        }
        let folders: FxHashMap<u32, Arc<[FolderId]>> =
            folders.into_iter().map(|(group, folders)| (group, folders.into())).collect();
        files.iter().filter_map(|&file| Some((file, Arc::clone(folders.get(&links.find(file.0))?)))).collect()
    }
}

/// Where imports lead if files are also looked for in the folders that are put on the path. These serve the files that imports
/// link to those that name them; what is found there is linked in its turn.
pub(super) fn along(near: &Targets, named: &Named, modules: &[Arc<Module>]) -> Targets {
    let mut targets = near.clone();
    if named.put.is_empty() {
        return targets;
    }
    let open: Vec<FileId> = near.files().filter(|&file| near.is_open(file, &modules[file.index()])).collect();
    let mut links = UnionFind::new(modules.len());
    let mut linked: Vec<FileId> = near.files().collect();
    loop {
        for &file in &linked {
            let imports = modules[file.index()].imports.iter();
            for target in imports.flat_map(|own| targets.of(file).all(own)) {
                if let Target::File(other) = target {
                    links.union(file.0, other.0);
                }
            }
        }
        let own = named.own(&links, &open);
        let known = targets.imports.search_path();
        linked = open.iter().copied().filter(|file| own.get(file) != known.own.get(file)).collect();
        if linked.is_empty() {
            return targets;
        }
        targets.imports =
            Arc::new(near.imports.searching(SearchPath { own, installed: known.installed.clone() }));
        targets.find_again(&linked, modules);
    }
}

/// Whether a module says what is installed: `distutils` has also what others take from it.
fn installs(module: &Module) -> bool {
    let is_installer = |import: &Import| INSTALLERS.contains(&import.package());
    let is_setup = |name: NameId| module.names.text(name) == SETUP;
    let has_setup = |import: &Import| matches!(import.what, Imported::Name(name) if is_setup(name));
    let names_setup = |call: &Call| match module.value(call.callee).value {
        Value::Attribute { base, name, .. } => {
            is_setup(name)
                && matches!(module.value(base).value, Value::Import(import) if is_installer(module.import(import)))
        }
        _ => false,
    };
    let mut installers = module.imports.iter().filter(|&own| is_installer(own)).peekable();
    installers.peek().is_some() && (installers.any(has_setup) || module.calls.iter().any(names_setup))
}

/// Whether a call is of a method of `sys.path` that puts something there.
fn is_of_path(module: &Module, call: &Call) -> bool {
    let attribute = |value: ValueId| match module.value(value).value {
        Value::Attribute { base, name, .. } => Some((base, module.names.text(name))),
        _ => None,
    };
    let list = attribute(call.callee).filter(|(_, name)| PUTS.contains(name)).map(|(list, _)| list);
    let owner = list.and_then(attribute).filter(|&(_, name)| name == "path").map(|(owner, _)| owner);
    owner.is_some_and(|owner| match module.value(owner).value {
        Value::Import(import) => &*module.import(import).module == "sys",
        _ => false,
    })
}

/// The folders that a call may mean: what the texts in its path lead to from the file's own folder, or from the root. A path
/// without texts is made of that of the file.
fn of_call(imports: &Imports, file: FileId, module: &Module, call: &Call) -> Vec<FolderId> {
    let own = imports.folder_of(file);
    let texts = texts(module, call);
    let parts: Vec<&str> =
        texts.iter().flat_map(|text| text.split(['/', '\\'])).filter(|part| !part.is_empty()).collect();
    let is_absolute = |value: ValueId| match module.value(value).value {
        Value::Constant(Constant::Str(text)) => Path::new(module.names.text(text)).has_root(),
        _ => false,
    };
    if call.arguments.iter().any(|own| is_absolute(own.value)) {
        return elsewhere(imports, own, &parts).into_iter().collect();
    }
    if parts.is_empty() {
        return std::iter::once(own).chain(imports.folder_around(own)).collect();
    }
    let begin = [own, imports.root()];
    begin.into_iter().find_map(|begin| imports.folder_at(begin, &parts)).into_iter().collect()
}

/// The folder that an absolute path means where the project lies elsewhere, `/workspace/python/source` in a container: the one
/// beside the file, or beside a folder around it, to which most of the end of the path leads, and more than a name.
fn elsewhere(imports: &Imports, own: FolderId, parts: &[&str]) -> Option<FolderId> {
    let around: Vec<FolderId> =
        std::iter::successors(Some(own), |&folder| imports.folder_around(folder)).collect();
    let ends = (0..parts.len().saturating_sub(1)).map(|begin| &parts[begin..]);
    ends.into_iter().find_map(|end| around.iter().find_map(|&folder| imports.folder_at(folder, end)))
}

/// The texts that a path is joined of, in the order of the source.
fn texts<'m>(module: &'m Module, call: &Call) -> Vec<&'m str> {
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    let mut work: Vec<ValueId> = call.arguments.iter().map(|own| own.value).collect();
    let mut found = Vec::new();
    while let Some(value) = work.pop() {
        if seen.len() >= VALUES || !seen.insert(value) {
            continue;
        }
        let own = module.value(value);
        match own.value {
            Value::Constant(Constant::Str(text)) => found.push((own.range.start(), module.names.text(text))),
            Value::Operator { left, right, .. } => work.extend([left, right]),
            Value::Call(call) => work.extend(module.call(call).arguments.iter().map(|own| own.value)),
            Value::Item { base, .. } => work.push(base),
            _ => {}
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(_, text)| text).collect()
}
