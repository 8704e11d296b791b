//! Finds the Python files of a project and gets their bytes.
//!
//! Found are `.py` and `.pyi` files and notebooks that git doesn't ignore, outside of hidden and excluded folders and of virtual
//! environments. Links to files count as files; links to folders are not followed, because they lead out of the
//! project or to files that are found anyway. What the user names is found in any case.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, mpsc};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::root::{Given, GivenKind};
use super::{FileProblem, LARGEST_FILE, PathGlobs};

/// How to look for files.
pub(super) struct Search<'a> {
    pub(super) root: &'a Path,
    /// Whether folders in the root are walked although nobody named them.
    pub(super) whole_root: bool,
    pub(super) in_git: bool,
    pub(super) excludes: Arc<PathGlobs>,
    /// How many threads walk; 0 leaves the choice to the walker.
    pub(super) threads: usize,
}

/// What the search came upon, in path order.
#[derive(Default)]
pub(super) struct Found {
    pub(super) files: BTreeSet<PathBuf>,
    pub(super) problems: BTreeSet<FileProblem>,
    folders: BTreeSet<PathBuf>,
}

enum Event {
    Folder(PathBuf),
    File(PathBuf),
    Problem(FileProblem),
}

impl Search<'_> {
    /// Finds the files under the root, the given ones among them.
    pub(super) fn run(&self, given: &[Given]) -> Found {
        let mut found = Found::default();
        self.walk(self.root, (!self.whole_root).then_some(1), &mut found);
        for given in given {
            match given.kind {
                GivenKind::Folder if !found.folders.contains(&given.path) => {
                    self.walk(&given.path, None, &mut found);
                }
                GivenKind::Folder => {}
                GivenKind::File => {
                    found.files.insert(given.path.clone());
                }
            }
        }
        found
    }

    /// Whether a path under the root, or a folder it is in, is excluded.
    pub(super) fn is_excluded(&self, path: &Path) -> bool {
        path.strip_prefix(self.root).is_ok_and(|relative| self.excludes.covers(relative))
    }

    fn walk(&self, folder: &Path, max_depth: Option<usize>, found: &mut Found) {
        let (root, excludes) = (self.root.to_owned(), Arc::clone(&self.excludes));
        let walker = WalkBuilder::new(folder)
            .threads(self.threads)
            .max_depth(max_depth)
            // Outside of a repository a `.gitignore` still counts, but not one of a folder above the project.
            .require_git(self.in_git)
            .parents(self.in_git)
            .filter_entry(move |entry| entry.depth() == 0 || is_wanted(entry, &root, &excludes))
            .build_parallel();
        let (sender, receiver) = mpsc::channel();
        walker.run(|| {
            let sender = sender.clone();
            Box::new(move |entry| {
                if let Some(event) = event(entry) {
                    // The receiver outlives the walk.
                    let _ = sender.send(event);
                }
                WalkState::Continue
            })
        });
        drop(sender);
        for event in receiver {
            match event {
                Event::Folder(path) => max_depth.is_none() && found.folders.insert(path),
                Event::File(path) => found.files.insert(path),
                Event::Problem(problem) => found.problems.insert(problem),
            };
        }
    }
}

fn is_wanted(entry: &DirEntry, root: &Path, excludes: &PathGlobs) -> bool {
    let path = entry.path();
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    if !is_folder && !has_python_name(path) {
        return false;
    }
    if path.strip_prefix(root).is_ok_and(|relative| excludes.names(relative)) {
        return false;
    }
    // A virtual environment, whatever its name.
    !(is_folder && (path.join("pyvenv.cfg").exists() || path.join("conda-meta").exists()))
}

pub(super) fn has_python_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["py", "pyi", "ipynb"].iter().any(|own| extension == *own))
}

fn event(entry: Result<DirEntry, ignore::Error>) -> Option<Event> {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => return problem_of(&error).map(Event::Problem),
    };
    let kind = entry.file_type()?;
    let path = entry.into_path();
    if kind.is_dir() {
        return Some(Event::Folder(path));
    }
    if kind.is_file() {
        return Some(Event::File(path));
    }
    if !kind.is_symlink() {
        return None;
    }
    match fs::metadata(&path) {
        Ok(target) => target.is_file().then_some(Event::File(path)),
        Err(error) => Some(Event::Problem(FileProblem::new(
            path,
            format!("the link leads nowhere: {error}"),
            "mend or remove the link, or exclude it in the configuration",
        ))),
    }
}

fn problem_of(error: &ignore::Error) -> Option<FileProblem> {
    let path = path_of(error)?;
    let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
    Some(FileProblem::new(
        path,
        format!("can't be read: {reason}"),
        "check its permissions, or exclude it in the configuration",
    ))
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } | ignore::Error::Loop { child: path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}

/// The path from `root` with `/`; `None` when it isn't under the root, or its name isn't Unicode.
pub(super) fn relative(root: &Path, path: &Path) -> Option<String> {
    let mut relative = String::new();
    for component in path.strip_prefix(root).ok()?.components() {
        let Component::Normal(name) = component else { return None };
        if !relative.is_empty() {
            relative.push('/');
        }
        relative.push_str(name.to_str()?);
    }
    Some(relative)
}

/// The bytes of a file, unless it is no regular file, or is too large.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>, FileProblem> {
    let unreadable = |error| {
        FileProblem::new(
            path,
            format!("can't be read: {error}"),
            "check that the file exists and its permissions, or exclude it in the configuration",
        )
    };
    // Asked first, because opening a pipe would wait for its writer.
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(FileProblem::new(path, "is not a regular file", "give it on standard input, as `-`"));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(FileProblem::new(
            path,
            format!("has {} MB, more than the {} MB that are read", metadata.len() >> 20, LARGEST_FILE >> 20),
            "exclude it in the configuration",
        ));
    }
    fs::read(path).map_err(unreadable)
}
