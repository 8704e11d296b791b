//! The folders that a project puts on Python's search path itself: `sys.path.append(os.path.dirname(__file__))`, and those of
//! the packages that it installs by a `setup.py` of theirs.

use std::path::Path;

use rustc_hash::FxHashSet;

use super::modules::Modules;
use crate::project::{FileId, FolderId, Imports};
use crate::semantic::{Call, Constant, Module, Value, ValueId};

/// The methods that put something on the list `sys.path`.
const PUTS: [&str; 3] = ["append", "insert", "extend"];

/// The packages whose `setup` says what is installed from where its script lies.
const INSTALLERS: [&str; 2] = ["setuptools", "distutils"];

/// The folder beside such a script in which packages lie, if not beside it.
const SOURCES: &str = "src";

/// Of how many values at most a path is looked at.
const VALUES: usize = 64;

/// The folders, in the order of the files that name them. Paths that begin outside of the project lead nowhere.
pub(super) fn folders(modules: &Modules, imports: &Imports) -> Vec<FolderId> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<FolderId> = FxHashSet::default();
    for file in modules.files() {
        let module = modules.get(file);
        if module.imports.iter().any(|own| INSTALLERS.contains(&own.package())) {
            let own = imports.folder_of(file);
            let installed = [Some(own), imports.folder_at(own, &[SOURCES])].into_iter().flatten();
            found.extend(installed.filter(|&own| own != imports.root() && seen.insert(own)));
        }
        if ["sys", "path"].iter().any(|name| module.names.get(name).is_none()) {
            continue;
        }
        for call in module.calls.iter().filter(|call| is_of_path(module, call)) {
            found.extend(of_call(imports, file, module, call).into_iter().filter(|&own| seen.insert(own)));
        }
    }
    found
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
    let is_absolute = |value: ValueId| match module.value(value).value {
        Value::Constant(Constant::Str(text)) => Path::new(module.names.text(text)).has_root(),
        _ => false,
    };
    if call.arguments.iter().any(|own| is_absolute(own.value)) {
        return Vec::new();
    }
    let texts = texts(module, call);
    let parts: Vec<&str> =
        texts.iter().flat_map(|text| text.split(['/', '\\'])).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return std::iter::once(own).chain(imports.folder_around(own)).collect();
    }
    let begin = [own, imports.root()];
    begin.into_iter().find_map(|begin| imports.folder_at(begin, &parts)).into_iter().collect()
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
