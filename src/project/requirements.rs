//! Which versions of a library a project asks for, in the files that tell its installers.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use super::{FileId, FileKind, LARGEST_FILE, Project};

/// The files that tell an installer which versions to take, beside lists of requirements and descriptions of environments.
const FILES: [&str; 4] = ["pyproject.toml", "setup.py", "setup.cfg", "Pipfile"];

/// How the names of files begin that tell how an image is made, in any case: `Dockerfile.gpu`.
const IMAGES: &str = "dockerfile";

/// How the list in the description of an environment begins.
const DEPENDENCIES: &str = "dependencies:";

/// A version's first two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl Project {
    /// Whether what stands beside a file, or in a folder around it up to the project's root, asks for a version of a
    /// package below this one. The nearest folder that asks for a version at all decides. Notebooks count, too: those of
    /// cloud services start programs with the packages that they name.
    #[must_use]
    pub fn asks_for_less(&self, file: FileId, package: &str, version: Version) -> bool {
        let path = &self.file(file).path;
        let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(self.root()));
        let mut answers = folders.flat_map(|folder| {
            let notebooks = self.notebooks_in(folder).filter_map(text);
            listed(folder).into_iter().chain(notebooks).filter_map(|text| is_less(&text, package, version))
        });
        answers.next().unwrap_or(false)
    }

    fn notebooks_in<'p>(&'p self, folder: &'p Path) -> impl Iterator<Item = &'p Path> {
        let notebooks = self.files().iter().filter(|file| file.kind == FileKind::Notebook);
        notebooks.map(|file| file.path.as_path()).filter(move |path| path.parent() == Some(folder))
    }
}

/// The texts in a folder that tell an installer what to take, in the order of their names.
fn listed(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_unstable();
    let texts = paths.iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        match path.extension().and_then(OsStr::to_str) {
            Some("yml" | "yaml") => text(path).filter(|text| text.contains(DEPENDENCIES)),
            Some("txt") if name.starts_with("requirements") => text(path),
            _ if FILES.contains(&name) => text(path),
            _ if name.to_ascii_lowercase().starts_with(IMAGES) => text(path),
            _ => None,
        }
    });
    texts.collect()
}

/// What a file of reasonable size holds, if it is there and is text.
fn text(path: &Path) -> Option<String> {
    let length = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
    if length > LARGEST_FILE { None } else { fs::read_to_string(path).ok() }
}

/// Whether a text that says which versions of a package are wanted, as in `horovod==0.18.1`, rules this version and
/// all later ones out; nothing where it does not speak of its versions.
#[must_use]
pub fn is_less(text: &str, package: &str, version: Version) -> Option<bool> {
    let mut answers = text.match_indices(package).filter_map(|(at, _)| {
        let is_in_word = |other: char| other.is_alphanumeric() || matches!(other, '-' | '_' | '.' | '/');
        let is_whole = !text[..at].ends_with(is_in_word);
        is_whole.then(|| limits(&text[at + package.len()..])).flatten()
    });
    let first = answers.next()?;
    // Another place may ask for others: then nobody knows.
    Some(std::iter::once(first).chain(answers).all(|limit| limit.is_below(version)))
}

/// Up to where versions are allowed.
#[derive(Clone, Copy, Debug)]
enum Limit {
    /// There is no last one.
    Open,
    Newest(Version),
    Before(Version),
}

impl Limit {
    fn is_below(self, version: Version) -> bool {
        match self {
            Self::Open => false,
            Self::Newest(newest) => newest < version,
            Self::Before(first) => first <= version,
        }
    }
}

/// What the text behind a package's name says of its versions, if it says anything.
fn limits(rest: &str) -> Option<Limit> {
    let rest = rest.trim_start_matches([' ', '\t']);
    let mut rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1.trim_start_matches(' '),
        None => rest,
    };
    // `horovod = "==0.19.5"` of a Pipfile.
    let assigned = rest.strip_prefix('=').map(|own| own.trim_start_matches(' '));
    if let Some(quoted) = assigned.and_then(|own| own.strip_prefix(['"', '\''])) {
        rest = quoted;
    }
    let mut found: Option<Limit> = None;
    loop {
        let length = rest.find(|other| !matches!(other, '=' | '<' | '>' | '~' | '!')).unwrap_or(rest.len());
        let (operator, behind) = rest.split_at(length);
        let behind = behind.trim_start_matches([' ', '"', '\'']);
        let length =
            behind.find(|other: char| !other.is_ascii_digit() && other != '.').unwrap_or(behind.len());
        let (number, behind) = behind.split_at(length);
        let mut numbers = number.split('.').map_while(|part| part.parse().ok());
        let Some(major) = numbers.next().filter(|_| !operator.is_empty()) else { return found };
        let own = numbers.next().map_or(Version(major, 0), |minor| Version(major, minor));
        found = Some(match operator {
            // Conda's, and not the assignment of a number. `~=1.2` leaves the second number open.
            "=" if !number.contains('.') => return found,
            "==" | "===" | "=" | "<=" => Limit::Newest(own),
            "~=" if number.split('.').count() > 2 => Limit::Newest(own),
            "~=" => Limit::Before(Version(major + 1, 0)),
            "<" => Limit::Before(own),
            _ => found.unwrap_or(Limit::Open),
        });
        match behind.trim_start_matches(['*', ' ']).strip_prefix(',') {
            Some(next) => rest = next.trim_start_matches(' '),
            None => return found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_from_above_rule_later_versions_out() {
        let horovod = |text| is_less(text, "horovod", Version(0, 21));
        let older = [
            "horovod==0.18.1",
            "tensorflow==1.15\nhorovod == 0.18.1\n",
            "horovod[tensorflow]==0.16.1",
            "horovod>=0.16,<0.21",
            "  - horovod=0.19\n",
            "RUN HOROVOD_WITH_TENSORFLOW=1 pip install --no-cache-dir horovod==0.20.3",
            "horovod~=0.19.2",
            "horovod<=0.20",
            "horovod = \"==0.19.5\"",
        ];
        for text in older {
            assert_eq!(horovod(text), Some(true), "{text}");
        }
    }

    #[test]
    fn other_texts_rule_nothing_out() {
        let horovod = |text| is_less(text, "horovod", Version(0, 21));
        for text in ["horovod>=0.18", "horovod==0.21.0", "horovod~=0.19", "horovod<0.22", "horovod!=0.19.1"] {
            assert_eq!(horovod(text), Some(false), "{text}");
        }
        // One asks for an old version, another for a new one.
        assert_eq!(horovod("horovod==0.18\nhorovod==0.28.1"), Some(false));
        for text in [
            "horovod",
            "import horovod.tensorflow as hvd",
            "my-horovod==0.18",
            "horovod-gpu==0.1",
            "horovod==",
        ] {
            assert_eq!(horovod(text), None, "{text}");
        }
    }
}
