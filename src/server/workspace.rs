//! A folder of the editor as a project: what is found in it, kept up to date edit by edit.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use lsp_types::{Diagnostic, DiagnosticSeverity};

use super::client::Client;
use super::paths::Place;
use super::places::Lines;
use super::state::{Choice, Extent, State, Surroundings};
use crate::analysis;
use crate::baseline::Baseline;
use crate::checks::RULES;
use crate::finding::SpanRange;
use crate::program::Modules;
use crate::project::{
    ConfigSource, OpenOptions, Project, ProjectError, SelectOptions, Selection, SourceFile, read_text,
};

/// What a workspace was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// A folder that is open in the editor.
    Folder(PathBuf),
    /// A document that is in none of them.
    Document(Place),
}

impl Scope {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Folder(path) => path,
            Self::Document(place) => place.path(),
        }
    }

    /// Whether the findings in a file are this workspace's to tell.
    pub(super) fn covers(&self, path: &Path) -> bool {
        match self {
            Self::Folder(folder) => path.starts_with(folder),
            Self::Document(place) => path == place.path(),
        }
    }
}

/// What has become of a workspace since it was looked at last.
#[derive(Clone, Debug, Default)]
struct Pending {
    /// The files whose texts are others.
    texts: BTreeSet<PathBuf>,
    /// Files may have come or gone, or the configuration may be another.
    files: bool,
}

/// Why nothing is known of a workspace.
#[derive(Debug)]
pub(super) enum Problem {
    /// It can't be opened.
    Project(ProjectError),
    /// A row of its configuration is wrong.
    Library(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project(error) => write!(f, "{error}\nhelp: {}", error.help()),
            Self::Library(error) => f.write_str(error),
        }
    }
}

impl Problem {
    /// The configuration that is wrong.
    fn file(&self) -> Option<&Path> {
        match self {
            Self::Project(ProjectError::Config(error)) => Some(&error.path),
            _ => None,
        }
    }

    /// What is wrong with a file, if it is this one.
    pub(super) fn in_file(&self, file: &Path, client: Client) -> Option<Diagnostic> {
        let Self::Project(ProjectError::Config(error)) = self else { return None };
        if error.path != file {
            return None;
        }
        let byte = |column: usize| {
            let chars = error.source_line.char_indices().map(|(byte, _)| byte);
            chars.chain([error.source_line.len()]).nth(column).unwrap_or(error.source_line.len())
        };
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (start, end) = (error.column - 1, error.column - 1 + error.width);
        let lines = Lines::new(&error.source_line, client.encoding);
        let mut range = lines.range(SpanRange { start: number(byte(start)), end: number(byte(end)) });
        (range.start.line, range.end.line) = (number(error.line - 1), number(error.line - 1));
        Some(Diagnostic {
            range,
            severity: Some(DiagnosticSeverity::ERROR),
            source: Some("hvdlint".to_owned()),
            message: format!("{}\nhelp: {}", error.what, error.help),
            ..Diagnostic::default()
        })
    }
}

/// A project that is kept up to date.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) scope: Scope,
    pending: Pending,
    state: Option<State>,
    /// Why it could not be opened as it is now.
    pub(super) problem: Option<Problem>,
}

/// What looking at a workspace again has come to.
#[derive(Debug)]
pub(super) enum Update {
    /// Somebody wants something else first; it remains to be done.
    Stopped,
    /// As much is known as was asked for, and what is found in these files may be different.
    Files(Vec<PathBuf>),
}

impl Workspace {
    /// A workspace that nothing is known of yet.
    pub(super) fn new(scope: Scope) -> Self {
        let pending = Pending { files: true, ..Pending::default() };
        Self { scope, pending, state: None, problem: None }
    }

    /// What is known.
    pub(super) fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// Takes down that the text of a file is another.
    pub(super) fn text_changed(&mut self, path: &Path) {
        if self.knows(path) || self.pending.files {
            self.pending.texts.insert(path.to_owned());
        }
    }

    /// Takes down that a file may be new, or gone.
    pub(super) fn file_changed(&mut self, path: &Path) {
        self.pending.files = true;
        self.pending.texts.insert(path.to_owned());
    }

    /// Takes down that files or the configuration may be others.
    pub(super) fn everything_changed(&mut self) {
        self.pending.files = true;
    }

    /// Whether the file is one of the project's.
    pub(super) fn knows(&self, path: &Path) -> bool {
        self.state.as_ref().is_some_and(|state| state.project().find_located(path).is_some())
    }

    /// Whether there is nothing to do.
    pub(super) fn is_current(&self, extent: Extent) -> bool {
        let is_examined = || self.state.as_ref().is_none_or(State::is_examined);
        !self.pending.files && self.pending.texts.is_empty() && (extent == Extent::Nearby || is_examined())
    }

    /// Gives up on what is to be done, until something changes again.
    pub(super) fn give_up(&mut self) {
        self.pending = Pending::default();
        if let Some(state) = &mut self.state {
            state.give_up();
        }
    }

    /// Looks at what has changed: only changed files are read and parsed, and at most what they can concern is
    /// examined.
    pub(super) fn update(&mut self, extent: Extent, around: Surroundings<'_>) -> Update {
        if self.pending.files || self.state.is_none() { self.open(around) } else { self.edit(extent, around) }
    }

    fn open(&mut self, around: Surroundings<'_>) -> Update {
        let mut touched: Vec<PathBuf> =
            self.state.iter().flat_map(State::paths_with_findings).map(Path::to_owned).collect();
        // What was wrong with the configuration may be mended.
        touched.extend(self.problem.as_ref().and_then(Problem::file).map(Path::to_owned));
        match self.opened(around) {
            Ok(None) => return Update::Stopped,
            Ok(Some(state)) => {
                touched.extend(state.paths_with_findings().map(Path::to_owned));
                self.state = Some(state);
                self.problem = None;
            }
            Err(problem) => {
                touched.extend(problem.file().map(Path::to_owned));
                self.problem = Some(problem);
            }
        }
        touched.extend(std::mem::take(&mut self.pending).texts);
        touched.sort_unstable();
        touched.dedup();
        Update::Files(touched)
    }

    fn opened(&self, around: Surroundings<'_>) -> Result<Option<State>, Problem> {
        let overlay = around.documents.iter();
        let options = OpenOptions {
            config: match self.scope {
                Scope::Document(Place::Untitled(_)) => ConfigSource::Isolated,
                _ => ConfigSource::Discover,
            },
            rules: RULES,
            overlay: overlay.map(|(path, document)| (path.to_owned(), document.text.to_string())).collect(),
            ..OpenOptions::default()
        };
        let project = Project::open(&[self.scope.path().to_owned()], &options).map_err(Problem::Project)?;
        let selection = Selection::new(project.config(), &SelectOptions::default(), RULES)
            .expect("no check is named besides the configuration's");
        let library = analysis::own_library(&project).map_err(|error| Problem::Library(error.to_string()))?;
        let baseline = baseline(&project)?;
        let unchanged = |file: &SourceFile| {
            let state = self.state.as_ref().filter(|_| !self.pending.texts.contains(&file.path))?;
            state.module_of(&file.path)
        };
        let modules = Modules::load_with(&project, unchanged);
        Ok(State::of(project, modules, Choice { selection, library, baseline }, around))
    }

    fn edit(&mut self, extent: Extent, around: Surroundings<'_>) -> Update {
        let state = self.state.as_mut().expect("a workspace that can't be opened is opened again");
        let files = state.update(&self.pending.texts, extent, around);
        let Some(files) = files else { return Update::Stopped };
        let mut touched: Vec<PathBuf> =
            files.into_iter().map(|file| state.project().file(file).path.clone()).collect();
        touched.extend(std::mem::take(&mut self.pending).texts);
        touched.sort_unstable();
        touched.dedup();
        Update::Files(touched)
    }
}

/// The baseline that the configuration names; one that is not written yet knows nothing.
fn baseline(project: &Project) -> Result<Option<Baseline>, Problem> {
    let Some(path) = project.config().baseline_file().filter(|path| path.exists()) else { return Ok(None) };
    let text = read_text(&path).map_err(Problem::Project)?;
    let baseline = Baseline::parse(&text, &path, path.display().to_string());
    baseline.map(Some).map_err(|error| Problem::Project(error.into()))
}
