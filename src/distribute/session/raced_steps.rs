//! The number of the step, read by a session while it makes the step: `_, step = session.run([train, global_step])`. Nothing
//! says whether that is the number before the step or behind it. What TensorFlow 2 makes is mostly read before, and the
//! variables of TensorFlow 1, whose values are changed in place, behind (each tried 3,000 times). Where the number decides about
//! steps, one rank would make a step that another one does not, so it is read by itself.

use std::collections::BTreeSet;

use super::super::job::Job;
use super::super::names::fresh;
use super::super::obstacles::{first_call, obstacle};
use super::super::step::Step;
use super::decisions::decisions;
use super::fetched::fetched_step;
use super::runs;
use crate::api::Kind;
use crate::finding::{Confidence, Rule};
use crate::program::{Place, influenced_through_contents};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{Call, CallId, Definition, Value, ValueId};
use crate::syntax::{TextRange, TextSize};

/// The steps by which a program reads such numbers by themselves.
pub(in crate::distribute) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if job.common.step_counters(job.facts).is_empty() {
        return Vec::new();
    }
    let running: BTreeSet<(FileId, CallId)> =
        job.calls().filter(|&(file, call)| runs(job, file, call)).collect();
    let files: BTreeSet<FileId> = running.iter().map(|&(file, _)| file).collect();
    let places = files.into_iter().flat_map(|file| {
        let values = (0..job.facts.module(file).values.len()).map(ValueId::new);
        values.map(move |value| (file, value))
    });
    let raced = places.filter_map(|place| {
        let fetched = fetched_step(job, place)?;
        let index = fetched.index.filter(|_| fetched.is_beside)?;
        let is_raced = running.contains(&(place.0, fetched.run)) && decides(job, place);
        is_raced.then(|| step(job, rule, place, fetched.run, index))?
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

/// The step for a number that a run of a session gives among others.
fn step(job: &Job<'_>, rule: &'static Rule, (file, number): Place, id: CallId, index: usize) -> Option<Step> {
    let text = job.text(file)?;
    let call = text.module.call(id);
    let is_name = |own: &&Definition| own.value == number && own.statement == Some(call.statement);
    let name = text.module.definitions.iter().find(is_name);
    let range = name.map_or(text.module.value(number).range, |own| own.range);
    let finding = obstacle(
        rule,
        job.facts.location(file, range),
        "the number of the step is read while the step is counted",
    )
    .here("another rank may read one more")
    .help("read it in a run of its own: what decides about steps has to be the same on all ranks")
    .in_scope(job.scope_of(file, id));
    let Some(read) = name else { return Some(Step::blocked(finding, NOT_NAMED)) };
    let Some(counter) = counter(text, call, index) else {
        return Some(Step::blocked(finding, NOT_WRITTEN_OUT));
    };
    let Some(reading) = reading(job, text, file, call, counter) else {
        return Some(Step::blocked(finding, NO_NAME));
    };
    let own = text.slice(read.range);
    let (message, edits) = if are_changed_in_place(job) {
        ("read it behind the step", text.after(call.statement, &[&format!("{own} = {reading}")]))
    } else {
        let name = fresh(text.module, NAME);
        let mut edits = text.before(call.statement, &[&format!("{name} = {reading}")]);
        edits.extend(text.after(call.statement, &[&format!("{own} = {name}")]));
        ("read it before the step", edits)
    };
    let step = Step::change(finding, message, edits, Vec::new());
    Some(step.right_everywhere_in(vec![file]))
}

/// Whether a program's variables are those of TensorFlow 1.
fn are_changed_in_place(job: &Job<'_>) -> bool {
    (first_call(job, OLD_VARIABLES).is_some() || job.facts.is_program_of_tensorflow_1(job.program))
        && first_call(job, NEW_VARIABLES).is_none()
}

/// What brings those back.
const OLD_VARIABLES: [&str; 2] =
    ["tensorflow.compat.v1.disable_v2_behavior", "tensorflow.compat.v1.disable_resource_variables"];

/// What makes others.
const NEW_VARIABLES: [&str; 1] = ["tensorflow.compat.v1.enable_resource_variables"];

/// The variable for the number before the step.
const NAME: &str = "hvd_step";

const NOT_NAMED: &str = "It gets no name where the session runs.";
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
