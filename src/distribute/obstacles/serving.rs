//! Programs that answer requests besides training: `app.run()` behind `fit`, or a page of Streamlit that trains. All ranks would
//! want the same port, and a visitor comes to one process only.

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::api::Effect;
use crate::finding::Rule;
use crate::program::Object;
use crate::project::FileId;
use crate::semantic::CallId;

/// The first call that does so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let (file, call) = job.calls().find(|&(file, call)| serves(job, file, call))?;
    let finding = obstacle(rule, job.at_call(file, call), "the program serves requests of others")
        .help("keep the model in a file, and serve it in a program of its own")
        .in_scope(job.scope_of(file, call));
    Some(Step::blocked(finding, "Every rank would want the same port, and the requests come to one."))
}

fn serves(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let mut called = facts.callees(file, call).iter().map(|edge| facts.solution.object(edge.callee));
    called.any(|object| {
        let Object::External(id) = object else { return false };
        let external = facts.solution.externals.get(id);
        let package = || facts.library.lookup(external.path.split('.').next()?);
        external.symbol.or_else(package).is_some_and(|own| own.has(Effect::Serves))
    })
}
