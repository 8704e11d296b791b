//! What is asked of the run that is recorded, `mlflow.active_run().info.run_id`: rank 0 alone begins one, and on the others there
//! is none.

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// The functions that give the run.
const RUNS: [&str; 2] = ["mlflow.active_run", "mlflow.last_active_run"];

/// The calls of which something is asked.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let runs = RUNS.map(|name| facts.library.lookup(name));
    let gives = |file, call| facts.called_symbols(file, call).any(|own| runs.contains(&Some(own)));
    let given: Vec<(FileId, CallId)> = job.calls().filter(|&(file, call)| gives(file, call)).collect();
    let is_asked = |&(file, call): &(FileId, CallId)| {
        let module = facts.module(file);
        let result = module.call(call).result;
        let reads = facts.influence().dependents((file, result));
        let mut reads = reads.filter(|&(of, _)| of == file);
        reads.any(|(_, value)| matches!(module.value(value).value, Value::Attribute { .. }))
    };
    let step = |(file, call)| {
        let finding = obstacle(rule, job.at_call(file, call), "this asks for a run that rank 0 alone has")
            .help("ask for it where rank 0 alone needs it: `if hvd.rank() == 0:`")
            .in_scope(job.scope_of(file, call));
        Step::blocked(finding, "On the other ranks there is none, and they would fail.")
    };
    given.into_iter().filter(is_asked).map(step).collect()
}
