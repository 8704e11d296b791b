//! The project is the Python files and notebooks under one root folder, their decoded text, their module names and the
//! configuration that applies to them.
//!
//! [`Project::open`] finds the root and the files, [`Project::read`] decodes one of them, and [`Imports`] tells
//! which file an import statement means. Nothing else in the crate reads the disk, except for what [`crate::fix`]
//! compares before it writes. A file that can't be read is a
//! [`FileProblem`], never an abort.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub mod config;
mod decode;
mod discover;
mod encode;
mod error;
mod globs;
mod imports;
mod launches;
mod names;
mod notebook;
mod open;
mod requirements;
mod root;
mod selection;
mod source_control;
mod suggest;
mod versions;

pub use config::{ApiKind, ApiRow, Config, ConfigError, LevelSetting, text as read_text};
pub use decode::{Undecodable, decode, decode_as};
pub use encode::{Unencodable, encode, encode_as};
pub use error::{FileProblem, ProjectError};
pub use globs::{GlobProblem, PathGlobs};
pub use imports::{FolderId, Imports, SearchPath, Target, is_standard};
use launches::Launches;
pub use names::ModuleName;
pub use notebook::{CellNumber, Notebook};
pub use open::{ConfigSource, OpenOptions, StandardInput};
pub use root::locate;
pub use selection::{SelectOptions, Selection, Selector, UnknownCheck};
pub use source_control::SourceControl;
pub(crate) use suggest::nearest;
pub use versions::Version;

/// Files above this size, in bytes, are not read.
pub const LARGEST_FILE: u64 = 64 << 20;

/// A file of the project: its index in path order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

impl FileId {
    /// The index into [`Project::files`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A file's decoded text under the name that people see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Relative to the project root, with `/`.
    pub path: String,
    /// Decoded text without the byte order mark; line endings as in the file. Of a notebook the code of its cells.
    pub text: Arc<str>,
    /// Where the text stands in the file, if that is a notebook which can be read.
    pub notebook: Option<Arc<Notebook>>,
    /// What a reader that takes the file for UTF-8 reads, with the byte order mark, where that is not `text`.
    pub as_utf8: Option<Arc<str>>,
}

impl Document {
    /// A document whose file holds nothing but `text`, as UTF-8.
    #[must_use]
    pub fn new(path: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        Self { path: path.into(), text: text.into(), notebook: None, as_utf8: None }
    }
}

/// The documents that findings point into.
pub type Documents = BTreeMap<FileId, Document>;

/// What a file is to Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// A program or module.
    Source,
    /// A `.pyi` file: signatures without code.
    Stub,
    /// An `.ipynb` file: a program that can't be imported.
    Notebook,
}

/// A Python file of the project, not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its index in [`Project::files`].
    pub id: FileId,
    /// Absolute.
    pub path: PathBuf,
    /// Relative to the project root, with `/`.
    pub relative: String,
    /// Program, stub or notebook.
    pub kind: FileKind,
    /// The dotted name that imports use. Not unique: `a.py`, `a.pyi` and `a/__init__.py` share one.
    pub name: ModuleName,
    /// Whether it is a folder's `__init__` file.
    pub is_package: bool,
    /// Whether findings in it are reported: it is in the paths that the user gave, or all are.
    pub reported: bool,
}

/// The files under the project root, in the order of their relative paths' bytes.
#[derive(Clone, Debug)]
pub struct Project {
    root: PathBuf,
    config: Config,
    files: Arc<[SourceFile]>,
    problems: Vec<FileProblem>,
    /// Texts that stand in for those of files.
    overlay: BTreeMap<PathBuf, Arc<str>>,
    /// Notebooks that stand in for files: what such a file would hold.
    notebooks: BTreeMap<PathBuf, Arc<str>>,
    /// The paths that are reported, without those that a forced exclude leaves out.
    given: Vec<PathBuf>,
    /// How scripts start programs; read when it is first asked, once for all copies.
    launches: Arc<OnceLock<Launches>>,
}

impl Project {
    /// The absolute folder that relative paths start from.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The configuration that applies, with its origin.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Every file, reported or not; a [`FileId`] is an index into it.
    #[must_use]
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The file `id`.
    ///
    /// # Panics
    ///
    /// If `id` comes from another project.
    #[must_use]
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.index()]
    }

    /// The files that findings are reported in.
    pub fn reported(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.reported)
    }

    /// What kept files and folders from being part of the project, in path order.
    #[must_use]
    pub fn problems(&self) -> &[FileProblem] {
        &self.problems
    }

    /// The file at `path`, absolute or relative to the current directory.
    #[must_use]
    pub fn find(&self, path: &Path) -> Option<&SourceFile> {
        self.find_located(&root::locate(path).ok()?)
    }

    /// The file at a path that [`locate`] has given.
    #[must_use]
    pub fn find_located(&self, path: &Path) -> Option<&SourceFile> {
        let relative = discover::relative(&self.root, path)?;
        let index = self.files.binary_search_by(|file| file.relative.as_bytes().cmp(relative.as_bytes()));
        Some(&self.files[index.ok()?])
    }

    /// Fails where there is nothing to report on: no Python file in the given paths, and neither a problem nor a
    /// forced exclude that would explain it.
    ///
    /// # Errors
    ///
    /// [`ProjectError::NoPythonFile`].
    pub fn require_reported(&self) -> Result<(), ProjectError> {
        if self.reported().next().is_none() && self.problems.is_empty() && !self.given.is_empty() {
            return Err(ProjectError::NoPythonFile(self.given.clone()));
        }
        Ok(())
    }

    /// The decoded text of a file: without byte order mark, line endings and NUL bytes as in the file.
    ///
    /// # Errors
    ///
    /// The file can't be read, is larger than [`LARGEST_FILE`], or its bytes aren't text in the encoding it declares
    /// or no notebook (then the problem has an offset).
    pub fn read(&self, id: FileId) -> Result<String, FileProblem> {
        let file = self.file(id);
        if let Some(text) = self.overlay.get(&file.path) {
            return Ok(text.to_string());
        }
        decode_as(file.kind, self.stored(file)?).map_err(|problem| FileProblem {
            path: file.path.clone(),
            what: problem.what,
            help: problem.help,
            offset: Some(problem.offset),
        })
    }

    /// The bytes of a file, or of the text that stands in for it; of a notebook those that its text comes from.
    ///
    /// # Errors
    ///
    /// The file can't be read, or is larger than [`LARGEST_FILE`].
    pub fn bytes(&self, id: FileId) -> Result<Vec<u8>, FileProblem> {
        let file = self.file(id);
        match self.overlay.get(&file.path) {
            Some(text) if file.kind != FileKind::Notebook => Ok(text.as_bytes().to_vec()),
            _ => self.stored(file),
        }
    }

    fn stored(&self, file: &SourceFile) -> Result<Vec<u8>, FileProblem> {
        match self.notebooks.get(&file.path) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => discover::bytes(&file.path),
        }
    }

    /// The same project with these texts in place of what the files hold.
    #[must_use]
    pub fn with_texts(&self, texts: &BTreeMap<FileId, Arc<str>>) -> Self {
        let mut project = self.clone();
        for (&file, text) in texts {
            project.overlay.insert(self.file(file).path.clone(), Arc::clone(text));
        }
        project
    }

    /// The same project with what these files hold in place of texts that stand in for them.
    #[must_use]
    pub fn without_texts<'f>(&self, files: impl IntoIterator<Item = &'f FileId>) -> Self {
        let mut project = self.clone();
        for &file in files {
            project.overlay.remove(&self.file(file).path);
        }
        project
    }

    /// The same project where findings are reported in these files alone.
    #[must_use]
    pub fn reporting(&self, files: &[FileId]) -> Self {
        let all = self.files.iter().cloned();
        let files = all.map(|file| SourceFile { reported: files.contains(&file.id), ..file }).collect();
        Self { files, ..self.clone() }
    }

    /// The text of a file, read again, for reports. Bytes that can't be decoded appear as U+FFFD, so that the offset
    /// of the problem of [`Project::read`] has a place in it. `None` when the file can't be read at all.
    #[must_use]
    pub fn document(&self, id: FileId) -> Option<Document> {
        let file = self.file(id);
        let path = file.relative.clone();
        let overlay = self.overlay.get(&file.path);
        if file.kind == FileKind::Notebook {
            let bytes = self.stored(file).ok()?;
            let (text, notebook) = match (decode::notebook(&bytes), overlay) {
                (Ok(notebook), None) => (Arc::clone(notebook.text()), Some(notebook)),
                (Ok(notebook), Some(text)) => (Arc::clone(text), notebook.with_text(text).ok()),
                (Err(problem), _) => (problem.text.into(), None),
            };
            let mark = bytes.starts_with(decode::BYTE_ORDER_MARK);
            let file = notebook.as_ref().map_or(&text, Notebook::file);
            let as_utf8 = mark.then(|| format!("\u{feff}{file}").into());
            return Some(Document { path, text, notebook: notebook.map(Arc::new), as_utf8 });
        }
        if let Some(text) = overlay {
            return Some(Document::new(path, Arc::clone(text)));
        }
        let bytes = self.stored(file).ok()?;
        let as_utf8 = String::from_utf8_lossy(&bytes).into_owned();
        let text = decode(bytes).unwrap_or_else(|problem| problem.text);
        let as_utf8 = (as_utf8 != text).then(|| as_utf8.into());
        Some(Document { as_utf8, ..Document::new(path, text) })
    }
}
