//! One model is trained both by a gradient tape and by `fit`.

use rustc_hash::FxHashSet;

use super::training::Manner;
use super::{Context, check, training};
use crate::finding::{Finding, Level};
use crate::program::{Facts, ObjectId, Program, TrainingLoop};

check!("HVD103", "model-with-two-loops", TrainingLoop, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut reported = FxHashSet::default();
    for program in &context.facts.programs {
        let mut models: Vec<ObjectId> =
            program.loops.iter().flat_map(|own| own.models.iter().copied()).collect();
        models.sort_unstable();
        models.dedup();
        for model in models {
            let mut loops = program.loops.iter().filter(|own| own.models.contains(&model));
            let Some(first) = loops.next() else { continue };
            let other = loops.find(|own| Manner::of(own) != Manner::of(first));
            if let Some(other) = other.filter(|other| reported.insert(training::place(other))) {
                findings.push(finding(context.facts, program, model, first, other));
            }
        }
    }
    findings
}

fn finding(
    facts: &Facts<'_>,
    program: &Program,
    model: ObjectId,
    first: &TrainingLoop,
    other: &TrainingLoop,
) -> Finding {
    let (one, two) = (training::name(facts, first), training::name(facts, other));
    let message = format!("one model is trained both by {one} and by {two}");
    let mut finding = Finding::new(&CHECK.rule, Level::Error, training::place(other), message)
        .here("second kind of loop")
        .label(training::place(first), "first kind of loop")
        .help(format!("write this loop in the manner of {one}"))
        .in_scope(facts.scope_name(other.caller));
    if let Some(creation) = facts.creation(model) {
        let call = facts.module(creation.file).call(creation.call);
        finding = finding.label(facts.location(creation.file, call.range), "model made here");
    }
    finding.flow = training::flow(facts, program, other);
    finding
}
