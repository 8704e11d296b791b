//! The number of the step, among what a session gives: `_, loss, step = session.run([train, loss, global_step])`. All else
//! is of a rank's own examples.

use rustc_hash::FxHashSet;

use super::job::Job;
use super::session::runs;
use crate::api::Effect;
use crate::program::{Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Container, Element, Value, ValueId};

/// The parameter for the variable that counts an optimizer's steps.
const COUNTER: &str = "global_step";

/// The variables that count the steps of optimizers: all ranks make as many.
pub(super) fn counters(job: &Job<'_>) -> FxHashSet<ObjectId> {
    let facts = job.facts;
    let mut found = FxHashSet::default();
    for (file, id) in job.calls() {
        let call = facts.module(file).call(id);
        let steps = facts.called_symbols(file, id).filter(|own| own.has(Effect::AppliesGradients));
        for counter in steps.filter_map(|symbol| facts.argument(file, call, symbol, COUNTER)) {
            let known = facts.objects(file, counter.value).filter(|(_, own)| *own != Object::Unknown);
            found.extend(known.map(|(own, _)| own));
        }
    }
    found
}

/// Whether a value is the number of the step, as a session gives it by itself or among others.
pub(super) fn is_step(job: &Job<'_>, (file, value): Place) -> bool {
    let module = job.facts.module(file);
    let fetched = |id: CallId| {
        let fetched = module.call(id).arguments.first().filter(|_| runs(job, file, id));
        fetched.map(|own| own.value)
    };
    match module.value(value).value {
        Value::Call(id) => fetched(id).is_some_and(|own| is_counter(job, file, own)),
        Value::Unpack { base, index: Some(index), .. } => {
            let Value::Call(id) = module.value(base).value else { return false };
            let Some(fetched) = fetched(id) else { return false };
            match &module.value(fetched).value {
                Value::Display(Container::List | Container::Tuple, elements) => {
                    let are_single = elements.iter().all(|own| matches!(own, Element::At(..)));
                    let own = elements.get(index as usize).filter(|_| are_single);
                    matches!(own, Some(&Element::At(_, own)) if is_counter(job, file, own))
                }
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_counter(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let mut objects = job.facts.objects(file, value).peekable();
    objects.peek().is_some() && objects.all(|(own, _)| job.step_counters().contains(&own))
}
