//! The number of the step, read by a session while it makes the step: `_, step = session.run([train, global_step])`. Nothing
//! says whether that is the number before the step or behind it; mostly it is the one before. Where it decides about steps, one
//! rank would make a step that another one does not, so it is read before.

use super::decisions::decisions;
use super::fetched::fetched_step;
use super::job::Job;
use super::names::fresh;
use super::obstacles::obstacle;
use super::session::runs;
use super::step::Step;
use crate::api::Kind;
use crate::finding::{Confidence, Rule};
use crate::program::{Place, influenced_through_contents};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{Call, CallId, Definition, Value};
use crate::syntax::{TextRange, TextSize};

/// The steps by which a program reads such numbers before they are counted.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if job.step_counters().is_empty() {
        return Vec::new();
    }
    let calls = job.calls().filter(|&(file, call)| runs(job, file, call));
    calls.flat_map(|(file, call)| steps_of(job, rule, file, call)).collect()
}

fn steps_of(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Vec<Step> {
    let Some(text) = job.text(file) else { return Vec::new() };
    let call = text.module.call(id);
    let names = text.module.definitions.iter().filter(|own| own.statement == Some(call.statement));
    let raced = names.filter_map(|own| {
        let fetched = fetched_step(job, (file, own.value)).filter(|fetched| fetched.run == id)?;
        let index = fetched.index.filter(|_| fetched.is_beside)?;
        decides(job, (file, own.value)).then(|| step(job, rule, text, (file, id), (own, index)))
    });
    raced.collect()
}

/// Whether it depends on a value that a step is made.
fn decides(job: &Job<'_>, place: Place) -> bool {
    let rests = influenced_through_contents(job.facts, &[place], |_| false);
    let is_meant = |file, condition| rests.contains(&(file, condition));
    let found = decisions(job, Confidence::Possible, |caller, branch| {
        branch.condition.is_some_and(|condition| is_meant(caller.file, condition))
    });
    !found.is_empty()
}

fn step(
    job: &Job<'_>,
    rule: &'static Rule,
    text: Text<'_>,
    (file, id): (FileId, CallId),
    (read, index): (&Definition, usize),
) -> Step {
    let finding = obstacle(
        rule,
        job.facts.location(file, read.range),
        "the number of the step is read while the step is counted",
    )
    .here("another rank may read one more")
    .help("read it in a run of its own: what decides about steps has to be the same on all ranks")
    .in_scope(job.scope_of(file, id));
    let call = text.module.call(id);
    let Some(counter) = counter(text, call, index) else { return Step::blocked(finding, NOT_WRITTEN_OUT) };
    let Some(reading) = reading(job, text, file, call, counter) else {
        return Step::blocked(finding, NO_NAME);
    };
    let name = fresh(text.module, NAME);
    let mut edits = text.before(call.statement, &[&format!("{name} = {reading}")]);
    edits.extend(text.after(call.statement, &[&format!("{} = {name}", text.slice(read.range))]));
    Step::change(finding, "read it before the step", edits, Vec::new()).right_everywhere_in(vec![file])
}

/// The variable for the number before the step.
const NAME: &str = "hvd_step";

const NOT_WRITTEN_OUT: &str = "What the session is asked for is not written out where it runs.";
const NO_NAME: &str = "The session is no plain name.";

/// The text of what counts the steps, among what a session is asked for.
fn counter<'t>(text: Text<'t>, call: &Call, index: usize) -> Option<&'t str> {
    let elements = text.elements(call.arguments.first()?.range)?;
    let &counter = elements.get(index).filter(|&&own| text.is_chain(own))?;
    Some(text.slice(counter))
}

/// The text of a run that reads a variable alone, without the hooks of a monitored session, which may count its runs.
fn reading(job: &Job<'_>, text: Text<'_>, file: FileId, call: &Call, counter: &str) -> Option<String> {
    let Value::Attribute { base, .. } = text.module.value(call.callee).value else { return None };
    let (session, _) = text.slice(call.callee_range).rsplit_once('.')?;
    let range = TextRange::at(call.callee_range.start(), TextSize::of(session));
    let reading = if job.facts.may_be(file, base, Kind::MonitoredSession) {
        format!("{session}.run_step_fn(lambda step_context: step_context.session.run({counter}))")
    } else {
        format!("{session}.run({counter})")
    };
    text.is_chain(range).then_some(reading)
}
