//! Code that makes layers or models. Keras numbers those that have no name of their own, so that one more of them gives all
//! later ones, and their variables, other names.

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::solver::Caller;
use crate::api::Kind;
use crate::project::FileId;
use crate::semantic::CallId;

/// The calls that make layers or models, and the code that comes to them.
#[derive(Debug, Default)]
pub(super) struct Makings {
    calls: FxHashSet<(FileId, CallId)>,
    code: FxHashSet<Caller>,
}

impl Makings {
    fn new(facts: &Facts<'_>) -> Self {
        let made = facts
            .creations
            .iter()
            .filter(|own| matches!(own.kind, Kind::Layer | Kind::Model) && !own.derived);
        let calls: FxHashSet<(FileId, CallId)> = made.map(|own| (own.file, own.call)).collect();
        let scope = |&(file, call): &(FileId, CallId)| facts.module(file).call(call).scope;
        let mut work: Vec<Caller> =
            calls.iter().map(|own| Caller { file: own.0, scope: scope(own) }).collect();
        let mut code = FxHashSet::default();
        while let Some(caller) = work.pop() {
            if code.insert(caller)
                && let Some(function) = facts.function_of(caller)
            {
                work.extend(facts.incoming(function).iter().map(|edge| edge.caller));
            }
        }
        Self { calls, code }
    }
}

impl Facts<'_> {
    /// Whether a call makes layers or models, itself or in the code of the project that it runs.
    #[must_use]
    pub fn makes_layers(&self, file: FileId, call: CallId) -> bool {
        let makings = self.makings.get_or_init(|| Makings::new(self));
        makings.calls.contains(&(file, call))
            || self.called_functions(file, call).any(|own| makings.code.contains(&self.code_of(own)))
    }
}
