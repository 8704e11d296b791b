//! What the programs of a project have in common that are distributed: found once, however many ask.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::answers::Answers;
use super::callback::Hook;
use super::data::fed_generators;
use super::job::Job;
use super::learning_rate::rates;
use super::names::{Api, Names};
use super::obstacles::counted::Counted;
use super::output::default_texts::DefaultTexts;
use super::output::inputs;
use super::output::left_behind::Changes;
use super::session::is_session;
use super::unstarted::Unstarted;
use crate::program::{Caller, Facts, ObjectId, Place, Program};
use crate::project::FileId;
use crate::rewrite::Moved;
use crate::semantic::{CallId, FunctionId};
use crate::syntax::TextSize;

/// What the programs that are distributed have in common.
#[derive(Debug, Default)]
pub struct Common {
    /// The files in which Horovod is started, and the module that serves there.
    pub(super) owners: FxHashMap<FileId, Api>,
    /// The stretches that tapes' blocks lose.
    pub(super) moved: Vec<Moved>,
    /// The names that new code in files uses.
    names: Mutex<FxHashMap<(FileId, Api), Names>>,
    /// What is computed from the rank's number; found when it is first asked for, as what follows.
    pub(super) rank: OnceLock<FxHashSet<Place>>,
    /// What is computed from the number of ranks.
    pub(super) size: OnceLock<FxHashSet<Place>>,
    /// The code that runs also where Horovod is not started.
    unstarted: OnceLock<Unstarted>,
    /// Where the calls end that start Horovod, by the scope whose code makes the first one.
    pub(super) starts: OnceLock<FxHashMap<Caller, TextSize>>,
    /// The calls that count something.
    counted: OnceLock<Counted>,
    /// The calls that compute a learning rate from an initial one.
    decays: OnceLock<Vec<(FileId, CallId)>>,
    /// What no path of a file is made of.
    path_ends: OnceLock<FxHashSet<Place>>,
    /// What parameters have where they are left out.
    default_texts: OnceLock<DefaultTexts>,
    /// What each function changes.
    changes: OnceLock<Changes>,
    /// The generators that libraries are fed with.
    fed_generators: OnceLock<FxHashSet<ObjectId>>,
    /// The variables that count the steps of optimizers.
    step_counters: OnceLock<FxHashSet<ObjectId>>,
    /// The values that are the same on all ranks though they are computed from what differs.
    alike: OnceLock<Answers>,
    /// The code that some program comes to.
    reached: OnceLock<FxHashSet<Caller>>,
    /// The programs that train in sessions of TensorFlow 1, by their place among all.
    session_programs: OnceLock<Vec<usize>>,
    /// What the hooks of callbacks do.
    hooks: Mutex<FxHashMap<(FileId, FunctionId), Arc<Hook>>>,
}

impl Common {
    /// What these programs have in common.
    #[must_use]
    pub fn of(jobs: &[Job<'_>]) -> Self {
        let mut owners: FxHashMap<FileId, Api> = FxHashMap::default();
        for job in jobs {
            let api = owners.entry(job.owner()).or_insert(job.api);
            if job.api == Api::Tape {
                *api = Api::Tape;
            }
        }
        Self { owners, moved: jobs.iter().flat_map(super::tape::moved).collect(), ..Self::default() }
    }

    /// The names that new code in a file uses.
    pub(super) fn names(&self, facts: &Facts<'_>, file: FileId, api: Api) -> Names {
        let mut known = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry((file, api)).or_insert_with(|| Names::new(facts, file, api)).clone()
    }

    /// The code that runs also where Horovod is not started.
    pub(super) fn unstarted(&self, facts: &Facts<'_>) -> &Unstarted {
        self.unstarted.get_or_init(|| Unstarted::of(facts))
    }

    /// The calls that count something.
    pub(super) fn counted(&self, facts: &Facts<'_>) -> &Counted {
        self.counted.get_or_init(|| Counted::of(facts))
    }

    /// The calls that compute a learning rate from an initial one.
    pub(super) fn decays(&self, facts: &Facts<'_>) -> &[(FileId, CallId)] {
        self.decays.get_or_init(|| rates::all_decays(facts))
    }

    /// What no path of a file is made of.
    pub(super) fn path_ends(&self, facts: &Facts<'_>) -> &FxHashSet<Place> {
        self.path_ends.get_or_init(|| inputs::all_path_ends(facts))
    }

    /// What parameters have where they are left out.
    pub(super) fn default_texts(&self, facts: &Facts<'_>) -> &DefaultTexts {
        self.default_texts.get_or_init(|| DefaultTexts::of(facts))
    }

    /// What each function changes.
    pub(super) fn changes(&self, facts: &Facts<'_>) -> &Changes {
        self.changes.get_or_init(|| Changes::of(facts))
    }

    /// The generators that libraries are fed with.
    pub(super) fn fed_generators(&self, facts: &Facts<'_>) -> &FxHashSet<ObjectId> {
        self.fed_generators.get_or_init(|| fed_generators::all(facts))
    }

    /// The variables that count the steps of optimizers.
    pub(super) fn step_counters(&self, facts: &Facts<'_>) -> &FxHashSet<ObjectId> {
        self.step_counters.get_or_init(|| facts.step_counters())
    }

    /// Whether values are the same on all ranks though they are computed from what differs.
    pub(super) fn alike(&self, facts: &Facts<'_>) -> &Answers {
        self.alike.get_or_init(|| Answers::none_of(facts))
    }

    /// The code that some program comes to.
    pub(super) fn reached(&self, facts: &Facts<'_>) -> &FxHashSet<Caller> {
        let all = || facts.programs.iter().flat_map(|program| &program.reached).copied().collect();
        self.reached.get_or_init(all)
    }

    /// The programs that train in sessions of TensorFlow 1.
    pub(super) fn session_programs<'f>(&self, facts: &'f Facts<'_>) -> Vec<&'f Program> {
        let all = facts.programs.iter().enumerate();
        let of_sessions = all.filter(|(_, own)| own.loops.iter().any(is_session)).map(|(place, _)| place);
        let places = self.session_programs.get_or_init(|| of_sessions.collect());
        places.iter().map(|&place| &facts.programs[place]).collect()
    }

    /// What a function does that the library calls as a hook.
    pub(super) fn hook(&self, facts: &Facts<'_>, file: FileId, function: FunctionId) -> Arc<Hook> {
        let mut hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        let hook = hooks.entry((file, function)).or_insert_with(|| Hook::of(facts, file, function).into());
        Arc::clone(hook)
    }
}
