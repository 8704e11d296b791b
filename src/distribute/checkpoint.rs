//! Checkpoints are saved by one rank, and the callbacks that write files belong to one rank.
//!
//! The seed's rule for `checkpoint.save` (section 2.4). Where the path of the checkpoint is used later, the other
//! ranks get `None`.

use super::distribution_rule;
use super::job::Job;
use super::output::guarded;
use super::session;
use super::step::Step;
use super::writes::{self, Run, Sort};
use super::writing_callbacks;
use crate::finding::Finding;

distribution_rule!("HVD209", "checkpoint-on-every-rank", steps);

fn steps(job: &Job<'_>) -> Vec<Step> {
    let runs = writes::runs(job).into_iter().filter(|run| run.sort == Sort::Checkpoint);
    let mut found: Vec<Step> = runs.filter_map(|run| guarded(job, &run, finding(job, &run))).collect();
    found.extend(writing_callbacks::steps(job, &RULE.rule));
    found.extend(session::folders(job, &RULE.rule));
    found.extend(session::writing_hooks(job, &RULE.rule));
    found
}

fn finding(job: &Job<'_>, run: &Run) -> Finding {
    Step::missing(&RULE.rule, job.at_call(run.file, run.calls[0]), "every rank saves the same checkpoint")
        .here("saved by each rank")
        .help("let rank 0 save it: `if hvd.rank() == 0:`")
        .in_scope(job.scope_of(run.file, run.calls[0]))
}
