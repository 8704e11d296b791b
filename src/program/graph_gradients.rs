//! What becomes of gradients that are taken without a tape: `tf.gradients(loss, variables)` in the graph of a session.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::elements::influenced_through_contents;
use super::loops::LoopKind;
use super::programs::Program;
use super::solver::Caller;
use super::{Facts, Place};
use crate::api::{Effect, Kind};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// The functions that take gradients in a graph.
const GRADIENTS: [&str; 2] = ["tensorflow.compat.v1.gradients", "tensorflow.gradients"];

/// The calls that change variables by the gradients that others give.
pub(super) type UsesOfGradients = FxHashMap<(FileId, CallId), Vec<(FileId, CallId)>>;

/// What of the graphs that sessions run trains: all that is made of steps and of gradients, also what containers hold.
#[derive(Debug, Default)]
pub(super) struct GraphOfTraining {
    /// The operations that update variables.
    pub(super) steps: FxHashSet<Place>,
    /// Those that need gradients which the ranks of a distributed program average.
    pub(super) averages: FxHashSet<Place>,
    /// The calls that take such gradients.
    pub(super) averaging: FxHashSet<(FileId, CallId)>,
}

impl GraphOfTraining {
    fn of(facts: &Facts<'_>) -> Self {
        // What a session gives back is no part of a graph.
        let is_run = |(file, value): Place| match facts.module(file).value(value).value {
            Value::Call(call) => {
                let receiver = facts.receiver(file, facts.module(file).call(call));
                let is = |own, kind| facts.may_be(file, own, kind);
                receiver.is_some_and(|own| is(own, Kind::Session) || is(own, Kind::MonitoredSession))
            }
            _ => false,
        };
        let made_of = |calls: &FxHashSet<(FileId, CallId)>| {
            let results = calls.iter().map(|&(file, call)| (file, facts.module(file).call(call).result));
            influenced_through_contents(facts, &results.collect::<Vec<Place>>(), is_run)
        };
        let steps = [Effect::AppliesGradients, Effect::Minimizes].into_iter();
        let steps: FxHashSet<(FileId, CallId)> = steps.flat_map(|effect| facts.calls_with(effect)).collect();
        let averages_itself = |&(file, call): &(FileId, CallId)| {
            facts.called_symbols(file, call).any(|own| {
                own.has(Effect::TakesGradients)
                    && !own.has(Effect::AppliesGradients)
                    && facts.library.acted_on_by_rules(own)
            })
        };
        let by_hand = facts.programs.iter().flat_map(|program| {
            let own = program.other_gradients.iter().copied();
            own.filter(|&taking| facts.optimizers_apply(program, taking))
        });
        let averaging: FxHashSet<(FileId, CallId)> =
            facts.calls_with(Effect::TakesGradients).filter(averages_itself).chain(by_hand).collect();
        Self { steps: made_of(&steps), averages: made_of(&averaging), averaging }
    }
}

impl Facts<'_> {
    /// The calls of a program that change variables by the gradients that a call gives; known for those that programs take without
    /// a tape, and found anew for others.
    pub fn uses_of_gradients(
        &self,
        program: &Program,
        taking: (FileId, CallId),
    ) -> impl Iterator<Item = (FileId, CallId)> {
        let find = || {
            let taking = self.programs.iter().flat_map(|program| &program.other_gradients);
            let taking: FxHashSet<(FileId, CallId)> = taking.copied().collect();
            taking.into_iter().map(|own| (own, self.find_uses_of_gradients(own))).collect()
        };
        let known: &UsesOfGradients = self.uses_of_gradients.get_or_init(find);
        let uses = known.get(&taking).cloned().unwrap_or_else(|| self.find_uses_of_gradients(taking));
        uses.into_iter().filter(|&(file, id)| {
            let scope = self.module(file).call(id).scope;
            program.reached.contains(&Caller { file, scope })
        })
    }

    /// The same calls of all programs, file by file.
    fn find_uses_of_gradients(&self, (file, call): (FileId, CallId)) -> Vec<(FileId, CallId)> {
        let taken = (file, self.module(file).call(call).result);
        // Gradients of a loss that is computed with others are new ones.
        let is_new = |place: Place| self.gives(place, &[Effect::TakesGradients]);
        let mut depends = self.influence().forwards(&[taken], is_new);
        depends.retain(|&place| place == taken || !is_new(place));
        let files: BTreeSet<FileId> = depends.iter().map(|&(file, _)| file).collect();
        let calls = files
            .into_iter()
            .flat_map(|file| (0..self.module(file).calls.len()).map(move |index| (file, CallId::new(index))));
        let is_use = |&(file, id): &(FileId, CallId)| {
            let mut given = self.module(file).call(id).arguments.iter();
            given.any(|argument| depends.contains(&(file, argument.value)))
                && self.changes_variables(file, id)
        };
        calls.filter(is_use).collect()
    }

    /// Whether a call gives variables new values: an optimizer's step, `assign_sub`.
    fn changes_variables(&self, file: FileId, id: CallId) -> bool {
        let call = self.module(file).call(id);
        let target = self.receiver(file, call).filter(|&own| self.may_be(file, own, Kind::Variable));
        let target = target.or_else(|| call.arguments.first().map(|argument| argument.value));
        self.called_symbols(file, id).any(|symbol| {
            let updates = symbol.has(Effect::UpdatesState)
                && target.is_some_and(|target| self.may_be(file, target, Kind::Variable));
            // What `minimize` is given is a loss, of which it takes the gradients itself: those of a penalty are a part of it.
            symbol.has(Effect::AppliesGradients) && !symbol.has(Effect::Minimizes) || updates
        })
    }

    /// What of the graphs that sessions run trains.
    pub(super) fn graph_of_training(&self) -> &GraphOfTraining {
        self.graph_of_training.get_or_init(|| GraphOfTraining::of(self))
    }

    /// Whether a value may be, or hold, an operation of a graph that makes a step, or needs averaged gradients.
    #[must_use]
    pub fn may_be_of_step(&self, place: Place) -> bool {
        let graph = self.graph_of_training();
        graph.steps.contains(&place) || graph.averages.contains(&place)
    }

    /// Whether a call takes gradients in the graph of a program that trains in sessions, all uses of which that train are
    /// steps of optimizers. Of gradients that also make a loss no others may be taken.
    #[must_use]
    pub fn optimizers_apply(&self, program: &Program, (file, call): (FileId, CallId)) -> bool {
        let in_session = |kind| matches!(kind, LoopKind::Session | LoopKind::MonitoredSession);
        let gradients = GRADIENTS.map(|name| self.library.lookup(name));
        if !program.loops.iter().any(|own| in_session(own.kind))
            || !self.called_symbols(file, call).any(|symbol| gradients.contains(&Some(symbol)))
        {
            return false;
        }
        let uses: Vec<_> = self.uses_of_gradients(program, (file, call)).collect();
        let is_step = |&(file, id): &(FileId, CallId)| {
            let receiver = self.receiver(file, self.module(file).call(id));
            receiver.is_some_and(|own| self.may_be(file, own, Kind::Optimizer))
        };
        let taken = (file, self.module(file).call(call).result);
        let is_new = |place: Place| place != taken && self.gives(place, &[Effect::TakesGradients]);
        !uses.is_empty()
            && uses.iter().all(is_step)
            && !self.influence().list_forwards(&[taken], is_new).into_iter().any(is_new)
    }
}
