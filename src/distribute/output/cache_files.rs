//! Each rank caches its data in a file of its own: `dataset.cache(path)` writes it, and two ranks can't.

use super::super::job::Job;
use super::super::ranked::{is_for_one_rank, reads_rank};
use super::super::started::runs_started;
use super::super::step::Step;
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::CallId;

/// The steps of `output-on-every-rank` that name the files of caches.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    job.calls().filter_map(|(file, call)| step(job, rule, file, call)).collect()
}

fn step(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Option<Step> {
    let facts = job.facts;
    let path = facts.cache_file(file, id)?;
    if reads_rank(job, file, path.value) || is_for_one_rank(job, file, id) || !runs_started(job, file, id) {
        return None;
    }
    let finding = Step::missing(rule, job.at_call(file, id), "every rank caches its data in the same file")
        .here("cached by each rank")
        .help("give each rank a file of its own: `path + str(hvd.rank())`")
        .in_scope(job.scope_of(file, id));
    let is_text =
        facts.objects(file, path.value).all(|(object, _)| facts.builtin_class(object) == Some("str"));
    if facts.is_unknown(file, path.value) || !is_text {
        return Some(Step::blocked(finding, "It can't be seen that the path of the cache is a text."));
    }
    let text = job.text(file)?;
    let (hvd, import) = job.horovod(file);
    let path = text.replace(path.range, format!("{} + str({hvd}.rank())", text.as_factor(path.range)));
    Some(Step::change(finding, "cache in a file of each rank's own", vec![path], vec![import]))
}
