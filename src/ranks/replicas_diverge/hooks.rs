//! Hooks of sessions that broadcast all variables when the session begins: `hvd.BroadcastGlobalVariablesHook(0)`.

use super::Replicas;
use crate::api::{Effect, Kind, Symbol};
use crate::project::FileId;
use crate::semantic::CallId;

/// The parameter of sessions and estimators that takes hooks.
const HOOKS: &str = "hooks";

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
}
