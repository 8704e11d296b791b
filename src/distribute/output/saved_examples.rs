//! The pictures that a generator of batches keeps of its examples, `generator.flow(x, save_to_dir="augmented")`: one rank keeps
//! its own.

use super::super::job::Job;
use super::super::keras::{Given, given};
use super::super::ranked::{is_for_one_rank, reads_rank};
use super::super::started::runs_started;
use super::super::step::Step;
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::CallId;

/// The parameter for the folder.
const FOLDER: &str = "save_to_dir";

/// Why what the program reads later can't be kept by one rank.
const READ: &str = "The program reads from there, and the ranks would find as many pictures as rank 0 has kept by then, each another \
                    number: make them in a program of its own.";

/// The steps of `output-on-every-rank` that let rank 0 alone keep them.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    job.calls().filter_map(|(file, call)| step(job, rule, file, call)).collect()
}

fn step(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Option<Step> {
    let facts = job.facts;
    let symbol = facts.called_symbols(file, id).find(|own| own.parameter(FOLDER).is_some())?;
    let Given::Argument(folder) = given(job, file, id, symbol, FOLDER) else { return None };
    if facts.is_none(file, folder.value)
        || reads_rank(job, file, folder.value)
        || is_for_one_rank(job, file, id)
        || !runs_started(job, file, id)
    {
        return None;
    }
    let code = job.code(file, facts.module(file).call(id).scope);
    let finding =
        Step::missing(rule, facts.location(file, folder.range), "every rank writes pictures of its examples")
            .here("written by each rank")
            .help("keep them on rank 0 only: `save_to_dir=... if hvd.rank() == 0 else None`")
            .in_scope(job.scope_of(file, id));
    if job.inputs().contain(job, &[(file, folder.value)]) {
        return Some(Step::blocked(finding, READ));
    }
    let text = job.text(file)?;
    let kept = format!("{} if {} else None", text.as_factor(folder.range), code.is_first());
    let edits = vec![text.replace(folder.range, kept)];
    Some(code.step(Step::change(finding, "keep them on rank 0 only", edits, vec![code.import])))
}
