//! Steps that several threads make at once, as asynchronous actors do: Horovod knows a gradient by its name, and refuses one that is
//! on its way already. Or a process of the program's own, which has no thread of Horovod.

use super::super::broadcast::site::is_repeated;
use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::api::{Effect, Symbol};
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::CallId;

/// The first call that makes a thread which trains, if there are several, or a process that does.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let facts = job.facts;
    let starts = |symbol: &Symbol| symbol.has(Effect::Spawns) && !facts.is_launcher(symbol);
    let is_thread = |&(file, call): &(FileId, CallId)| {
        facts.called_symbols(file, call).any(starts) && job.comes_to_step(file, call)
    };
    let mut threads = job.calls().filter(is_thread);
    let (file, call) = threads.next()?;
    if facts.called_symbols(file, call).any(|own| own.package() == PROCESSES) {
        let finding = obstacle(rule, job.at_call(file, call), "a process of the program's own trains")
            .help("train in the process that is started: the ranks are what works at the same time")
            .in_scope(job.scope_of(file, call));
        let reason = "A forked process has what Horovod keeps, but no thread that communicates: its first step would wait for ever.";
        return Some(Step::blocked(finding, reason));
    }
    if threads.next().is_none() && !is_repeated(job, file, call) {
        return None;
    }
    let finding = obstacle(rule, job.at_call(file, call), "several threads train at once")
        .help("train in one thread: the ranks are what works at the same time")
        .in_scope(job.scope_of(file, call));
    let reason =
        "Their steps would meet in no order: ranks would wait for each other's gradients for ever, or fail.";
    Some(Step::blocked(finding, reason))
}

/// The package of processes.
const PROCESSES: &str = "multiprocessing";
