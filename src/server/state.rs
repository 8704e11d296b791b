//! What is found in a project, and what of it has to be found again after an edit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lsp_types::{Diagnostic, Uri};
use rustc_hash::FxHashSet;

use super::client::Client;
use super::difference::{Edit, carried_over};
use super::documents::Documents;
use super::nearby;
use super::said::{Said, said};
use crate::api::Library;
use crate::baseline::Baseline;
use crate::cancellation::Cancellation;
use crate::checks::CHECKS;
use crate::examine::{Examined, Ignores, Trainer, Wishes};
use crate::program::Modules;
use crate::project::{FileId, Project, Selection};

/// How much is looked at again after an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// What the changed files have most to do with.
    Nearby,
    /// Everything that the change can concern.
    Everything,
}

/// What an update takes from its surroundings.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'s> {
    pub(super) documents: &'s Documents,
    pub(super) client: Client,
    pub(super) uri: &'s dyn Fn(&Path) -> Option<Uri>,
    pub(super) cancellation: Cancellation<'s>,
}

/// A project, and what is found in it.
#[derive(Debug)]
pub(super) struct State {
    project: Project,
    modules: Modules,
    choice: Choice,
    /// The files whose findings may be others since a text has changed.
    unexamined: FxHashSet<FileId>,
    /// How everything was that had been examined, where a text has changed since.
    before: Option<Before>,
    /// What was found near a changed file last: before its changes, and after them.
    near: Vec<Near>,
    /// By file.
    said: BTreeMap<FileId, Vec<Said>>,
    trainers: Vec<Trainer>,
}

/// What of a project's configuration decides what is said.
#[derive(Debug)]
pub(super) struct Choice {
    /// The checks that run.
    pub(super) selection: Selection,
    /// What is known of libraries, if it is more than what is built in.
    pub(super) library: Option<Library>,
    /// What is known and not to be said. Which of its entries are stale only a check of everything tells.
    pub(super) baseline: Option<Baseline>,
}

/// A project as it was when everything in it had been examined.
#[derive(Debug)]
struct Before {
    project: Project,
    modules: Modules,
    /// What was said of the files that have changed since.
    said: BTreeMap<FileId, Vec<Said>>,
}

/// What some files show as if the others were not there.
#[derive(Debug)]
struct Near {
    files: FxHashSet<FileId>,
    modules: Modules,
    said: BTreeMap<FileId, Vec<Said>>,
}

impl Near {
    /// Whether it is what these files show where they are as in `modules`.
    fn is_of(&self, files: &FxHashSet<FileId>, modules: &Modules) -> bool {
        self.files == *files && files.iter().all(|&file| self.modules.is_same(modules, file))
    }
}

impl State {
    /// Examines a project; nothing if it was stopped.
    pub(super) fn of(
        project: Project,
        modules: Modules,
        choice: Choice,
        around: Surroundings<'_>,
    ) -> Option<Self> {
        let mut state = Self {
            unexamined: modules.files().collect(),
            project,
            modules,
            choice,
            before: None,
            near: Vec::new(),
            said: BTreeMap::new(),
            trainers: Vec::new(),
        };
        state.examine(around)?;
        Some(state)
    }

    /// Reads the changed texts and looks at what they concern; gives the files in which something else may be found now,
    /// or nothing if it was stopped.
    pub(super) fn update(
        &mut self,
        texts: &BTreeSet<PathBuf>,
        extent: Extent,
        around: Surroundings<'_>,
    ) -> Option<Vec<FileId>> {
        let changed = self.read(texts, around.documents);
        let nearby = match extent {
            Extent::Nearby => nearby::around(&changed, &self.modules, &self.trainers, &self.unexamined),
            Extent::Everything => None,
        };
        match nearby {
            Some(files) => self.examine_near(&files, &changed, around),
            None => self.examine(around),
        }
    }

    /// Whether all is known of the texts that were read.
    pub(super) fn is_examined(&self) -> bool {
        self.unexamined.is_empty()
    }

    /// Leaves what is not examined as it is.
    pub(super) fn give_up(&mut self) {
        self.unexamined.clear();
        self.before = None;
    }

    /// The project.
    pub(super) fn project(&self) -> &Project {
        &self.project
    }

    /// What is said of a file.
    pub(super) fn said(&self, path: &Path) -> &[Said] {
        let file = self.project.find_located(path);
        file.map_or(&[], |file| of(&self.said, file.id))
    }

    /// The programs that may run what stands in a file.
    pub(super) fn trainers_of(&self, path: &Path) -> impl Iterator<Item = &Trainer> {
        let file = self.project.find_located(path).map(|file| file.id);
        self.trainers.iter().filter(move |trainer| file.is_some_and(|file| trainer.files.contains(&file)))
    }

    /// Where the module of a file is.
    pub(super) fn module_of(&self, path: &Path) -> Option<(&Modules, FileId)> {
        Some((&self.modules, self.project.find_located(path)?.id))
    }

    /// The files in which something is found.
    pub(super) fn paths_with_findings(&self) -> impl Iterator<Item = &Path> {
        self.said.keys().map(|&file| self.project.file(file).path.as_path())
    }

    /// What is said of what was examined, by file.
    fn said_of(&self, examined: &mut Examined, around: Surroundings<'_>) -> BTreeMap<FileId, Vec<Said>> {
        if let Some(baseline) = &self.choice.baseline {
            baseline.apply(&mut examined.report);
        }
        said(examined, around.client, around.uri)
    }

    /// What decides what is said.
    pub(super) fn wishes<'s>(&'s self, selection: &'s Selection) -> Wishes<'s> {
        let config = self.project.config();
        Wishes {
            checks: CHECKS,
            library: self.choice.library.as_ref().unwrap_or(Library::builtin()),
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
        &self.choice.selection
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
        let project = std::mem::replace(&mut self.project, project);
        let modules = std::mem::replace(&mut self.modules, modules);
        let before = self.before.get_or_insert(Before { project, modules, said: BTreeMap::new() });
        for &file in &changed {
            before.said.entry(file).or_insert_with(|| of(&self.said, file).to_owned());
        }
        changed
    }

    /// Examines some files as if the others were not there, before the changes and after them, and carries the
    /// difference over to what was said of the changed files; gives these, or nothing if it was stopped.
    fn examine_near(
        &mut self,
        files: &FxHashSet<FileId>,
        changed: &[FileId],
        around: Surroundings<'_>,
    ) -> Option<Vec<FileId>> {
        let Some(edits) = self.edits(changed, around.client) else { return self.examine(around) };
        let then = self.before.as_ref().expect("it is taken down when a text changes");
        let known = std::mem::take(&mut self.near).into_iter().find(|near| near.is_of(files, &then.modules));
        let before = match known {
            Some(near) => near,
            None => self.near(files, &then.project, &then.modules, around)?,
        };
        let after = self.near(files, &self.project, &self.modules, around);
        if let Some(after) = &after {
            for (file, edit) in edits {
                let Some(uri) = (around.uri)(&self.project.file(file).path) else { continue };
                let [was, before, after] = [&then.said, &before.said, &after.said].map(|said| of(said, file));
                self.said.insert(file, carried_over(was, before, after, &edit, &uri));
            }
        }
        let is_done = after.is_some();
        self.near = [before].into_iter().chain(after).collect();
        is_done.then(|| changed.to_owned())
    }

    /// What has become of the texts of some files since everything was examined; nothing if one is lost.
    fn edits(&self, files: &[FileId], client: Client) -> Option<Vec<(FileId, Edit)>> {
        let before = self.before.as_ref()?;
        let edit = |&file: &FileId| {
            let [old, new] = [(&before.project, &before.modules), (&self.project, &self.modules)]
                .map(|(project, modules)| modules.text(project, file));
            Some((file, Edit::between(&old?, &new?, client.encoding)))
        };
        files.iter().map(edit).collect()
    }

    /// What is found in some files of a project as if the others were not there.
    fn near(
        &self,
        files: &FxHashSet<FileId>,
        project: &Project,
        modules: &Modules,
        around: Surroundings<'_>,
    ) -> Option<Near> {
        let (project, modules) = (project.clone(), modules.only(files));
        let wishes = self.wishes(self.selection());
        let mut examined = Examined::unless(project, modules, wishes, around.cancellation)?;
        let said = self.said_of(&mut examined, around);
        Some(Near { files: files.clone(), modules: examined.modules, said })
    }

    /// Examines what has not been examined since it may have changed; gives the files in which something else is found
    /// now, or nothing if it was stopped.
    fn examine(&mut self, around: Surroundings<'_>) -> Option<Vec<FileId>> {
        if self.unexamined.is_empty() {
            return Some(Vec::new());
        }
        let modules = self.modules.only(&self.unexamined);
        let wishes = self.wishes(self.selection());
        let mut examined = Examined::unless(self.project.clone(), modules, wishes, around.cancellation)?;
        self.before = None;
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
}

/// What is said of a file.
fn of(said: &BTreeMap<FileId, Vec<Said>>, file: FileId) -> &[Said] {
    said.get(&file).map_or(&[], Vec::as_slice)
}

/// What the editor is told of a file.
fn told(said: &BTreeMap<FileId, Vec<Said>>, file: FileId) -> impl Iterator<Item = &Diagnostic> {
    of(said, file).iter().map(|own| &own.diagnostic)
}
