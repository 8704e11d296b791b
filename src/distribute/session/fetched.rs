//! The number of the step, among what a session gives: `_, loss, step = session.run([train, loss, global_step])`. All else
//! is of a rank's own examples.

use super::super::job::Job;
use super::runs;
use crate::program::Place;
use crate::project::FileId;
use crate::semantic::{CallId, Constant, Container, Value, ValueId};

/// Whether a value is the number of the step, as a session gives it by itself or among others. Where it is read while a step
/// is made it is the same only once [`raced_steps`](super::raced_steps) has mended that.
pub(in crate::distribute) fn is_step(job: &Job<'_>, place: Place) -> bool {
    fetched_step(job, place).is_some()
}

/// The number of the step as a session gives it.
pub(super) struct FetchedStep {
    /// The run of the session.
    pub(super) run: CallId,
    /// Where it stands among what is asked for; `None` if it is all.
    pub(super) index: Option<usize>,
    /// Something else is asked for, which may be what counts it.
    pub(super) is_beside: bool,
}

/// How a session gives the number of the step that a value is.
pub(super) fn fetched_step(job: &Job<'_>, (file, value): Place) -> Option<FetchedStep> {
    let module = job.facts.module(file);
    let (run, index) = match module.value(value).value {
        Value::Call(run) => (run, None),
        Value::Unpack { base, index: Some(index), .. } => match module.value(base).value {
            Value::Call(run) => (run, Some(index as usize)),
            _ => return None,
        },
        Value::Item { base, key, .. } => match (&module.value(base).value, &module.value(key).value) {
            (&Value::Call(run), &Value::Constant(Constant::Int(index))) => {
                (run, Some(usize::try_from(index).ok()?))
            }
            _ => return None,
        },
        _ => return None,
    };
    let fetched = module.call(run).arguments.first().filter(|_| runs(job, file, run))?.value;
    let is_counter = |own| is_counter(job, file, own);
    let Some(place) = index else {
        return is_counter(fetched).then_some(FetchedStep { run, index, is_beside: false });
    };
    let Value::Display(Container::List | Container::Tuple, elements) = &module.value(fetched).value else {
        return None;
    };
    let elements: Vec<ValueId> = elements.iter().map(|own| own.written_out()).collect::<Option<_>>()?;
    let is_step = elements.get(place).is_some_and(|&own| is_counter(own));
    is_step.then(|| FetchedStep { run, index, is_beside: !elements.into_iter().all(is_counter) })
}

fn is_counter(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let mut objects = job.facts.objects(file, value).peekable();
    objects.peek().is_some() && objects.all(|(own, _)| job.common.step_counters(job.facts).contains(&own))
}
