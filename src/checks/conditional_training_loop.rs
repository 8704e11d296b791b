//! Whether the program comes to its training loop depends on a condition.

use std::collections::BTreeMap;

use super::{Context, check, training};
use crate::finding::{Finding, Level, Location};
use crate::program::{Approach, Decision, Facts, Manner, Program, TrainingLoop};

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
    let (decision, difference) = deciding(facts, &decisions, &approach)?;
    let what = training::name(facts, training_loop);
    let (level, message) = match difference {
        Some(_) => (Level::Error, format!("{what} runs under a condition that may differ between processes")),
        None => (context.warning(), format!("{what} runs only under a condition")),
    };
    let place = training::place(training_loop);
    let caller = decision.condition.caller;
    let mut finding = Finding::new(&CHECK.rule, level, place, message)
        .here("training loop")
        .label(facts.location(caller.file, decision.condition.branch.range), role(&decision))
        .in_scope(facts.scope_name(training_loop.caller));
    if let Some(difference) = difference.filter(|difference| *difference != finding.labels[0].location) {
        finding = finding.label(difference, "may differ between processes");
    }
    finding.flow = training::flow(facts, program, training_loop);
    Some(finding.help(match difference {
        Some(_) => "decide on one rank and broadcast the decision with `hvd.broadcast_object`",
        None => "make one program for training and one for what else the condition chooses",
    }))
}

/// The condition to report: one that may differ between ranks, else the nearest one, if no way is free of
/// conditions.
fn deciding(
    facts: &Facts<'_>,
    own: &[Decision],
    approach: &Approach,
) -> Option<(Decision, Option<Location>)> {
    let calls = || approach.calls.iter().map(|call| call.decision);
    let all = own.iter().copied().chain(calls());
    let different = all.into_iter().find_map(|decision| Some((decision, Some(facts.difference(&decision)?))));
    let same = || {
        let on_calls = calls().next().filter(|_| !approach.unconditional);
        Some((own.first().copied().or(on_calls)?, None))
    };
    different.or_else(same)
}

fn role(decision: &Decision) -> &'static str {
    match decision.manner {
        Manner::Within => "it depends on this",
        Manner::Handler => "only after an exception here",
        Manner::After => "this may leave before it",
    }
}
