//! Programs that ask who started them: `input("name> ")`. Horovod gives its ranks no standard input, so that each of them would
//! die there.

use super::super::job::Job;
use super::super::output::inputs::own_effects;
use super::super::step::Step;
use super::obstacle;
use crate::api::Effect;
use crate::finding::Rule;
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::CallId;

/// The calls that read the standard input in every run; what only some options lead to may be left out of a run of several ranks.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let reads = |&(file, call): &(FileId, CallId)| own_effects(job, file, call).contains(Effect::ReadsInput);
    let is_always_run = |&(file, call): &(FileId, CallId)| {
        let data = facts.module(file).call(call);
        let caller = Caller { file, scope: data.scope };
        facts.decisions(caller, data.statement, data.block).is_empty()
            && facts.approach(job.program, caller).unconditional
    };
    let step = |(file, call)| {
        let finding = obstacle(rule, job.at_call(file, call), "the program waits for what somebody types")
            .help("take it as an argument of the program, or ask in a program of its own")
            .in_scope(job.scope_of(file, call));
        Step::blocked(finding, "Horovod gives its ranks no standard input: reading it fails on each of them.")
    };
    job.calls().filter(reads).filter(is_always_run).map(step).collect()
}
