//! A folder of the editor as a project: what is found in it, kept up to date edit by edit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use lsp_types::{Diagnostic, DiagnosticSeverity, Uri};
use rustc_hash::FxHashSet;

use super::client::Client;
use super::documents::Documents;
use super::paths::Place;
use super::places::Lines;
use super::said::{Said, said};
use crate::analysis;
use crate::api::Library;
use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::checks::{CHECKS, RULES};
use crate::examine::{Examined, Ignores, Trainer, Wishes};
use crate::finding::SpanRange;
use crate::program::Modules;
use crate::project::{
    ConfigSource, FileId, OpenOptions, Project, ProjectError, SelectOptions, Selection, SourceFile, read_text,
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

/// A project, and what is found in it.
#[derive(Debug)]
pub(super) struct State {
    project: Project,
    modules: Modules,
    selection: Selection,
    library: Option<Library>,
    /// The files whose findings may be others since a text has changed.
    unexamined: FxHashSet<FileId>,
    /// What is known and not to be said. Which of its entries are stale only a check of everything tells.
    baseline: Option<Baseline>,
    /// By file.
    said: BTreeMap<FileId, Vec<Said>>,
    trainers: Vec<Trainer>,
}

/// How much is looked at again after an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// What tells most of what is found in the changed files: the programs that run them.
    OwnPrograms,
    /// Everything that the change can concern.
    Everything,
}

/// What looking at a workspace again has come to.
#[derive(Debug)]
pub(super) enum Update {
    /// Somebody wants something else first; it remains to be done.
    Stopped,
    /// As much is known as was asked for, and what is found in these files may be different.
    Files(Vec<PathBuf>),
}

/// What an update takes from its surroundings.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'s> {
    pub(super) documents: &'s Documents,
    pub(super) client: Client,
    pub(super) uri: &'s dyn Fn(&Path) -> Option<Uri>,
    pub(super) cancellation: Cancellation<'s>,
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
        self.state.as_ref().is_some_and(|state| state.project.find_located(path).is_some())
    }

    /// Whether there is nothing to do.
    pub(super) fn is_current(&self, extent: Extent) -> bool {
        let is_examined = || self.state.as_ref().is_none_or(|state| state.unexamined.is_empty());
        !self.pending.files
            && self.pending.texts.is_empty()
            && (extent == Extent::OwnPrograms || is_examined())
    }

    /// Gives up on what is to be done, until something changes again.
    pub(super) fn give_up(&mut self) {
        self.pending = Pending::default();
        if let Some(state) = &mut self.state {
            state.unexamined.clear();
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
        let before = self.state.as_ref().map(|state| (&state.project, &state.modules));
        let unchanged = |file: &SourceFile| {
            let (project, modules) = before.filter(|_| !self.pending.texts.contains(&file.path))?;
            Some((modules, project.find_located(&file.path)?.id))
        };
        let modules = Modules::load_with(&project, unchanged);
        let (said, trainers, unexamined) = (BTreeMap::new(), Vec::new(), FxHashSet::default());
        let state = State { project, modules, selection, library, unexamined, baseline, said, trainers };
        let Some(mut examined) = Examined::unless(
            state.project.clone(),
            state.modules.clone(),
            state.wishes(&state.selection),
            around.cancellation,
        ) else {
            return Ok(None);
        };
        let said = state.said_of(&mut examined, around);
        Ok(Some(State { said, trainers: examined.trainers, ..state }))
    }

    fn edit(&mut self, extent: Extent, around: Surroundings<'_>) -> Update {
        let state = self.state.as_mut().expect("a workspace that can't be opened is opened again");
        let changed = state.read(&self.pending.texts, around.documents);
        let own_programs = match extent {
            Extent::OwnPrograms => state.own_programs(&changed),
            Extent::Everything => None,
        };
        let files = match own_programs {
            Some(files) => state.examine_in(&files, &changed, around),
            None => state.examine(around),
        };
        let Some(files) = files else { return Update::Stopped };
        let mut touched: Vec<PathBuf> =
            files.into_iter().map(|file| state.project.file(file).path.clone()).collect();
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

impl State {
    /// The project.
    pub(super) fn project(&self) -> &Project {
        &self.project
    }

    /// What is said of a file.
    pub(super) fn said(&self, path: &Path) -> &[Said] {
        let file = self.project.find_located(path);
        file.and_then(|file| self.said.get(&file.id)).map_or(&[], Vec::as_slice)
    }

    /// The programs that may run what stands in a file.
    pub(super) fn trainers_of(&self, path: &Path) -> impl Iterator<Item = &Trainer> {
        let file = self.project.find_located(path).map(|file| file.id);
        self.trainers.iter().filter(move |trainer| file.is_some_and(|file| trainer.files.contains(&file)))
    }

    fn paths_with_findings(&self) -> impl Iterator<Item = &Path> {
        self.said.keys().map(|&file| self.project.file(file).path.as_path())
    }

    /// What is said of what was examined, by file.
    fn said_of(&self, examined: &mut Examined, around: Surroundings<'_>) -> BTreeMap<FileId, Vec<Said>> {
        if let Some(baseline) = &self.baseline {
            baseline.apply(&mut examined.report);
        }
        said(examined, around.client, around.uri)
    }

    /// What decides what is said.
    pub(super) fn wishes<'s>(&'s self, selection: &'s Selection) -> Wishes<'s> {
        let config = self.project.config();
        Wishes {
            checks: CHECKS,
            library: self.library.as_ref().unwrap_or(Library::builtin()),
            selection,
            strict: config.strict,
            confidence: config.confidence,
            ignores: Ignores::Obeyed,
            baseline: None,
            progress: None,
        }
    }

    /// The checks that run.
    pub(super) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// What can have to do with a file, examined again; findings are reported in `project`'s files.
    pub(super) fn around(&self, file: FileId, project: Project, selection: &Selection) -> Examined {
        let files = self.modules.components.around([file]);
        Examined::of(project, self.modules.only(&files), self.wishes(selection))
    }

    /// Reads the changed texts; gives their files.
    fn read(&mut self, texts: &BTreeSet<PathBuf>, documents: &Documents) -> Vec<FileId> {
        let changed: Vec<FileId> =
            texts.iter().filter_map(|path| Some(self.project.find_located(path)?.id)).collect();
        if changed.is_empty() {
            return changed;
        }
        let (mut open, mut closed) = (BTreeMap::new(), Vec::new());
        for &file in &changed {
            match documents.get(&self.project.file(file).path) {
                Some(document) => drop(open.insert(file, document.text.clone())),
                None => closed.push(file),
            }
        }
        let project = self.project.with_texts(&open).without_texts(&closed);
        let modules = self.modules.read_again(&project, &changed);
        if modules.capacity == self.modules.capacity {
            self.unexamined.extend(self.modules.components.around(changed.iter().copied()));
            self.unexamined.extend(modules.components.around(changed.iter().copied()));
        } else {
            self.unexamined.extend(modules.files());
        }
        (self.project, self.modules) = (project, modules);
        changed
    }

    /// The files of the programs that run the changed files, and all that they import; nothing where no program runs
    /// one of them, or where most of the work would have to be done for them anyway.
    fn own_programs(&self, changed: &[FileId]) -> Option<FxHashSet<FileId>> {
        let concerned = self.trainers.iter().filter(|trainer| self.unexamined.contains(&trainer.entry));
        let all: Vec<&Trainer> = concerned.collect();
        let runs = |trainer: &&Trainer| changed.iter().any(|file| trainer.files.contains(file));
        let own: Vec<&Trainer> = all.iter().copied().filter(runs).collect();
        let is_run = |file| own.iter().any(|trainer| trainer.files.contains(file));
        let files = self.modules.with_imported(own.iter().flat_map(|trainer| &trainer.files).copied());
        // Value flow looks at each file once, and the rest at what each program runs.
        let work = |files: &FxHashSet<FileId>, programs: &[&Trainer]| {
            files.len() + programs.iter().map(|trainer| trainer.files.len()).sum::<usize>()
        };
        let is_less = || work(&files, &own) < work(&self.unexamined, &all) / 2;
        (changed.iter().all(is_run) && is_less()).then_some(files)
    }

    /// Examines some files by themselves, and says what is found in the changed ones of them; gives these, or nothing
    /// if it was stopped.
    fn examine_in(
        &mut self,
        files: &FxHashSet<FileId>,
        changed: &[FileId],
        around: Surroundings<'_>,
    ) -> Option<Vec<FileId>> {
        let mut examined = self.examined(files, around)?;
        let mut said = self.said_of(&mut examined, around);
        for file in changed {
            self.said.remove(file);
            self.said.extend(said.remove_entry(file));
        }
        Some(changed.to_owned())
    }

    /// Examines what has not been examined since it may have changed; gives the files in which something else is found
    /// now, or nothing if it was stopped.
    fn examine(&mut self, around: Surroundings<'_>) -> Option<Vec<FileId>> {
        if self.unexamined.is_empty() {
            return Some(Vec::new());
        }
        let mut examined = self.examined(&self.unexamined, around)?;
        let files = std::mem::take(&mut self.unexamined);
        let (before, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.said).into_iter().partition(|(file, _)| files.contains(file));
        let now = self.said_of(&mut examined, around);
        let is_other = |file: &FileId| !told(&before, *file).eq(told(&now, *file));
        let touched = before.keys().chain(now.keys()).copied().filter(is_other).collect();
        self.said = others.into_iter().chain(now).collect();
        self.trainers.retain(|trainer| !files.contains(&trainer.entry));
        self.trainers.extend(examined.trainers);
        Some(touched)
    }

    /// What is found in some files as if the others were empty.
    fn examined(&self, files: &FxHashSet<FileId>, around: Surroundings<'_>) -> Option<Examined> {
        let modules = self.modules.only(files);
        Examined::unless(self.project.clone(), modules, self.wishes(&self.selection), around.cancellation)
    }
}

/// What the editor is told of a file.
fn told(said: &BTreeMap<FileId, Vec<Said>>, file: FileId) -> impl Iterator<Item = &Diagnostic> {
    said.get(&file).into_iter().flatten().map(|own| &own.diagnostic)
}
