//! What is written is written by one rank: printed lines, files, models.
//!
//! The seed's rules for `print`, `.write`, `.summary` and `.save_weights` (section 2.3). What a call writes is asked
//! of its callee, so that a `TensorArray.write` is none; statements that follow one another share a guard.

mod cache_files;
mod cached_downloads;
mod commands;
pub(super) mod decided_by_first;
pub(super) mod default_texts;
mod downloads;
pub(super) mod evaluation_callbacks;
mod for_all;
mod free_names;
pub(super) mod inputs;
pub(super) mod left_behind;
pub(super) mod open_files;
pub(super) mod path_texts;
pub(super) mod preparation;
mod printed;
mod progress_bars;
pub(super) mod read_before;
mod saved_examples;
pub(super) mod told_paths;
mod trackers;
mod unknown_readers;
mod unknown_writers;
mod verbose;
mod waiting;
pub(super) mod writes;
pub(super) mod writing_callbacks;

use super::distribution_rule;
use super::job::Job;
use super::meeting::Meeting;
use super::step::Step;
use crate::finding::{Confidence, Finding};
use inputs::names_own;
use writes::{Run, Sort};

distribution_rule!("HVD208", "output-on-every-rank", steps);

fn steps(job: &Job<'_>) -> Vec<Step> {
    let runs = writes::runs(job).into_iter().filter(|run| run.sort != Sort::Checkpoint);
    let mut found: Vec<Step> = runs.filter_map(|run| guarded(job, &run, finding(job, &run))).collect();
    found.extend(printed::steps(job, &RULE.rule));
    found.extend(told_paths::steps(job, &RULE.rule));
    found.extend(open_files::steps(job, &RULE.rule));
    found.extend(verbose::steps(job, &RULE.rule));
    found.extend(progress_bars::steps(job, &RULE.rule));
    found.extend(trackers::steps(job, &RULE.rule));
    found.extend(cache_files::steps(job, &RULE.rule));
    found.extend(cached_downloads::steps(job, &RULE.rule));
    found.extend(commands::steps(job, &RULE.rule));
    found.extend(saved_examples::steps(job, &RULE.rule));
    found
}

/// Why a path that one rank gets can't be used by all.
const UNTOLD: &str = "The program loads from the path that the call returns, and rank 0, which saves, can't tell it to the \
                      other ranks here: load from a path that all of them know, such as \
                      `tf.train.latest_checkpoint(folder)`.";

/// Why weights in a folder of each process's own can't be saved by one rank.
pub(super) const OF_PROCESS: &str = "Each process has this folder for itself: what rank 0 saves there the others can't load, and what they \
                          save themselves need not be the same. Save to a folder that all ranks know.";

fn finding(job: &Job<'_>, run: &Run) -> Finding {
    let message = match run.sort {
        Sort::Print => "every rank prints",
        _ => "every rank writes the same file",
    };
    let confidence = if run.sort == Sort::Print { job.taste() } else { Confidence::Certain };
    Step::missing(&RULE.rule, job.at_call(run.file, run.calls[0]), message)
        .confidence(confidence)
        .here(if run.sort == Sort::Print { "printed by each rank" } else { "written by each rank" })
        .help("let rank 0 do it: `if hvd.rank() == 0:`")
        .in_scope(job.scope_of(run.file, run.calls[0]))
}

/// The step that puts a run of statements under a guard.
pub(super) fn guarded(job: &Job<'_>, run: &Run, finding: Finding) -> Option<Step> {
    let text = job.text(run.file)?;
    let code = job.code(run.file, text.module.statement(run.first).scope);
    let header = format!("if {}:", code.is_first());
    let mut finding = finding;
    for &call in &run.calls[1..] {
        finding = finding.label(job.at_call(run.file, call), "and here");
    }
    if run.sort != Sort::Print && run.calls.iter().any(|&call| names_own(job, run.file, call)) {
        return Some(Step::blocked(finding, OF_PROCESS));
    }
    let unbound = run.unbound.iter();
    let others: Vec<String> = unbound.map(|own| format!("{} = {}", own.name, own.otherwise)).collect();
    let mut edits = if others.is_empty() {
        text.guard(run.first, run.last, &header)
    } else {
        text.guard_else(run.first, run.last, &header, &others)
    };
    if let Some(reason) = run.waiting.impossible {
        return Some(Step::blocked(finding, reason));
    }
    if !run.for_all.is_empty() {
        let Some(first) = for_all::first(job, text, run.first, &run.for_all) else {
            return Some(Step::blocked(finding, for_all::NOT_APART));
        };
        edits.splice(0..0, first);
    }
    let meeting = run.waiting.is_behind.then(|| Meeting::at(job, text, run.last));
    if run.is_loaded && !run.unbound.is_empty() {
        let names: Vec<&str> = run.unbound.iter().map(|own| own.name.as_str()).collect();
        match meeting.as_ref().and_then(|own| own.tell_behind(&names)) {
            Some(told) => edits.extend(told),
            None => return Some(Step::blocked(finding, UNTOLD)),
        }
    } else {
        edits.extend(meeting.iter().flat_map(Meeting::behind));
    }
    let uses = std::iter::once(code.import).chain(meeting.iter().flat_map(Meeting::uses)).collect();
    if let Some(name) = &run.returned {
        edits.push(text.bind_returned(run.last, name));
        edits.extend(text.after(run.last, &[&format!("return {name}")]));
    }
    let mut step = code.step(Step::change(finding, "let rank 0 do it", edits, uses));
    run.waiting.add_to(job, &mut step);
    Some(step)
}
