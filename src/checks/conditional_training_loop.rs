//! Whether the program comes to its training loop depends on a condition.

use std::collections::BTreeMap;

use super::{Context, check, training};
use crate::finding::{Finding, Level, Location};
use crate::program::{Approach, CallEdge, Decision, Facts, Manner, Program, TrainingLoop};
use crate::project::FileId;
use crate::semantic::CallId;

check!("HVD105", "conditional-training-loop", TrainingLoop, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let mut worst: BTreeMap<Location, Finding> = BTreeMap::new();
    for program in &context.facts.programs {
        for training_loop in &program.loops {
            let Some(finding) = finding(context, program, training_loop) else { continue };
            let place = finding.primary.location;
            if worst.get(&place).is_none_or(|known| known.level < finding.level) {
                worst.insert(place, finding);
            }
        }
    }
    worst.into_values().collect()
}

fn finding(context: Context<'_>, program: &Program, training_loop: &TrainingLoop) -> Option<Finding> {
    let facts = context.facts;
    let decisions = facts.decisions(training_loop.caller, training_loop.statement, training_loop.block);
    let approach = facts.approach(program, training_loop.caller);
    let Deciding { decision, call, difference } = deciding(facts, &decisions, &approach)?;
    let what = training::name(facts, training_loop);
    let (level, message) = match difference {
        Some(_) => (Level::Error, format!("{what} runs under a condition that may differ between processes")),
        None => (context.warning(), format!("{what} runs only under a condition")),
    };
    let condition = facts.location(decision.condition.caller.file, decision.condition.branch.range);
    let mut finding = Finding::new(&CHECK.rule, level, training::place(training_loop), message)
        .here("training loop")
        .label(condition, role(&decision))
        .in_scope(facts.scope_name(training_loop.caller));
    if let Some(difference) = difference.filter(|difference| !contains(condition, *difference)) {
        finding = finding.label(difference, "may differ between processes");
    }
    if let Some((file, call)) = call {
        let call = facts.module(file).call(call);
        finding = finding.label(facts.location(file, call.range), "the call under it");
    }
    finding.flow = training::flow(facts, program, training_loop);
    Some(finding.help(match difference {
        Some(_) => "decide on one rank and broadcast the decision with `hvd.broadcast_object`",
        None => "make one program for training and one for what else the condition chooses",
    }))
}

fn contains(outer: Location, inner: Location) -> bool {
    outer.file == inner.file && outer.text_range().contains_range(inner.text_range())
}

/// The condition that is reported.
struct Deciding {
    decision: Decision,
    /// The call under it that leads to the loop, unless the loop itself stands under it.
    call: Option<(FileId, CallId)>,
    /// What of it may differ between ranks.
    difference: Option<Location>,
}

/// The condition to report: one that may differ between ranks, else the nearest one if no way is free of
/// conditions.
fn deciding(facts: &Facts<'_>, own: &[Decision], approach: &Approach) -> Option<Deciding> {
    let own = own.iter().map(|&decision| Deciding { decision, call: None, difference: None });
    let calls = approach.calls.iter().map(|conditional| {
        let CallEdge { caller, call, .. } = conditional.edge;
        let call = call.map(|call| (caller.file, call));
        Deciding { decision: conditional.decision, call, difference: None }
    });
    let mut different = own.clone().chain(calls.clone()).filter_map(|deciding| {
        let difference = Some(facts.difference(&deciding.decision)?);
        Some(Deciding { difference, ..deciding })
    });
    let always = approach.unconditional;
    different.next().or_else(|| own.chain(calls.filter(|_| !always)).next())
}

fn role(decision: &Decision) -> &'static str {
    match decision.manner {
        Manner::Within => "it depends on this",
        Manner::Handler => "only after an exception here",
        Manner::After => "this may leave before it",
    }
}
