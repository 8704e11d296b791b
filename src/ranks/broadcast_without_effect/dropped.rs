//! A broadcast of global variables whose operation nobody keeps: a session runs only what it is given.

use super::{Broadcast, Reason};
use crate::semantic::{CallId, Role, ScopeKind};

/// The class of what a session can be given to run.
const OPERATION: &str = "tensorflow.Operation";

pub(super) fn reason(broadcast: &Broadcast<'_>) -> Option<Reason> {
    let Broadcast { facts, call, symbol, .. } = *broadcast;
    let library = facts.library;
    let made = library.returned_class(symbol)?;
    let is_operation =
        library.lookup(OPERATION).is_some_and(|operation| library.is_subclass(made, operation));
    (is_operation && broadcast.is_dropped()).then(|| Reason {
        caller: broadcast.caller(),
        range: call.range,
        message: "nothing is broadcast: this makes an operation for a session, and none is given it to run",
        here: "never run",
        help: "run it, `session.run(hvd.broadcast_global_variables(0))`; without a session this call fails, and \
               `hvd.broadcast_variables` is the one to call",
        labels: Vec::new(),
        fix: None,
    })
}

impl Broadcast<'_> {
    /// Whether what the call returns goes nowhere: it is a statement of its own, or a name has it that nobody reads.
    fn is_dropped(&self) -> bool {
        let module = self.facts.module(self.file);
        match self.call.role {
            Role::Statement => true,
            Role::Assigned => {
                let is_local = matches!(module.scope(self.call.scope).kind, ScopeKind::Function(_));
                let mut own = module.definitions.iter().filter(|own| own.value == self.call.result);
                let is_read = |id: CallId| {
                    let result = module.call(id).result;
                    module.uses.iter().any(|own| own.value == result)
                        || self.facts.influence().dependents((self.file, result)).next().is_some()
                };
                is_local && own.all(|own| !module.symbol(own.variable).captured) && !is_read(self.id)
            }
            _ => false,
        }
    }
}
