//! Paths that are made of the time: each rank would get one of its own, where rank 0 alone writes what all ranks read.
//! Rank 0 tells the others.

use super::super::job::Job;
use super::super::meeting::Meeting;
use super::super::obstacles::is_conditional;
use super::super::started::runs_started;
use super::super::step::Step;
use super::super::unstarted::Runs;
use super::inputs::paths_behind;
use crate::api::Effect;
use crate::finding::Rule;
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::CallId;

/// The clocks of a program that say where it reads.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    clocks(job).into_iter().filter_map(|(file, call)| told(job, rule, file, call)).collect()
}

/// The calls that ask a clock for what the paths are made of that the program reads from.
pub(in crate::distribute) fn clocks(job: &Job<'_>) -> Vec<(FileId, CallId)> {
    if job.program.already_distributed {
        return Vec::new();
    }
    let asks = |&(file, call): &(FileId, CallId)| {
        job.facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::ReadsClock))
    };
    let all: Vec<(FileId, CallId)> = job.calls().filter(asks).collect();
    if all.is_empty() {
        return all;
    }
    let behind = paths_behind(job, &job.inputs().paths_read(job));
    let says =
        |&(file, call): &(FileId, CallId)| behind.contains(&(file, job.facts.module(file).call(call).result));
    all.into_iter().filter(says).collect()
}

/// Why rank 0 can't tell the others the time.
const UNTOLD: &str = "Not all ranks come here, or not once Horovod is started, so that rank 0 can't tell the others: take the time at \
                      the beginning of the program.";

/// `time.strftime(form)` becomes what it is on rank 0.
fn told(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Option<Step> {
    let call = job.facts.module(file).call(id);
    let message = "each rank gets another path here, and reads where nobody wrote";
    let finding = Step::missing(rule, job.at_call(file, id), message)
        .here("another time on each rank")
        .help("let rank 0 tell the others: `hvd.broadcast_object(...)`")
        .in_scope(job.scope_of(file, id));
    let code = job.code(file, call.scope);
    let caller = Caller { file, scope: call.scope };
    if !runs_started(job, file, id)
        || code.runs == Runs::Anywhere
        || is_conditional(job, caller, call.block)
        || job.traced.contains(&caller)
    {
        return Some(Step::blocked(finding, UNTOLD));
    }
    let meeting = Meeting::at(job, job.text(file)?, call.statement);
    let Some(edits) = meeting.told_time(call) else { return Some(Step::blocked(finding, UNTOLD)) };
    let change = Step::change(finding, "let rank 0 tell the time", edits, meeting.uses().collect());
    Some(code.step(change))
}
