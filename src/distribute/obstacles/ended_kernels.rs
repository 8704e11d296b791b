//! Notebooks that end their process above the training: what the cells above have made, Horovod among it, is gone.

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::finding::Rule;
use crate::program::TrainingLoop;
use crate::project::FileId;
use crate::semantic::CallId;

/// The first call that does.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let (file, call) = job.calls().find(|&(file, call)| ends_above_training(job, file, call))?;
    let finding = obstacle(rule, job.at_call(file, call), "the notebook ends its process above the training")
        .help("take the cell out once the packages are installed");
    Some(Step::blocked(
        finding,
        "The cells below run in another process, which has nothing of what those above have made, Horovod among it.",
    ))
}

fn ends_above_training(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let end = job.facts.module(file).call(call).range.end();
    let is_below = |own: &TrainingLoop| own.caller.file != file || own.range.start() > end;
    job.facts.ends_kernel(file, call) && job.program.loops.iter().any(is_below)
}
