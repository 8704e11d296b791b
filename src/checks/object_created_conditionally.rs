//! Restriction 7: whether a dataset or an optimizer is created must not depend on a condition.

use rustc_hash::FxHashMap;

use super::objects::Family;
use super::sources::{Source, flow, sources};
use super::trained_on::Training;
use super::{Context, check};
use crate::api::Kind;
use crate::finding::{Finding, Level};
use crate::program::{Approach, CallEdge, Caller, Condition, Decision, Facts, Manner};
use crate::semantic::{BranchKind, StatementKind, Suite};

check!("HVD007", "object-created-conditionally", Restriction, Error, run);

/// What the creation depends on, with the call under the condition if it is not the creation itself.
type Cause = (Decision, Option<CallEdge>);

fn run(context: Context<'_>) -> Vec<Finding> {
    let mut approaches = Approaches::default();
    let training = Training::default();
    let sources = sources(context.facts, Family::DatasetsAndOptimizers);
    let causes = sources.iter().map(|source| (source, causes(context.facts, source, &mut approaches)));
    causes.filter_map(|(source, causes)| conditional(context, source, &causes, &training)).collect()
}

/// The conditions of the creation itself; without one those of the calls, if no way to it is free of them.
fn causes(facts: &Facts<'_>, source: &Source, approaches: &mut Approaches) -> Vec<Cause> {
    let caller = source.caller(facts);
    let own = decisions(facts, source);
    if !own.is_empty() {
        return own.into_iter().map(|decision| (decision, None)).collect();
    }
    let conditional = approaches.to(facts, caller).iter().find(|approach| !approach.unconditional);
    let calls = conditional.into_iter().flat_map(|approach| &approach.calls);
    // A call in the body of a `try` is made, whatever may interrupt what it calls.
    calls.filter(|call| !is_try_body(&call.decision)).map(|call| (call.decision, Some(call.edge))).collect()
}

/// The conditions under which the creation runs once its scope does, loops that may not run among them.
fn decisions(facts: &Facts<'_>, source: &Source) -> Vec<Decision> {
    let caller = source.caller(facts);
    let call = facts.module(caller.file).call(source.creation.call);
    let mut found = facts.decisions(caller, call.statement, call.block);
    let conditions = facts.conditions(caller, call.block).into_iter();
    let loops = conditions.filter(|condition| is_skippable_loop(facts, source, condition));
    found.extend(loops.map(|condition| Decision { condition, manner: Manner::Within }));
    found.retain(|decision| !is_try_body(decision) || has_handler(facts, &decision.condition));
    found
}

fn is_try_body(decision: &Decision) -> bool {
    decision.condition.branch.kind == BranchKind::Try && decision.manner == Manner::Within
}

/// Whether a `try` goes on after an exception.
fn has_handler(facts: &Facts<'_>, condition: &Condition) -> bool {
    let around = condition.branch.statement;
    let module = facts.module(condition.caller.file);
    module
        .statements
        .iter()
        .any(|statement| statement.parent == Some(around) && statement.suite == Suite::Handler)
}

fn is_skippable_loop(facts: &Facts<'_>, source: &Source, condition: &Condition) -> bool {
    let Caller { file, .. } = condition.caller;
    let module = facts.module(file);
    let branch = condition.branch;
    let statement = module.call(source.creation.call).statement;
    if !matches!(branch.kind, BranchKind::For | BranchKind::While) {
        return false;
    }
    let around = module.statement(branch.statement);
    let is_inside = if branch.statement == statement {
        // A comprehension; the head of a loop always runs.
        !matches!(around.kind, StatementKind::For | StatementKind::While)
    } else {
        let mut child = module.statement(statement);
        loop {
            match child.parent {
                Some(parent) if parent == branch.statement => break child.suite == Suite::Body,
                Some(parent) => child = module.statement(parent),
                None => break false,
            }
        }
    };
    is_inside && !branch.condition.is_some_and(|iterable| facts.surely_iterates(file, iterable))
}

fn conditional(
    context: Context<'_>,
    source: &Source,
    causes: &[Cause],
    training: &Training,
) -> Option<Finding> {
    let facts = context.facts;
    let differing = causes.iter().find_map(|cause| Some((cause, facts.difference(&cause.0)?)));
    let &(decision, call) = differing.map(|(cause, _)| cause).or(causes.first())?;
    let Condition { caller, branch } = decision.condition;
    let name = source.name(facts);
    let condition = facts.location(caller.file, branch.range);
    let says = match (decision.manner, branch.kind) {
        (Manner::After, _) => "may end before it",
        (Manner::Handler, _) => "only if this fails",
        (_, BranchKind::Try) => "may be interrupted",
        (_, BranchKind::For | BranchKind::While) => "may not run",
        (_, BranchKind::Match | BranchKind::Case) => "decided by this subject",
        _ => "decided by this condition",
    };
    let (level, message) = match differing {
        Some(_) if concerns_training(facts, source, training) => {
            (Level::Error, format!("{name} is created under a condition that may differ between processes"))
        }
        _ => (context.warning(), format!("{name} is created only under a condition")),
    };
    let mut finding = Finding::new(&CHECK.rule, level, source.place(facts), message)
        .here("created conditionally")
        .in_scope(facts.scope_name(source.caller(facts)))
        .confidence(source.confidence(facts))
        .label(condition, says);
    if let Some((edge, id)) = call.and_then(|edge| Some((edge, edge.call?))) {
        let range = facts.module(edge.caller.file).call(id).range;
        finding = finding.label(facts.location(edge.caller.file, range), "called only then");
    }
    if let Some((_, place)) = differing.filter(|&(_, place)| place != condition) {
        finding = finding.label(place, "may differ between processes");
    }
    finding.flow = flow(facts, source);
    Some(
        finding
            .help("choose the arguments under the condition and create the object after it, in every case"),
    )
}

/// Whether ranks that make another object, or none, would train otherwise. Only data can be meant for something else.
fn concerns_training(facts: &Facts<'_>, source: &Source, training: &Training) -> bool {
    source.creation.kind != Kind::Dataset
        || training.concerns(facts, (source.creation.file, source.call(facts).result))
}

/// How the programs come to the scopes that have been asked for.
#[derive(Default)]
struct Approaches {
    known: FxHashMap<Caller, Vec<Approach>>,
}

impl Approaches {
    fn to(&mut self, facts: &Facts<'_>, caller: Caller) -> &[Approach] {
        self.known.entry(caller).or_insert_with(|| {
            let programs = facts.programs.iter().filter(|program| program.reached.contains(&caller));
            programs.map(|program| facts.approach(program, caller)).collect()
        })
    }
}
