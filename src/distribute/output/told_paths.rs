//! Paths that are made of the time, of a draw or of the process: each rank would get one of its own, where rank 0 alone writes
//! what all ranks read. Rank 0 tells the others.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::meeting::Meeting;
use super::super::obstacles::is_conditional;
use super::super::started::runs_started;
use super::super::step::Step;
use super::super::unstarted::Runs;
use super::inputs::{arguments, makes_manager, paths_behind};
use crate::api::{Effect, Kind, Symbol};
use crate::finding::Rule;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::CallId;

/// What each rank of a program would find otherwise, and says where it reads.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    own_names(job).into_iter().filter_map(|(file, call)| told(job, rule, file, call)).collect()
}

/// The calls that give each rank a name of its own, of which the paths are made that the program reads from: those of clocks, and
/// draws and what tells processes apart where the program writes there, too.
pub(in crate::distribute) fn own_names(job: &Job<'_>) -> Vec<(FileId, CallId)> {
    if job.program.already_distributed {
        return Vec::new();
    }
    let facts = job.facts;
    let has = |(file, call): (FileId, CallId), asked: fn(&Symbol) -> bool| {
        facts.called_symbols(file, call).any(asked)
    };
    let differs = |&own: &(FileId, CallId)| has(own, reads_clock) || has(own, is_by_chance);
    let mut found: Vec<(FileId, CallId)> = job.calls().filter(differs).collect();
    let says = |paths: &FxHashSet<Place>, (file, call): (FileId, CallId)| {
        paths.contains(&(file, facts.module(file).call(call).result))
    };
    if !found.is_empty() {
        let read = paths_behind(job, &job.inputs().paths_read(job));
        found.retain(|&own| says(&read, own));
    }
    if !found.iter().all(|&own| has(own, reads_clock)) {
        let written = paths_behind(job, &paths_written(job));
        found.retain(|&own| has(own, reads_clock) || says(&written, own));
    }
    found
}

/// All that paths are made of which the program both reads from and writes to.
pub(in crate::distribute) fn shared_paths(job: &Job<'_>) -> FxHashSet<Place> {
    let read = paths_behind(job, &job.inputs().paths_read(job));
    let mut shared = paths_behind(job, &paths_written(job));
    shared.retain(|place| read.contains(place));
    shared
}

/// The paths that calls are given which write files, or make folders or callbacks.
fn paths_written(job: &Job<'_>) -> Vec<Place> {
    let facts = job.facts;
    let writes = job.calls().filter(|&(file, call)| {
        let data = facts.module(file).call(call);
        let mut symbols = facts.called_symbols(file, call);
        symbols.any(|symbol| symbol.has(Effect::WritesFile) || symbol.has(Effect::MakesFolder))
            || facts.opens_for_writing(file, data)
            || facts.may_be(file, data.result, Kind::Callback)
            || makes_manager(job, file, call)
    });
    // What is written says nothing of where.
    let is_text = |&(file, value): &Place| {
        facts.objects(file, value).any(|(id, _)| facts.builtin_class(id) == Some("str"))
    };
    writes.flat_map(|(file, call)| arguments(job, file, call)).filter(is_text).collect()
}

fn reads_clock(symbol: &Symbol) -> bool {
    symbol.has(Effect::ReadsClock)
}

/// Whether what a call returns is a draw, some of several names among them, or tells a process from others, `os.getpid()`: no
/// file's content.
fn is_by_chance(symbol: &Symbol) -> bool {
    const OTHERWISE: [Effect; 5] =
        [Effect::ReadsFile, Effect::WritesFile, Effect::Spawns, Effect::Temporary, Effect::ReadsEnvironment];
    (symbol.has(Effect::DrawsRandom) || symbol.has(Effect::Varies) && !symbol.has(Effect::UpdatesState))
        && !OTHERWISE.into_iter().any(|own| symbol.has(own))
}

/// Why rank 0 can't tell the others the time.
const UNTOLD: &str = "Not all ranks come here, or not once Horovod is started, so that rank 0 can't tell the others: take the name at \
                      the beginning of the program.";

/// `time.strftime(form)` becomes what it is on rank 0.
fn told(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Option<Step> {
    let call = job.facts.module(file).call(id);
    let message = "each rank gets another path here, and reads where nobody wrote";
    let finding = Step::missing(rule, job.at_call(file, id), message)
        .here("another name on each rank")
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
    let Some(edits) = meeting.told_name(call) else { return Some(Step::blocked(finding, UNTOLD)) };
    let change = Step::change(finding, "let rank 0 tell the name", edits, meeting.uses().collect());
    Some(code.step(change))
}
