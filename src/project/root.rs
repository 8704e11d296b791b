//! The project root is the folder of the nearest configuration, else the git root, else the given folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::ProjectError;

/// A path as the user gave it, and where that is.
pub(super) struct Given {
    pub(super) path: PathBuf,
    pub(super) kind: GivenKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenKind {
    Folder,
    File,
}

impl Given {
    /// Locates `path`, which must exist unless `overlaid` has its text.
    pub(super) fn new(path: &Path, overlaid: impl Fn(&Path) -> bool) -> Result<Self, ProjectError> {
        let io = |source| ProjectError::Io { path: path.into(), source };
        let located = locate(path).map_err(|error| missing_or(error, path))?;
        if overlaid(&located) {
            return Ok(Self { path: located, kind: GivenKind::File });
        }
        fs::symlink_metadata(path).map_err(|error| missing_or(error, path))?;
        // A link that leads nowhere is a file that can't be read.
        let is_folder = match fs::metadata(path) {
            Ok(metadata) => metadata.is_dir(),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(io(error)),
            Err(_) => false,
        };
        Ok(Self { path: located, kind: if is_folder { GivenKind::Folder } else { GivenKind::File } })
    }

    /// The folder itself, or the one that the file is in.
    fn folder(&self) -> &Path {
        match self.kind {
            GivenKind::Folder => &self.path,
            GivenKind::File => self.path.parent().unwrap_or(&self.path),
        }
    }
}

fn missing_or(source: io::Error, path: &Path) -> ProjectError {
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ProjectError::NotFound(path.into()),
        _ => ProjectError::Io { path: path.into(), source },
    }
}

/// The absolute path, with the links in its folder resolved and without `..`; the file itself may be a link, or
/// missing.
///
/// # Errors
///
/// The current directory or a folder on the way can't be had.
pub fn locate(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !path.is_dir() => Ok(locate(parent)?.join(name)),
        _ => fs::canonicalize(&path),
    }
}

/// The innermost folder that all of `given` are in.
pub(super) fn common_folder(given: &[Given]) -> Option<PathBuf> {
    let (first, rest) = given.split_first()?;
    let mut common = first.folder();
    for given in rest {
        while !given.path.starts_with(common) {
            common = common.parent()?;
        }
    }
    Some(common.to_owned())
}

/// The nearest folder at or above `folder` that is a git repository or work tree.
pub(super) fn git_root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

/// Whether a folder is so wide that walking it can't be what naming things in it meant: the file system's root, or
/// the user's home.
pub(super) fn is_too_wide(folder: &Path) -> bool {
    folder.parent().is_none() || std::env::home_dir().is_some_and(|home| home == folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Given {
        Given { path: path.into(), kind: GivenKind::File }
    }

    fn folder(path: &str) -> Given {
        Given { path: path.into(), kind: GivenKind::Folder }
    }

    #[test]
    fn the_common_folder_is_the_innermost() {
        let common = |given: &[Given]| common_folder(given).map(|path| path.display().to_string());
        assert_eq!(common(&[file("/a/b/x.py")]).as_deref(), Some("/a/b"));
        assert_eq!(common(&[folder("/a/b")]).as_deref(), Some("/a/b"));
        assert_eq!(common(&[file("/a/b/x.py"), file("/a/bc/y.py")]).as_deref(), Some("/a"));
        assert_eq!(common(&[folder("/a/b"), file("/a/b/c/y.py")]).as_deref(), Some("/a/b"));
        assert_eq!(common(&[folder("/a/b/c"), folder("/a/b")]).as_deref(), Some("/a/b"));
        assert_eq!(common(&[file("/a/x.py"), file("/b/y.py")]).as_deref(), Some("/"));
    }
}
