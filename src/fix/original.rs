//! What the files held when they were read: their bytes, to be compared with and to go back to.

use std::collections::BTreeMap;

use crate::program::Modules;
use crate::project::{FileId, Project, decode_as};

/// A file's bytes, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which file.
    pub file: FileId,
    /// What it held when it was analysed.
    pub before: Vec<u8>,
    /// What it is to hold.
    pub after: Vec<u8>,
}

/// The bytes of the files that fixes change, as they were when the files were analysed.
#[derive(Debug)]
pub struct Originals<'p> {
    project: &'p Project,
    modules: &'p Modules,
    known: BTreeMap<FileId, Result<Vec<u8>, String>>,
}

impl<'p> Originals<'p> {
    /// Of a project that was analysed as `modules`. `stdin` are the bytes of the file that standard input stands for.
    #[must_use]
    pub fn new(project: &'p Project, modules: &'p Modules, stdin: Option<(FileId, Vec<u8>)>) -> Self {
        let known = stdin.into_iter().map(|(file, bytes)| (file, Ok(bytes))).collect();
        Self { project, modules, known }
    }

    /// The bytes of a file that were analysed.
    ///
    /// # Errors
    ///
    /// They can't be had any more; the reason is a clause.
    pub fn get(&mut self, file: FileId) -> Result<&[u8], &str> {
        let Self { project, modules, known } = self;
        let read = || {
            let bytes = project.bytes(file).map_err(|problem| problem.what)?;
            let text = decode_as(project.file(file).kind, bytes.clone()).map_err(|problem| problem.what)?;
            if modules.is_made_of(file, &text) { Ok(bytes) } else { Err(CHANGED.to_owned()) }
        };
        known.entry(file).or_insert_with(read).as_deref().map_err(String::as_str)
    }
}

/// What is said of a file that is not any more what was analysed.
pub(super) const CHANGED: &str = "the file has changed since it was read";
