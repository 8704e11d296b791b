//! Which versions of a library a project asks for: in the files that tell its installers, in its job scripts, and in what
//! people are told.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::versions::{Manner, Version, is_at_least, is_less};
use super::{FileId, FileKind, LARGEST_FILE, Project};

/// The files that tell an installer which versions to take, beside lists of requirements and descriptions of environments.
const FILES: [&str; 4] = ["pyproject.toml", "setup.py", "setup.cfg", "Pipfile"];

/// How the names of files begin that tell how an image is made, in any case: `Dockerfile.gpu`.
const IMAGES: &str = "dockerfile";

/// How the list in the description of an environment begins.
const DEPENDENCIES: &str = "dependencies:";

/// The endings of scripts that start jobs, or set up what they need.
pub(super) const SCRIPTS: [&str; 9] = ["sh", "bash", "slurm", "sbatch", "sl", "pbs", "lsf", "job", "def"];

/// The endings of what people read.
pub(super) const DOCUMENTS: [&str; 2] = ["md", "rst"];

/// How many entries of folders without programs are looked at, at most.
const MOST_ENTRIES: usize = 1000;

impl Project {
    /// Whether what stands beside a file, or in a folder around it up to the project's root, asks for a version of a
    /// package below this one. The nearest folder that asks for a version at all decides, and installers before people.
    /// Notebooks count, too: those of cloud services start programs with the packages that they name; and so do scripts and
    /// documents in folders of their own below these, as in `slurm/train.sh`.
    #[must_use]
    pub fn asks_for_less(&self, file: FileId, package: &str, version: Version) -> bool {
        let path = &self.file(file).path;
        let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(self.root()));
        let mut answers = folders.filter_map(|folder| {
            let entries = entries(folder);
            let notebooks = self.notebooks_in(folder).filter_map(text);
            let mut installers = entries.iter().filter_map(|path| installers(path)).chain(notebooks);
            let first = installers.find_map(|text| is_less(&text, Manner::Commands, package, version));
            let beside = || {
                let told = self.without_programs(&entries);
                let told = told.iter().filter_map(|path| told_by(path));
                let mut answers = told.filter_map(|(manner, text)| is_less(&text, manner, package, version));
                // Of several scripts one may be for another machine.
                answers.next().map(|first| first || answers.any(|is_below| is_below))
            };
            first.or_else(beside)
        });
        answers.next().unwrap_or(false)
    }

    /// The first of these packages of which what tells an installer beside a file, or in a folder around it up to the
    /// project's root, asks for this version or a later one. The nearest folder that asks for a version of it at all
    /// decides.
    #[must_use]
    pub fn asks_for_at_least<'w>(
        &self,
        file: FileId,
        wanted: &'w [(&'static str, Version)],
    ) -> Option<&'w (&'static str, Version)> {
        let path = &self.file(file).path;
        let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(self.root()));
        let mut open: Vec<&(&str, Version)> = wanted.iter().collect();
        for folder in folders {
            let texts: Vec<String> = entries(folder).iter().filter_map(|path| installers(path)).collect();
            let answer = |&&(package, version): &&(&str, Version)| {
                texts.iter().find_map(|text| is_at_least(text, package, version))
            };
            if let Some(asked) = open.iter().find(|own| answer(own) == Some(true)) {
                return Some(asked);
            }
            open.retain(|own| answer(own).is_none());
        }
        None
    }

    fn notebooks_in<'p>(&'p self, folder: &'p Path) -> impl Iterator<Item = &'p Path> {
        let notebooks = self.files().iter().filter(|file| file.kind == FileKind::Notebook);
        notebooks.map(|file| file.path.as_path()).filter(move |path| path.parent() == Some(folder))
    }

    /// Whether Python files of the project lie below a folder; they are in the order of their paths.
    fn has_files_below(&self, folder: &Path) -> bool {
        let Ok(relative) = folder.strip_prefix(self.root()) else { return false };
        let parts: Vec<_> = relative.iter().map(OsStr::to_string_lossy).collect();
        let prefix = format!("{}/", parts.join("/"));
        let first = self.files().partition_point(|file| file.relative < prefix);
        self.files().get(first).is_some_and(|file| file.relative.starts_with(&prefix))
    }

    /// These entries, and what is in those that are folders without programs.
    pub(super) fn without_programs(&self, entries_of_folder: &[PathBuf]) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        let mut waiting: Vec<PathBuf> = entries_of_folder.iter().rev().cloned().collect();
        while let Some(path) = waiting.pop().filter(|_| found.len() < MOST_ENTRIES) {
            let is_hidden = path.file_name().and_then(OsStr::to_str).is_none_or(|name| name.starts_with('.'));
            if path.is_dir() && !path.is_symlink() && !is_hidden {
                if !self.has_files_below(&path) {
                    waiting.extend(entries(&path).into_iter().rev());
                }
            } else {
                found.push(path);
            }
        }
        found
    }
}

/// What is in a folder, in the order of the names.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    names.sort_unstable();
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// The text of a file that tells an installer what to take.
fn installers(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    match path.extension().and_then(OsStr::to_str) {
        Some("yml" | "yaml") => text(path).filter(|text| text.contains(DEPENDENCIES)),
        Some("txt") if name.starts_with("requirements") => text(path),
        _ if FILES.contains(&name) => text(path),
        _ if name.to_ascii_lowercase().starts_with(IMAGES) => text(path),
        _ => None,
    }
}

/// The text of a script that starts jobs, or of a document.
fn told_by(path: &Path) -> Option<(Manner, String)> {
    let ending = path.extension().and_then(OsStr::to_str)?;
    if SCRIPTS.contains(&ending) {
        Some((Manner::Commands, text(path)?))
    } else if DOCUMENTS.contains(&ending) {
        Some((Manner::Words, text(path)?))
    } else {
        None
    }
}

/// What a file of reasonable size holds, if it is there and is text.
pub(super) fn text(path: &Path) -> Option<String> {
    let length = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
    if length > LARGEST_FILE { None } else { fs::read_to_string(path).ok() }
}
