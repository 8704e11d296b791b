//! The training loops of one program stand in more than one file.

use rustc_hash::FxHashSet;

use super::{Context, check, training};
use crate::finding::{Finding, Level};
use crate::program::Facts;
use crate::program::{Program, TrainingLoop};

check!("HVD101", "loop-in-several-files", TrainingLoop, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut reported = FxHashSet::default();
    for program in &context.facts.programs {
        let Some(home) = program.loops.first() else { continue };
        let mut files: FxHashSet<_> = std::iter::once(home.caller.file).collect();
        for away in &program.loops {
            // Programs may share a file with a loop.
            if files.insert(away.caller.file) && reported.insert(training::place(away)) {
                findings.push(finding(context.facts, program, home, away));
            }
        }
    }
    findings
}

fn finding(facts: &Facts<'_>, program: &Program, home: &TrainingLoop, away: &TrainingLoop) -> Finding {
    let (here, there) = (training::file_name(facts, away.caller), training::file_name(facts, home.caller));
    let message = format!("the program trains in `{here}` and in `{there}`");
    let mut finding = Finding::new(&CHECK.rule, Level::Error, training::place(away), message)
        .here("training loop of this file")
        .label(training::place(home), "training loop at home")
        .help(format!("bring the training loops together in `{there}`"))
        .in_scope(facts.scope_name(away.caller));
    finding.flow = training::flow(facts, program, away);
    finding
}
