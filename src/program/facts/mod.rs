//! The facts of a project that checks and reports ask for, over value flow and the call graph.

mod calls;
mod conditions;
mod files;
mod objects;
mod opened;

pub use conditions::Condition;
pub use objects::Creation;
pub use opened::writes_by_mode;

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::contents::Contents;
use super::effects::Effects;
use super::first_calls::CallsOfLayers;
use super::graph_gradients::{GraphOfTraining, UsesOfGradients};
use super::hierarchy::{Hierarchy, Resolver};
use super::influence::{Influence, Place};
use super::makings::Makings;
use super::modules::Modules;
use super::object::ObjectId;
use super::programs::Program;
use super::repetition::Repetition;
use super::solver::{Caller, Solution, View, solve};
use super::tracing::Tracing;
use super::training_sessions::Initialisers;
use super::travel::Travel;
use crate::api::Library;
use crate::finding::Location;
use crate::project::FileId;
use crate::semantic::{ControlDependence, Module, ScopeId};
use crate::syntax::TextRange;
use calls::CallIndex;
use files::Reach;
use objects::Classification;

/// Everything that is known of a project.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The modules.
    pub modules: &'a Modules,
    /// Classes and bases.
    pub hierarchy: &'a Hierarchy,
    /// What libraries export.
    pub library: &'a Library,
    /// Value flow.
    pub solution: Solution<'a>,
    /// Files of training programs: what uses TensorFlow, Keras or Horovod, and what such a file reaches.
    pub concerned: FxHashSet<FileId>,
    /// Where optimizers, datasets, models, checkpoints and the like are made, in source order.
    pub creations: Vec<Creation>,
    /// The programs, by their entry's path.
    pub programs: Vec<Program>,
    objects: Classification<'a>,
    creation_of: FxHashMap<ObjectId, usize>,
    files: Reach,
    training: OnceLock<FxHashSet<FileId>>,
    calls: CallIndex,
    influence: OnceLock<Influence>,
    contents: OnceLock<Contents>,
    travel: OnceLock<Travel>,
    pub(super) averaged: OnceLock<FxHashSet<Place>>,
    pub(super) graph_of_training: OnceLock<GraphOfTraining>,
    pub(super) uses_of_gradients: OnceLock<UsesOfGradients>,
    pub(super) changed_by_name: OnceLock<FxHashSet<ObjectId>>,
    pub(super) makings: OnceLock<Makings>,
    pub(super) operations: OnceLock<Makings>,
    pub(super) calls_of_layers: OnceLock<CallsOfLayers>,
    pub(super) replaced_members: OnceLock<FxHashSet<String>>,
    pub(super) tracing: OnceLock<Tracing>,
    pub(super) varying: OnceLock<FxHashMap<Place, Place>>,
    pub(super) initialisers: OnceLock<Initialisers>,
    /// For each scope who decides whether its blocks run.
    control: Vec<OnceLock<ControlDependence>>,
    repetition: Repetition,
    effects: Effects,
}

impl<'a> Facts<'a> {
    /// Derives the facts from the modules and what flows between them. `entries` names the modules that own
    /// training loops, by dotted name or path, where the analysis should not guess.
    #[must_use]
    pub fn new(
        modules: &'a Modules,
        hierarchy: &'a Hierarchy,
        library: &'a Library,
        entries: &[String],
    ) -> Self {
        let solution = solve(modules, hierarchy, library, View::Runs);
        let calls = CallIndex::new(modules, &solution);
        let objects = Classification::new(modules, hierarchy, library, &solution);
        let mut facts = Self {
            modules,
            hierarchy,
            library,
            solution,
            concerned: FxHashSet::default(),
            creations: Vec::new(),
            programs: Vec::new(),
            objects,
            creation_of: FxHashMap::default(),
            files: Reach::default(),
            training: OnceLock::new(),
            control: std::iter::repeat_with(OnceLock::new).take(calls.scopes.count()).collect(),
            calls,
            influence: OnceLock::new(),
            contents: OnceLock::new(),
            travel: OnceLock::new(),
            initialisers: OnceLock::new(),
            averaged: OnceLock::new(),
            graph_of_training: OnceLock::new(),
            uses_of_gradients: OnceLock::new(),
            changed_by_name: OnceLock::new(),
            makings: OnceLock::new(),
            operations: OnceLock::new(),
            calls_of_layers: OnceLock::new(),
            replaced_members: OnceLock::new(),
            tracing: OnceLock::new(),
            varying: OnceLock::new(),
            repetition: Repetition::default(),
            effects: Effects::default(),
        };
        facts.files = facts.find_reach();
        facts.concerned = facts.find_concerned();
        facts.creations = facts.find_creations();
        facts.creation_of =
            facts.creations.iter().enumerate().map(|(index, creation)| (creation.object, index)).collect();
        facts.effects = Effects::new(&facts);
        facts.programs = super::programs::find(&facts, entries);
        facts.repetition = Repetition::new(&facts);
        facts
    }

    // ---- places ----

    /// The module of a file.
    #[must_use]
    pub fn module(&self, file: FileId) -> &'a Module {
        self.modules.get(file)
    }

    /// The files of training programs, in order.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.modules.files().filter(|file| self.concerned.contains(file))
    }

    /// The scopes of these files.
    pub fn scopes(&self) -> impl Iterator<Item = Caller> + '_ {
        self.files().flat_map(|file| {
            (0..self.module(file).scopes.len()).map(move |index| Caller { file, scope: ScopeId::new(index) })
        })
    }

    /// A place in a file.
    #[must_use]
    pub fn location(&self, file: FileId, range: TextRange) -> Location {
        Location::new(file, range)
    }

    /// The qualified name of a scope within its module; empty for the module.
    #[must_use]
    pub fn scope_name(&self, caller: Caller) -> &'a str {
        &self.module(caller.file).scope(caller.scope).qualified_name
    }

    /// The static reader of names, for what value flow need not decide.
    #[must_use]
    pub fn resolver(&self) -> Resolver<'a> {
        Resolver { modules: self.modules, library: self.library }
    }

    /// Which values depend on which; found when it is first asked for.
    #[must_use]
    pub fn influence(&self) -> &Influence {
        self.influence.get_or_init(|| Influence::new(self))
    }

    /// What containers hold; found when it is first asked for.
    #[must_use]
    pub fn contents(&self) -> &Contents {
        self.contents.get_or_init(|| Contents::new(self))
    }

    /// Where functions go as values; found when it is first asked for.
    #[must_use]
    pub fn travel(&self) -> &Travel {
        self.travel.get_or_init(|| Travel::new(self))
    }

    /// How often a scope's code may run in one run of a program.
    #[must_use]
    pub fn repetition(&self) -> &Repetition {
        &self.repetition
    }

    /// What calls do besides returning a value.
    #[must_use]
    pub fn effects(&self) -> &Effects {
        &self.effects
    }
}
