//! Losses into which a rank's own results decide what goes: `if random.random() < 0.5: loss += penalty(mask)`. What is not in the
//! loss has no gradient, and the tape leaves it out: the ranks would average the gradients of different variables.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::step::Step;
use super::choices::rests_on_own_results;
use super::obstacle;
use crate::api::Kind;
use crate::finding::Rule;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{ScopeId, Value, ValueId};
use crate::syntax::TextRange;

/// How many choices of one loss are looked at.
const CHOICES: usize = 64;

/// The conditions that decide so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let losses: Vec<Place> = job
        .tape_loops()
        .flat_map(|own| &own.gradients)
        .filter_map(|&(file, id)| {
            let call = facts.module(file).call(id);
            let mut symbols = facts.called_symbols(file, id);
            symbols.find_map(|own| facts.argument(file, call, own, "target")).map(|own| (file, own.value))
        })
        .collect();
    let behind = facts.influence().list_backwards(&losses, |_| false);
    if !behind.iter().any(|&own| is_output(job, own)) {
        return Vec::new();
    }
    let choices = behind.into_iter().filter(|&(file, value)| {
        let own = facts.module(file).value(value);
        matches!(own.value, Value::Phi(_)) && !is_traced(job, file, own.scope)
    });
    let mut found = Vec::new();
    let mut told: FxHashSet<(FileId, TextRange)> = FxHashSet::default();
    for (file, value) in choices.take(CHOICES) {
        let Some(condition) = deciding(job, file, value) else { continue };
        let range = facts.module(file).value(condition).range;
        if told.contains(&(file, range)) || !have_other_outputs(job, file, value) {
            continue;
        }
        told.insert((file, range));
        let message = "this rank's own results choose what a step trains";
        let finding = obstacle(rule, facts.location(file, range), message)
            .help("let all ranks have the same terms, such as one that is multiplied by 0");
        let reason = "The ranks would have gradients for other variables, and wait for each other for ever.";
        found.push(Step::blocked(finding, reason));
    }
    found
}

/// Whether code is traced: in a graph what a condition leaves out has gradients, too.
fn is_traced(job: &Job<'_>, file: FileId, scope: ScopeId) -> bool {
    job.traced.contains(&Caller { file, scope: job.facts.module(file).code_scope(scope) })
}

/// The condition on a rank's own results that chooses which of several values one is.
fn deciding(job: &Job<'_>, file: FileId, value: ValueId) -> Option<ValueId> {
    let conditions = job.facts.choosing(file, value).into_iter();
    conditions.filter_map(|own| own.branch.condition).find(|&own| rests_on_own_results(job, (file, own)))
}

/// Whether the values that one may be are computed from other outputs of models and layers.
fn have_other_outputs(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let Value::Phi(parts) = &job.facts.module(file).value(value).value else { return false };
    let mut outputs = parts.iter().map(|&part| outputs(job, (file, part)));
    let first = outputs.next();
    outputs.any(|own| Some(own) != first)
}

/// The outputs of models and layers that a value is computed from; of several that one call gives, each.
fn outputs(job: &Job<'_>, value: Place) -> FxHashSet<Place> {
    let behind = job.facts.influence().backwards(&[value], |place| is_output(job, place));
    behind.into_iter().filter(|&place| is_output(job, place)).collect()
}

fn is_output(job: &Job<'_>, (file, value): Place) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let is_of_model = |value: ValueId| match module.value(value).value {
        Value::Call(call) => {
            let callee = module.call(call).callee;
            [Kind::Model, Kind::Layer].into_iter().any(|kind| facts.may_be(file, callee, kind))
        }
        _ => false,
    };
    match module.value(value).value {
        Value::Unpack { base, .. } | Value::Item { base, .. } => is_of_model(base),
        _ => is_of_model(value),
    }
}
