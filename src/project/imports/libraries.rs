//! Which modules and folders of a project bear the name of a library without being it.

use super::{FolderId, Imports, Place, Target, is_standard};

/// Libraries that a folder named after them, say `keras/` with examples, does not hide, even where it is a package: and what
/// their own sources hold, in all their versions, which do.
const LIBRARIES: [(&str, &[&str]); 4] = [
    ("horovod", &["common", "tensorflow"]),
    ("keras", &["backend", "engine", "src"]),
    ("numpy", &["core", "_core"]),
    ("tensorflow", &["python"]),
];

/// The library whose own sources do not hide it from programs beside: a fork of Horovod has the examples of Horovod.
const FORKED: &str = "horovod";

/// What the sources of such a library hold.
fn parts_of(library: &str) -> Option<&'static [&'static str]> {
    LIBRARIES.iter().find(|(name, _)| *name == library).map(|&(_, parts)| parts)
}

/// Whether a name is that of such a library.
pub(super) fn is_library(name: &str) -> bool {
    parts_of(name).is_some()
}

impl Imports {
    /// Whether the project holds the sources of a library itself: a fork of it, or a patch.
    #[must_use]
    pub fn holds_library(&self, name: &str) -> bool {
        let Some(&name) = self.names.get(name) else { return false };
        let folders = (0..self.folders.len()).map(|index| FolderId(u32::try_from(index).unwrap_or(u32::MAX)));
        let packages = folders.filter_map(|folder| self.entries.get(&(folder, name))?.folder);
        packages.into_iter().any(|package| {
            let children = self.entries.iter().filter(|((folder, _), _)| *folder == package);
            children
                .into_iter()
                .any(|(_, entry)| entry.folder.is_some_and(|own| self.folder(own).init.is_some()))
        })
    }

    /// Whether what is found by the name of a library or a module of Python's is not meant.
    pub(super) fn is_hidden(&self, first: &str, found: Target) -> bool {
        let parts = parts_of(first);
        match found {
            Target::Namespace(_) => is_standard(first) || parts.is_some(),
            _ => parts.is_some_and(|parts| self.is_package_without(found, parts)),
        }
    }

    /// Whether this is the package of a forked library, and the folder lies beside it.
    pub(super) fn is_fork_beside(&self, first: &str, found: Target, folder: FolderId) -> bool {
        first == FORKED && self.is_package_around(found, folder) == Some(false)
    }

    /// Whether this is a package that holds none of these modules and packages.
    fn is_package_without(&self, target: Target, names: &[&str]) -> bool {
        matches!(target, Target::File(file) if self.files[file.index()].is_package)
            && names.iter().all(|name| self.submodule(target, name) == Target::External)
    }

    /// Whether a package holds a folder; `None` if it is no package.
    fn is_package_around(&self, package: Target, folder: FolderId) -> Option<bool> {
        let Target::File(init) = package else { return None };
        let Place { folder: own, is_package: true } = self.files[init.index()] else { return None };
        let mut above = std::iter::successors(Some(folder), |folder| self.folder(*folder).parent);
        Some(above.any(|folder| folder == own))
    }
}
