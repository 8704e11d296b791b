//! Opening a project: from the paths that the user gave to the list of its files.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discover::{self, Search};
use super::names;
use super::root::{self, Given, GivenKind};
use super::{Config, FileId, FileKind, FileProblem, PathGlobs, Project, ProjectError, SourceFile, config};
use crate::finding::Rule;

/// Which configuration applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConfigSource {
    /// The nearest one at or above the given paths, up to the git root.
    #[default]
    Discover,
    /// This file, whatever stands nearer; the project root doesn't depend on it.
    File(PathBuf),
    /// None.
    Isolated,
}

/// The text on standard input, under the name that it is analysed as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandardInput {
    /// Need not exist; `None` is a file `<stdin>` in the current directory.
    pub filename: Option<PathBuf>,
    /// Decoded, as by [`super::decode`]. Of a notebook all that the file would hold.
    pub text: String,
}

/// How to open a project.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Which configuration applies.
    pub config: ConfigSource,
    /// The checks that a configuration can name.
    pub rules: &'static [&'static Rule],
    /// Whether excluded files stay excluded when they are named.
    pub force_exclude: bool,
    /// Whether findings are reported in the whole project, whatever the paths are.
    pub report_all: bool,
    /// What `-` among the paths stands for.
    pub stdin: Option<StandardInput>,
    /// Texts that stand in for what is on disk, by path: of a notebook all of the file. Python files that aren't on disk yet join the project.
    pub overlay: HashMap<PathBuf, String>,
    /// The folder that module names are relative to; it then is the project root.
    pub package: Option<PathBuf>,
    /// How many threads look for files; 0 leaves the choice to the machine.
    pub threads: usize,
}

impl Project {
    /// Finds the project around `paths` (the current directory where there are none) and lists its files.
    ///
    /// # Errors
    ///
    /// A path doesn't exist or can't be reached, or the configuration is wrong.
    pub fn open(paths: &[PathBuf], options: &OpenOptions) -> Result<Self, ProjectError> {
        let mut overlay = located_overlay(&options.overlay)?;
        let paths = given_paths(paths, options, &mut overlay)?;
        let mut given: Vec<Given> = paths
            .iter()
            .map(|path| Given::new(path, |path| overlay.contains_key(path)))
            .collect::<Result<_, _>>()?;
        let common = root::common_folder(&given).ok_or(ProjectError::NoCommonFolder)?;
        let git = root::git_root(&common);
        let (config, anchor) = configure(&common, git, options)?;
        let root = match &options.package {
            Some(package) => package_root(package, &given)?,
            None => anchor.as_deref().or(git).unwrap_or(&common).to_owned(),
        };
        let is_anchored = anchor.is_some() || git.is_some() || options.package.is_some();
        let search = Search {
            root: &root,
            whole_root: is_anchored || !root::is_too_wide(&root),
            in_git: git.is_some(),
            excludes: Arc::new(excludes(&config)?),
            threads: options.threads,
        };
        if options.force_exclude {
            given.retain(|given| !search.is_excluded(&given.path));
        }
        // Standard input may have the name of a file in a folder that isn't there yet.
        let mut found = if root.is_dir() { search.run(&given) } else { discover::Found::default() };
        for path in overlay.keys() {
            if path.starts_with(&root) && discover::has_python_name(path) && !search.is_excluded(path) {
                found.files.insert(path.clone());
            }
        }
        let mut problems: Vec<FileProblem> = found.problems.into_iter().collect();
        let mut located = Vec::new();
        for path in found.files {
            match discover::relative(&root, &path) {
                Some(relative) => located.push((relative, path)),
                None => problems.push(FileProblem::new(
                    path,
                    "its path is not UTF-8",
                    "rename the file or its folder",
                )),
            }
        }
        located.sort_unstable();
        problems.sort_unstable();
        let is_reported = |path: &Path| options.report_all || given.iter().any(|given| given.covers(path));
        let files = source_files(located, is_reported);
        let given = given.into_iter().map(|given| given.path).collect();
        let (notebooks, overlay) = overlay.into_iter().partition(|(path, _)| {
            files.iter().any(|file: &SourceFile| file.path == *path && file.kind == FileKind::Notebook)
        });
        let files = files.into();
        let launches = Arc::default();
        Ok(Self { root, config, files, problems, overlay, notebooks, given, launches })
    }
}

impl Given {
    fn covers(&self, path: &Path) -> bool {
        match self.kind {
            GivenKind::Folder => path.starts_with(&self.path),
            GivenKind::File => path == self.path,
        }
    }
}

fn located_overlay(overlay: &HashMap<PathBuf, String>) -> Result<BTreeMap<PathBuf, Arc<str>>, ProjectError> {
    let locate =
        |path: &PathBuf| root::locate(path).map_err(|source| ProjectError::Io { path: path.clone(), source });
    overlay.iter().map(|(path, text)| Ok((locate(path)?, text.as_str().into()))).collect()
}

/// The paths with standard input's name in place of `-`; its text goes to the overlay.
fn given_paths(
    paths: &[PathBuf],
    options: &OpenOptions,
    overlay: &mut BTreeMap<PathBuf, Arc<str>>,
) -> Result<Vec<PathBuf>, ProjectError> {
    if paths.is_empty() {
        return Ok(vec![options.package.clone().unwrap_or_else(|| PathBuf::from("."))]);
    }
    let mut given = Vec::with_capacity(paths.len());
    for path in paths {
        if path.as_os_str() == "-" {
            let stdin = options.stdin.as_ref().ok_or(ProjectError::NoStandardInput)?;
            let name = stdin.filename.clone().unwrap_or_else(|| PathBuf::from("<stdin>"));
            let located =
                root::locate(&name).map_err(|source| ProjectError::Io { path: name.clone(), source })?;
            overlay.insert(located, stdin.text.as_str().into());
            given.push(name);
        } else {
            given.push(path.clone());
        }
    }
    Ok(given)
}

/// The configuration, and the folder that finding it makes the project root.
fn configure(
    common: &Path,
    git: Option<&Path>,
    options: &OpenOptions,
) -> Result<(Config, Option<PathBuf>), ProjectError> {
    match &options.config {
        ConfigSource::Isolated => Ok((Config::default(), None)),
        ConfigSource::File(path) => Ok((config::load(path, options.rules)?, None)),
        ConfigSource::Discover => match config::discover(common, git, options.rules)? {
            None => Ok((Config::default(), None)),
            Some(config) => {
                let folder = config.origin.as_deref().and_then(Path::parent).map(Path::to_owned);
                Ok((config, folder))
            }
        },
    }
}

fn package_root(package: &Path, given: &[Given]) -> Result<PathBuf, ProjectError> {
    let root = Given::new(package, |_| false)?.path;
    match given.iter().find(|given| !given.path.starts_with(&root)) {
        Some(given) => Err(ProjectError::OutsidePackage { path: given.path.clone(), package: root }),
        None => Ok(root),
    }
}

fn excludes(config: &Config) -> Result<PathGlobs, ProjectError> {
    let patterns = config.exclude.iter().chain(&config.extend_exclude);
    Ok(PathGlobs::new(patterns.map(String::as_str))?)
}

fn source_files(located: Vec<(String, PathBuf)>, is_reported: impl Fn(&Path) -> bool) -> Vec<SourceFile> {
    let names = names::module_names(located.iter().map(|(relative, _)| relative.as_str()));
    let files = (0..).zip(located).zip(names);
    files
        .map(|((id, (relative, path)), name)| SourceFile {
            id: FileId(id),
            kind: names::kind(&relative),
            name,
            is_package: names::is_package(&relative),
            reported: is_reported(&path),
            relative,
            path,
        })
        .collect()
}
