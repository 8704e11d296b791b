//! Callbacks that only write, in a list that `evaluate` or `predict` gets: rank 0 alone needs them, and waits for nobody there.

use super::super::callback::{Acts, Ranks};
use super::super::job::Job;
use super::super::ranked::is_for_one_rank;
use super::super::started::runs_started;
use super::super::step::Step;
use crate::api::{Effect, Kind, Symbol};
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::{CallId, Container, Element, Value, ValueId};

/// The parameter for callbacks.
const CALLBACKS: &str = "callbacks";

/// The steps for a program that is not distributed yet.
pub(in crate::distribute) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if job.program.already_distributed {
        return Vec::new();
    }
    job.calls().filter_map(|(file, call)| step(job, rule, file, call)).collect()
}

fn step(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Option<Step> {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let evaluates = |own: &&Symbol| own.has(Effect::Evaluates) || own.has(Effect::Predicts);
    let mut symbols = facts.called_symbols(file, id).filter(evaluates);
    let given = symbols.find_map(|own| facts.argument(file, call, own, CALLBACKS))?;
    let evaluation = facts.module(file).value(given.value);
    let Value::Display(Container::List | Container::Tuple, elements) = &evaluation.value else { return None };
    let only_writes = |element: &Element| match *element {
        Element::At(_, value) => is_for_first(job, file, value),
        _ => false,
    };
    let is_written_here = given.range.contains_range(evaluation.range);
    if !is_written_here || elements.is_empty() || !elements.iter().all(only_writes) {
        return None;
    }
    if !runs_started(job, file, id) || is_for_one_rank(job, file, id) {
        return None;
    }
    let code = job.code(file, call.scope);
    let finding = Step::missing(
        rule,
        facts.location(file, given.range),
        "every rank writes the files of these callbacks",
    )
    .here("written by each rank")
    .help("evaluate with them on rank 0 only")
    .in_scope(job.scope_of(file, id));
    let text = job.text(file)?;
    // As a whole: another argument may be added behind it.
    let edit =
        text.replace(given.range, format!("{} if {} else None", text.slice(given.range), code.is_first()));
    Some(code.step(Step::change(finding, "give them on rank 0 only", vec![edit], vec![code.import])))
}

/// Whether a value is surely a callback that rank 0 alone needs.
fn is_for_first(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let mut objects = job.facts.objects(file, value).map(|(id, _)| id).peekable();
    let is = |id| job.facts.kind(id) == Some(Kind::Callback) && Acts::of(job, id).ranks() == Ranks::First;
    objects.peek().is_some() && objects.all(is)
}
