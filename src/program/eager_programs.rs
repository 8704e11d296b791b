//! Programs that run functions eagerly, whatever traces them: `tf.config.run_functions_eagerly(True)`.

use super::facts::Facts;
use super::programs::Program;
use super::solver::Caller;
use crate::api::Effect;
use crate::project::FileId;
use crate::semantic::{Call, CallId};

/// The programs that do, and those that don't.
pub(super) struct EagerPrograms<'p> {
    eager: Vec<&'p Program>,
    traced: Vec<&'p Program>,
}

impl<'p> EagerPrograms<'p> {
    /// Finds which program is which.
    pub(super) fn new(facts: &'p Facts<'_>) -> Self {
        // `if arguments.debug:` is the exception, and code has to work where it is traced.
        let switches = facts.calls_with(Effect::DisablesTracing).filter(|&(file, call)| {
            let call = facts.module(file).call(call);
            let caller = Caller { file, scope: call.scope };
            let is_on = call.arguments.first().is_none_or(|own| facts.truth(file, own.value) == Some(true));
            let conditions = facts.conditions(caller, call.block);
            is_on && conditions.iter().all(|own| facts.is_main_guard(file, &own.branch))
        });
        let switches: Vec<(FileId, CallId)> = switches.collect();
        let is_eager =
            |program: &&Program| switches.iter().any(|&(file, call)| facts.runs(program, file, call));
        let (eager, traced) = facts.programs.iter().partition(is_eager);
        Self { eager, traced }
    }

    /// Whether only such programs run a call.
    pub(super) fn run(&self, facts: &Facts<'_>, file: FileId, call: &Call) -> bool {
        let caller = Caller { file, scope: facts.module(file).code_scope(call.scope) };
        !self.eager.is_empty() && !self.traced.iter().any(|program| program.reached.contains(&caller))
    }
}
