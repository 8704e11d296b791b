//! What can go wrong with a project: an error ends the run, a problem costs one file.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::config::ConfigError;
use super::globs::GlobProblem;

/// Why a project can't be opened.
#[derive(Debug, Error)]
pub enum ProjectError {
    /// A given path isn't there.
    #[error("`{}` doesn't exist", .0.display())]
    NotFound(PathBuf),
    /// The operating system refused.
    #[error("can't read `{}`: {source}", path.display())]
    Io {
        /// What was asked for.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// `-` stands among the paths, and the caller has no text for it.
    #[error("`-` stands for standard input, which can't be read here")]
    NoStandardInput,
    /// The paths are on different drives.
    #[error("the paths have no folder in common")]
    NoCommonFolder,
    /// A path isn't under the folder that module names are relative to.
    #[error("`{}` is outside of the package folder `{}`", path.display(), package.display())]
    OutsidePackage {
        /// The given path.
        path: PathBuf,
        /// The given package folder.
        package: PathBuf,
    },
    /// Nothing to analyse.
    #[error("there is no Python file in {}", list(.0))]
    NoPythonFile(Vec<PathBuf>),
    /// The excludes, each of them valid, are too much together.
    #[error(transparent)]
    Exclude(#[from] GlobProblem),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl ProjectError {
    /// What to do about it, in the imperative.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NotFound(_) => "check the spelling; paths are relative to the current directory".into(),
            Self::Io { .. } => "check the permissions of the file and of its folder".into(),
            Self::NoStandardInput => "give the path of a file or folder".into(),
            Self::NoCommonFolder => "run once for each drive".into(),
            Self::OutsidePackage { .. } => {
                "give paths inside of the package folder, or a folder above both".into()
            }
            Self::NoPythonFile(_) => {
                "give a folder with `.py` files; hidden, excluded and git-ignored files are only \
                 analysed when they are named"
                    .into()
            }
            Self::Exclude(_) => "exclude fewer or simpler patterns".into(),
            Self::Config(error) => error.help.clone(),
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().take(3).map(|path| format!("`{}`", path.display())).collect();
    let more = paths.len() - names.len();
    if more == 0 { names.join(", ") } else { format!("{} and {more} more paths", names.join(", ")) }
}

/// What is wrong with one file or folder; the rest of the project is still analysed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileProblem {
    /// The file or folder.
    pub path: PathBuf,
    /// One lower-case clause about it.
    pub what: String,
    /// What to do, in the imperative.
    pub help: String,
    /// Where the content is at fault: a byte offset into the text of [`super::Project::document`]. Such a file is a
    /// finding (`invalid-syntax`); without an offset the file could not be had at all.
    pub offset: Option<usize>,
}

impl FileProblem {
    /// A problem of the file itself rather than of its content.
    pub(super) fn new(path: impl Into<PathBuf>, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { path: path.into(), what: what.into(), help: help.into(), offset: None }
    }
}
