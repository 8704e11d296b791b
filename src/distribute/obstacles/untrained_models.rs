//! Examples that a model computes which is not trained: `codes = encoder.predict(images)`, where the encoder's weights are drawn.
//! What the ranks' models learn of their own codes would be averaged, though the codes mean something else on each.

use super::super::job::Job;
use super::super::step::Step;
use super::super::untrained::{Untrained, all_trained_are_seen, ingredients};
use super::obstacle;
use crate::finding::Rule;
use crate::program::Place;
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// The calls of such models whose weights no broadcast makes equal.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if !all_trained_are_seen(job) {
        return Vec::new();
    }
    let untrained = Untrained::all(job).into_iter();
    let alone =
        untrained.filter(|own| own.beside.is_empty() && own.makers.iter().all(|&made| is_known(job, made)));
    let step = |own: Untrained| {
        let message = "the program trains on what a model computes that is not trained, with weights that each rank draws";
        let made = own.makers.first().filter(|&&(file, _)| file == own.file);
        let mut finding = obstacle(rule, job.at_call(own.file, own.call), message);
        if let Some(&(file, model)) = made {
            let range = job.facts.module(file).value(model).range;
            finding = finding.label(job.facts.location(file, range), "the model is made here");
        }
        let finding = finding
            .help("load the weights of that model, train it, or broadcast its variables before it computes")
            .in_scope(job.scope_of(own.file, own.call));
        Step::blocked(finding, "The same example would be another one on each rank.")
    };
    alone.map(step).collect()
}

/// Whether all is seen that goes into a model and that it is given to: somebody else may load its weights, or train it.
fn is_known(job: &Job<'_>, model: Place) -> bool {
    let facts = job.facts;
    let made = ingredients(job, &[model]);
    let is_made_by_others = made.iter().any(|&(file, value)| match facts.module(file).value(value).value {
        Value::Call(call) => is_unseen(job, file, call),
        _ => false,
    });
    let (file, value) = model;
    let objects = facts.solution.values(file, value);
    let is_model = |file, value| facts.solution.values(file, value).iter().any(|own| objects.contains(own));
    !is_made_by_others
        && !job.calls().any(|(file, call)| {
            let mut arguments = facts.module(file).call(call).arguments.iter();
            arguments.any(|own| is_model(file, own.value)) && is_unseen(job, file, call)
        })
}

/// Whether nobody knows what a call calls.
fn is_unseen(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let callee = job.facts.module(file).call(call).callee;
    job.facts.called_symbols(file, call).next().is_none()
        && (job.facts.is_unknown(file, callee) || job.facts.may_be_foreign(file, callee))
}
