//! The configuration: what a project says about how it wants to be checked.
//!
//! It stands in `hvdlint.toml`, or in `pyproject.toml` under `[tool.hvdlint]`. A mistake in it is an error that shows
//! the line and says what was probably meant.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{PathGlobs, ProjectError, Selector};
use crate::finding::{Confidence, Level, Rule};

mod error;
mod keys;
mod read;
mod schema;
mod write;

pub use error::ConfigError;
pub use keys::{KEYS, Key, Shape};
pub use schema::schema;

/// A project's wishes. [`Config::default`] is that of a project that has none.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file that it was read from.
    pub origin: Option<PathBuf>,
    /// The checks that run; all where it is missing.
    pub select: Option<Vec<Selector>>,
    /// The checks that don't.
    pub ignore: Vec<Selector>,
    /// Checks that run in addition.
    pub extend_select: Vec<Selector>,
    /// Levels other than the checks' own.
    pub levels: Vec<(Selector, LevelSetting)>,
    /// Whether every restriction holds to the letter.
    pub strict: bool,
    /// The least confidence of a finding that is reported.
    pub confidence: Confidence,
    /// Path patterns of files and folders that are left out.
    pub exclude: Vec<String>,
    /// More of them.
    pub extend_exclude: Vec<String>,
    /// Checks whose findings in some files aren't reported.
    pub per_file_ignores: Vec<PerFileIgnore>,
    /// The modules that own training loops, as dotted names or paths.
    pub entry: Vec<String>,
    /// What the programs are distributed with.
    pub framework: Framework,
    /// What third-party names are.
    pub api: Vec<ApiRow>,
    /// The file of known findings, as written: relative to the configuration's folder.
    pub baseline: Option<PathBuf>,
    /// The keys that the configuration has.
    pub given: BTreeSet<String>,
}

/// Folders that hold no code of the project's own. Hidden ones are left out anyway.
const DEFAULT_EXCLUDE: [&str; 10] = [
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
    "*.egg-info",
];

impl Default for Config {
    fn default() -> Self {
        Self {
            origin: None,
            select: None,
            ignore: Vec::new(),
            extend_select: Vec::new(),
            levels: Vec::new(),
            strict: false,
            confidence: Confidence::Certain,
            exclude: DEFAULT_EXCLUDE.map(str::to_owned).to_vec(),
            extend_exclude: Vec::new(),
            per_file_ignores: Vec::new(),
            entry: Vec::new(),
            framework: Framework::Horovod,
            api: Vec::new(),
            baseline: None,
            given: BTreeSet::new(),
        }
    }
}

/// A check's level as the configuration sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelSetting {
    /// The check doesn't run.
    Off,
    /// Its findings have this level.
    At(Level),
}

impl LevelSetting {
    /// The level, unless it is off.
    #[must_use]
    pub fn level(self) -> Option<Level> {
        match self {
            Self::Off => None,
            Self::At(level) => Some(level),
        }
    }
}

/// Files and the checks that don't concern them.
#[derive(Clone, Debug)]
pub struct PerFileIgnore {
    /// The path pattern as written.
    pub pattern: String,
    /// The pattern, compiled.
    pub globs: PathGlobs,
    /// What isn't reported there.
    pub checks: Vec<Selector>,
}

/// A library that distributes training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framework {
    /// Horovod, the only one so far.
    #[default]
    Horovod,
}

/// What a third-party name is, for programs that use more than TensorFlow, Keras and Horovod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiRow {
    /// Qualified name, such as `tensorflow_addons.optimizers.LAMB`.
    pub name: String,
    /// What calling it means.
    pub kind: ApiKind,
    /// Qualified name of the class that it extends.
    pub base: Option<String>,
    /// Qualified name of the class of what it returns.
    pub returns: Option<String>,
    /// The names of its positional parameters.
    pub parameters: Vec<String>,
    /// Where the row stands, for what turns out to be wrong with it.
    pub place: ConfigError,
}

/// The kinds of things that the analysis knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiKind {
    /// Makes an optimizer.
    Optimizer,
    /// Makes a model.
    Model,
    /// Makes a dataset.
    Dataset,
    /// Makes a Keras callback.
    Callback,
    /// Must be called by every rank.
    Collective,
    /// Writes a file.
    FileWriter,
}

impl Config {
    /// Reads the text of a configuration. `path` tells which kind it is: in a file named `pyproject.toml` the table
    /// `[tool.hvdlint]` counts (the defaults where there is none), in any other the whole file.
    ///
    /// # Errors
    ///
    /// The first mistake, with its place.
    pub fn parse(text: &str, path: &Path, rules: &[&'static Rule]) -> Result<Self, ConfigError> {
        Ok(read::read(text, path, rules)?.unwrap_or_default())
    }

    /// Where the file of known findings is, if the configuration names one.
    #[must_use]
    pub fn baseline_file(&self) -> Option<PathBuf> {
        let folder = self.origin.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        self.baseline.as_deref().map(|file| folder.join(file))
    }
}

/// The configuration in the file that `--config` names.
pub(super) fn load(path: &Path, rules: &[&'static Rule]) -> Result<Config, ProjectError> {
    Ok(Config { origin: Some(path.to_owned()), ..Config::parse(&text(path)?, path, rules)? })
}

/// The nearest configuration at or above `folder`, not above the git root.
pub(super) fn discover(
    folder: &Path,
    git_root: Option<&Path>,
    rules: &[&'static Rule],
) -> Result<Option<Config>, ProjectError> {
    for folder in folder.ancestors() {
        for name in ["hvdlint.toml", "pyproject.toml"] {
            let path = folder.join(name);
            if !path.is_file() {
                continue;
            }
            if let Some(config) = read::read(&text(&path)?, &path, rules)? {
                return Ok(Some(Config { origin: Some(path), ..config }));
            }
        }
        if Some(folder) == git_root {
            break;
        }
    }
    Ok(None)
}

/// The text of a file that is not a part of the project.
///
/// # Errors
///
/// It is missing, can't be read, or is not UTF-8.
pub fn text(path: &Path) -> Result<String, ProjectError> {
    let bytes = fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ProjectError::NotFound(path.into()),
        _ => ProjectError::Io { path: path.into(), source },
    })?;
    super::decode(bytes).map_err(|problem| {
        let at = problem.offset..problem.offset;
        let help = "save the file as UTF-8";
        ConfigError::new(path, &problem.text, at, "the file is not UTF-8", help).into()
    })
}
