//! A program trains in a way that is neither a gradient tape nor `fit`, or in both ways at once.

mod unseen;

use rustc_hash::FxHashSet;

use super::training::Manner;
use super::{Context, check, training};
use crate::api::Effect;
use crate::finding::{Finding, Level, Location};
use crate::program::{Caller, Facts, LoopKind, Program, TrainingLoop};
use crate::project::FileId;
use crate::semantic::CallId;
use unseen::Unseen;

check!("HVD102", "loop-not-recognised", TrainingLoop, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let unseen = Unseen::of(context.facts);
    for program in &context.facts.programs {
        findings.extend(other_gradients(context, program));
        findings.extend(updates_by_hand(context, program));
        findings.extend(mixture(context.facts, program));
        findings.extend(unseen.finding(context, program));
    }
    // Programs may share files.
    let mut reported = FxHashSet::default();
    findings.retain(|finding| reported.insert(finding.primary.location));
    findings
}

fn place(facts: &Facts<'_>, (file, call): (FileId, CallId)) -> Location {
    facts.location(file, facts.module(file).call(call).range)
}

fn scope<'a>(facts: &Facts<'a>, (file, call): (FileId, CallId)) -> &'a str {
    facts.scope_name(Caller { file, scope: facts.module(file).call(call).scope })
}

/// Gradients that come from neither a tape nor an optimizer that can be distributed, and that train.
fn other_gradients<'f>(context: Context<'f>, program: &'f Program) -> impl Iterator<Item = Finding> + 'f {
    let facts = context.facts;
    program.other_gradients.iter().filter_map(move |&(file, call)| {
        let symbol = facts.called_symbols(file, call).find(|symbol| symbol.has(Effect::TakesGradients))?;
        // A distributed optimizer averages in its `compute_gradients` and `minimize`.
        if symbol.has(Effect::Minimizes)
            || symbol.has(Effect::Trains)
            || facts.library.acted_on_by_rules(symbol)
            // Those of a graph are averaged where they are taken.
            || !context.strict && facts.optimizers_apply(program, (file, call))
        {
            return None;
        }
        let use_ = if symbol.has(Effect::AppliesGradients) {
            None
        } else {
            Some(training_use(facts, program, file, call)?)
        };
        let message =
            format!("`{}` takes gradients that train, but not from a gradient tape", symbol.last_name());
        let mut finding = Finding::new(&CHECK.rule, Level::Error, place(facts, (file, call)), message)
            .here("gradients taken here")
            .help("take the gradients with `tf.GradientTape`")
            .in_scope(scope(facts, (file, call)));
        if let Some(at) = use_ {
            finding = finding.label(place(facts, at), "they train here");
        }
        Some(finding)
    })
}

/// The nearest call of the program that changes variables by the gradients that a call gives.
fn training_use(
    facts: &Facts<'_>,
    program: &Program,
    file: FileId,
    call: CallId,
) -> Option<(FileId, CallId)> {
    let scope = facts.module(file).call(call).scope;
    facts.uses_of_gradients(program, (file, call)).min_by_key(|&(of, id)| {
        (of != file, facts.module(of).call(id).scope != scope, place(facts, (of, id)))
    })
}

/// Tapes whose gradients no optimizer applies.
fn updates_by_hand<'f>(context: Context<'f>, program: &'f Program) -> impl Iterator<Item = Finding> + 'f {
    let facts = context.facts;
    let by_hand = program.loops.iter().chain(&program.steps_of_fit).filter(|own| own.steps.is_empty());
    by_hand.filter_map(move |own| {
        let &first = own.by_hand.iter().min_by_key(|&&at| place(facts, at))?;
        let message = "the gradients of a tape are applied by hand, without an optimizer";
        let mut finding = Finding::new(&CHECK.rule, context.warning(), place(facts, first), message)
            .here("variable updated here")
            .label(training::place(own), "the gradients' tape")
            .help("replace the updates by `optimizer.apply_gradients(zip(gradients, variables))`")
            .in_scope(scope(facts, first));
        finding.flow = training::flow(facts, program, own);
        Some(finding)
    })
}

/// The first loop that differs in kind from the first loop at home, and trains another model, if not each has an optimizer
/// of its own.
fn mixture(facts: &Facts<'_>, program: &Program) -> Option<Finding> {
    let home = program.loops.first()?;
    let differs = |own: &&TrainingLoop| Manner::of(own) != Manner::of(home);
    let others = |own: &TrainingLoop| {
        let manner = Manner::of(own);
        program.loops.iter().filter(move |other| Manner::of(other) != manner)
    };
    let shares = |own: &TrainingLoop| {
        others(own).any(|other| other.models.iter().any(|model| own.models.contains(model)))
    };
    let is_apart = |own: &TrainingLoop| others(own).all(|other| are_apart(own, other));
    let other = program.loops.iter().filter(differs).find(|own| !shares(own) && !is_apart(own))?;
    let (one, two) = (training::name(facts, home), training::name(facts, other));
    let message = format!("the program trains both by {one} and by {two}");
    let mut finding = Finding::new(&CHECK.rule, Level::Error, training::place(other), message)
        .here("second kind of loop")
        .label(training::place(home), "first kind of loop")
        .help(format!(
            "train in the manner of {one}, or split the program, or give each model an optimizer of its own"
        ))
        .in_scope(facts.scope_name(other.caller));
    finding.flow = training::flow(facts, program, other);
    Some(finding)
}

/// Whether a tape and Keras train what is known, each with an optimizer of its own: then the tape of the one is distributed
/// and the optimizer of the other.
fn are_apart(one: &TrainingLoop, other: &TrainingLoop) -> bool {
    let (tape, fit) = match (one.kind, other.kind) {
        (LoopKind::GradientTape, LoopKind::KerasFit) => (one, other),
        (LoopKind::KerasFit, LoopKind::GradientTape) => (other, one),
        _ => return false,
    };
    !tape.models.is_empty()
        && !fit.models.is_empty()
        && !tape.optimizers.is_empty()
        && !tape.optimizers.iter().any(|own| fit.optimizers.contains(own))
}
