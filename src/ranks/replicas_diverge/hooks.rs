//! Hooks that broadcast all variables: of sessions, when the session begins, `hvd.BroadcastGlobalVariablesHook(0)`; of
//! callbacks, which `fit` is given or where a list of them is told by hand what happens,
//! `callbacks.on_train_batch_end(number)`.

use rustc_hash::FxHashSet;

use super::super::callbacks;
use super::super::wrong_horovod_module::is_of_missing;
use super::Replicas;
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Caller, Object, ObjectId, Place, Program};
use crate::project::FileId;
use crate::semantic::{CallId, Passing};

/// The parameter of sessions and estimators that takes hooks.
const HOOKS: &str = "hooks";

/// The class whose objects give each hook to all of their callbacks.
pub(super) const LIST: &str = "tensorflow.keras.callbacks.CallbackList";

impl Replicas<'_, '_> {
    /// Whether a call makes such a hook or is given one.
    pub(super) fn has_hook_that_broadcasts(&self, file: FileId, id: CallId, symbol: &Symbol) -> bool {
        let facts = self.model.facts;
        let broadcasts = |class: &Symbol| {
            class.is_class()
                && facts.library.kind_of_class(class) == Kind::Hook
                && facts.library.member_effects(class).contains(Effect::Broadcasts)
        };
        if broadcasts(symbol) {
            return true;
        }
        let Some(hooks) = facts.argument(file, facts.module(file).call(id), symbol, HOOKS) else {
            return false;
        };
        let behind = facts.influence().backwards(&[(file, hooks.value)], |_| false);
        behind.into_iter().any(|(file, value)| {
            let mut objects = facts.objects(file, value);
            objects.any(|(_, object)| facts.symbol(object).is_some_and(broadcasts))
        })
    }

    /// Whether a call of a list of callbacks runs a hook of one that broadcasts, as far as that can be told.
    pub(super) fn runs_callback_that_broadcasts(&self, file: FileId, id: CallId, hook: &Symbol) -> bool {
        let facts = self.model.facts;
        let broadcasts = |class: &Symbol| {
            let own = facts.library.member(class, hook.last_name());
            class.is_class() && own.is_some_and(|own| own.has(Effect::Broadcasts))
        };
        self.callbacks_of_list(file, id).into_iter().any(|object| {
            let is_of_library = facts.symbol(facts.solution.object(object)).is_some_and(broadcasts);
            is_of_library || callbacks::broadcasts(self.model, object)
        })
    }

    /// What is in the list of callbacks that a call is a method of; nothing if it is of something else.
    fn callbacks_of_list(&self, file: FileId, id: CallId) -> FxHashSet<ObjectId> {
        let facts = self.model.facts;
        let is_list = |object| facts.symbol(object).is_some_and(|own| Some(own) == self.list_of_callbacks);
        match facts.receiver(file, facts.module(file).call(id)) {
            Some(receiver) if facts.objects(file, receiver).any(|(_, object)| is_list(object)) => {
                self.objects_of(facts.influence().backwards(&[(file, receiver)], |_| false))
            }
            _ => FxHashSet::default(),
        }
    }

    /// Whether a call of a callback may broadcast though its hook does not: `on_train_begin` did so in the times of
    /// TensorFlow 1, whose programs make sessions. Also one in a list that is called.
    pub(super) fn broadcasts_of_old(&self, file: FileId, id: CallId) -> bool {
        let facts = self.model.facts;
        let Some(receiver) = facts.receiver(file, facts.module(file).call(id)) else { return false };
        let broadcasts = |id: ObjectId| {
            let object = facts.solution.object(id);
            let class = facts.symbol(object).filter(|_| facts.kind(id) == Some(Kind::Callback));
            class.is_some_and(|class| facts.library.hook_effects(class).contains(Effect::Broadcasts))
        };
        let is_run = |program: &&Program, file, call| {
            program.reached.contains(&Caller { file, scope: facts.module(file).call(call).scope })
        };
        let makes_session = |program: &&Program| {
            let mut sessions = facts.creations.iter().filter(|own| own.kind == Kind::Session);
            is_run(program, file, id) && sessions.any(|own| is_run(program, own.file, own.call))
        };
        let own = facts.objects(file, receiver).map(|(id, _)| id).chain(self.callbacks_of_list(file, id));
        own.into_iter().any(broadcasts) && self.model.programs.iter().any(makes_session)
    }

    /// What is put into these lists at other places: `self.callbacks.append(...)`.
    fn kept_in(&self, lists: &[Place]) -> Vec<Place> {
        let facts = self.model.facts;
        let containers_of = |(file, value): Place| {
            let objects = facts.objects(file, value);
            objects.filter(|(_, object)| matches!(object, Object::Container(..))).map(|(id, _)| id)
        };
        let containers: FxHashSet<ObjectId> = lists.iter().copied().flat_map(containers_of).collect();
        let mut found = Vec::new();
        for &file in self.model.files.iter().filter(|_| !containers.is_empty()) {
            for call in &facts.module(file).calls {
                let Some(receiver) = facts.receiver(file, call) else { continue };
                if containers_of((file, receiver)).any(|own| containers.contains(&own)) {
                    found.extend(call.arguments.iter().map(|argument| (file, argument.value)));
                }
            }
        }
        found
    }

    /// Whether a step is of a model that one of its callbacks broadcasts, or may broadcast.
    pub(super) fn is_broadcast_by_callback(&mut self, file: FileId, id: CallId) -> bool {
        if let Some(&known) = self.broadcast_steps.get(&(file, id)) {
            return known;
        }
        let is_broadcast = self.has_callback_that_broadcasts(file, id);
        self.broadcast_steps.insert((file, id), is_broadcast);
        is_broadcast
    }

    fn has_callback_that_broadcasts(&self, file: FileId, id: CallId) -> bool {
        let facts = self.model.facts;
        let call = facts.module(file).call(id);
        let given =
            facts.called_symbols(file, id).find_map(|symbol| facts.argument(file, call, symbol, "callbacks"));
        let spread =
            call.arguments.iter().filter(|own| matches!(own.passing, Passing::Spread | Passing::Merge));
        let given: Vec<Place> =
            given.into_iter().chain(spread).map(|argument| (file, argument.value)).collect();
        // One of them that can't be followed may broadcast.
        let of_fit = self.model.programs.iter().flat_map(|program| &program.loops);
        if of_fit
            .filter(|own| (own.caller.file, own.call) == (file, id))
            .any(|own| callbacks::may_broadcast(self.model.facts, own))
        {
            return true;
        }
        let kept = self.kept_in(&given);
        let from: Vec<Place> = given.iter().chain(&kept).copied().collect();
        let behind = facts.influence().backwards(&from, |_| false);
        let spent = self.first_fits.spent(self.model, file, id);
        let is_spent = |callback: ObjectId| {
            spent.zip(facts.made_at(callback)).is_some_and(|((list, _), (of, made))| {
                of == file && list.contains_range(facts.module(of).call(made).range)
            })
        };
        if given.iter().any(|&(file, value)| facts.is_unknown(file, value))
            || behind.iter().any(|&place| is_of_missing(facts, place))
        {
            return true;
        }
        self.objects_of(behind).into_iter().any(|object| {
            let is_of_library = || {
                let class = facts.symbol(facts.solution.object(object));
                class.is_some_and(|class| facts.library.hook_effects(class).contains(Effect::Broadcasts))
            };
            facts.kind(object) == Some(Kind::Callback)
                && !is_spent(object)
                && (is_of_library() || callbacks::broadcasts(self.model, object))
        })
    }

    /// What values may be, each object once.
    fn objects_of(&self, places: FxHashSet<Place>) -> FxHashSet<ObjectId> {
        let solution = &self.model.facts.solution;
        places.into_iter().flat_map(|(file, value)| solution.values(file, value)).copied().collect()
    }
}
