//! Generators that a library is fed with: `model.fit(batches())`. It asks for their elements in a thread of its own, and ahead: who
//! waits in their code waits beside the steps, and for one element more than others ask for.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use crate::program::{CallEdge, Facts, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{CallId, Container};

/// The generators that are given to training libraries, or to code that nobody knows.
pub(in crate::distribute) fn all(facts: &Facts<'_>) -> FxHashSet<ObjectId> {
    let mut found = FxHashSet::default();
    for file in facts.files() {
        for (index, call) in facts.module(file).calls.iter().enumerate() {
            let given = call.arguments.iter().flat_map(|own| facts.objects(file, own.value));
            let mut generators = given.filter(|(_, own)| is_generator(*own)).peekable();
            if generators.peek().is_some() && may_run_ahead(facts, file, CallId::new(index)) {
                found.extend(generators.map(|(id, _)| id));
            }
        }
    }
    found
}

fn is_generator(object: Object) -> bool {
    matches!(object, Object::Container(Container::Generator, _))
}

/// Whether what a call calls may go through a generator in a thread of its own.
fn may_run_ahead(facts: &Facts<'_>, file: FileId, id: CallId) -> bool {
    facts.callees(file, id).iter().any(|edge| match facts.solution.object(edge.callee) {
        Object::Unknown => true,
        own @ (Object::External(_) | Object::Member(..)) => {
            facts.symbol(own).is_none_or(|own| facts.library.is_training_library(own.package()))
        }
        _ => false,
    })
}

/// Whether a call makes such a generator.
pub(in crate::distribute) fn is_made_by(job: &Job<'_>, edge: &CallEdge, call: CallId) -> bool {
    let facts = job.facts;
    let file = edge.caller.file;
    let result = facts.module(file).call(call).result;
    let fed = job.common.fed_generators(facts);
    !fed.is_empty() && facts.solution.values(file, result).iter().any(|own| fed.contains(own))
}
