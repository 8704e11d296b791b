//! A module's name is its path from the project root with dots for slashes.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::FileKind;

/// A dotted module name, such as `models.resnet`. A file that can't be imported has one too: `01-intro.main`,
/// `tutorial.ipynb`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleName(Arc<str>);

impl ModuleName {
    /// The dotted name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name's parts, outermost first.
    #[must_use]
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('.')
    }
}

impl From<&str> for ModuleName {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for ModuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The names of the files at these relative paths, in their order.
///
/// A `src` folder without `__init__` is left out of the names, as setuptools does, unless a file outside of it has
/// the same name then. The root's own `__init__` file, which nobody can import by name, is called `__init__`.
pub(super) fn module_names<'a>(relatives: impl Iterator<Item = &'a str> + Clone) -> Vec<ModuleName> {
    let strip = has_src_layout(relatives.clone());
    relatives
        .map(|relative| {
            let relative = if strip { relative.strip_prefix("src/").unwrap_or(relative) } else { relative };
            ModuleName(dotted(relative).into())
        })
        .collect()
}

fn has_src_layout<'a>(relatives: impl Iterator<Item = &'a str>) -> bool {
    let mut inside = BTreeSet::new();
    let mut outside = BTreeSet::new();
    for relative in relatives {
        match relative.strip_prefix("src/") {
            Some("__init__.py" | "__init__.pyi") => return false,
            Some(rest) => inside.insert(dotted(rest)),
            None => outside.insert(dotted(relative)),
        };
    }
    inside.is_disjoint(&outside)
}

fn dotted(relative: &str) -> String {
    let stem = stem(relative);
    match stem.strip_suffix("__init__").map(|folder| folder.trim_end_matches('/')) {
        Some(folder) if !folder.is_empty() && is_package(relative) => folder.replace('/', "."),
        _ => stem.replace('/', "."),
    }
}

/// The path without `.py` or `.pyi`.
pub(super) fn stem(relative: &str) -> &str {
    relative.strip_suffix(".py").or_else(|| relative.strip_suffix(".pyi")).unwrap_or(relative)
}

/// Whether the file makes its folder a package.
pub(super) fn is_package(relative: &str) -> bool {
    matches!(relative.rsplit('/').next(), Some("__init__.py" | "__init__.pyi"))
}

/// What the file's name says that it is; a script without an ending is a program.
pub(super) fn kind(relative: &str) -> FileKind {
    match relative.rsplit_once('.') {
        Some((_, "pyi")) => FileKind::Stub,
        Some((_, "ipynb")) => FileKind::Notebook,
        _ => FileKind::Source,
    }
}

#[cfg(test)]
mod tests {
    use super::module_names;

    fn names(relatives: &[&str]) -> Vec<String> {
        module_names(relatives.iter().copied()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_are_paths_with_dots() {
        assert_eq!(
            names(&["train.py", "pkg/__init__.py", "pkg/net.py", "pkg/net.pyi", "01-intro/main.py", "run"]),
            ["train", "pkg", "pkg.net", "pkg.net", "01-intro.main", "run"]
        );
    }

    #[test]
    fn the_roots_own_init_keeps_its_name() {
        assert_eq!(names(&["__init__.py", "a.py"]), ["__init__", "a"]);
        assert_eq!(names(&["pkg/my__init__.py"]), ["pkg.my__init__"]);
    }

    #[test]
    fn a_src_folder_is_no_part_of_the_name() {
        assert_eq!(names(&["setup.py", "src/pkg/__init__.py", "src/train.py"]), ["setup", "pkg", "train"]);
    }

    #[test]
    fn a_src_package_is_part_of_the_name() {
        assert_eq!(names(&["src/__init__.py", "src/net.py"]), ["src", "src.net"]);
    }

    #[test]
    fn src_stays_where_names_would_clash() {
        assert_eq!(names(&["net.py", "src/net.py", "src/b.py"]), ["net", "src.net", "src.b"]);
    }
}
