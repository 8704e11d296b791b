//! Gradients of a session's graph that no optimizer takes, `tf.gradients(loss, variables)`: they are averaged where they are
//! taken, in front of all that is done with them, as an optimizer of Horovod's averages what its `compute_gradients` gives.

use super::super::job::Job;
use super::super::names::fresh;
use super::super::ranked::is_for_one_rank;
use super::super::step::Step;
use super::super::unstarted::Runs;
use crate::finding::Finding;
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::CallId;

/// Why gradients can't be averaged where they are taken.
const NOT_BY_ALL: &str = "Not all ranks are sure to make this part of the graph, or it is made in a function of TensorFlow's: take the gradients with \
                          the optimizer's `compute_gradients`.";

/// The step for a call that takes gradients which optimizers apply.
pub(super) fn step(job: &Job<'_>, finding: Finding, (file, call): (FileId, CallId)) -> Option<Step> {
    let text = job.text(file)?;
    let data = job.facts.module(file).call(call);
    let code = job.code(file, data.scope);
    let mut finding = finding.help("average them: `[hvd.allreduce(gradient) for gradient in gradients]`");
    "these gradients are not averaged over the ranks".clone_into(&mut finding.message);
    let caller = Caller { file, scope: job.facts.module(file).code_scope(data.scope) };
    if code.runs != Runs::Started || job.traced.contains(&caller) || is_for_one_rank(job, file, call) {
        return Some(Step::blocked(finding, NOT_BY_ALL));
    }
    let gradient = fresh(text.module, "gradient");
    let average = format!("{}.allreduce({gradient})", code.horovod);
    // There is none where the loss does not depend on a variable.
    let before = format!("[None if {gradient} is None else {average} for {gradient} in ");
    let edits = text.wrap(data.range, &before, "]");
    Some(code.step(Step::change(finding, "average the gradients", edits, vec![code.import])))
}
