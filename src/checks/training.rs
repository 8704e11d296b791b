//! What the checks on training loops say about a loop in the same words.

use crate::finding::{Label, Location};
use crate::program::{CallEdge, Caller, Facts, LoopKind, Program, TrainingLoop, way};

/// The two ways to train that can be distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// The tape is distributed.
    Tape,
    /// The optimizer is distributed.
    Optimizer,
}

impl Manner {
    /// The manner of a loop.
    #[must_use]
    pub fn of(training_loop: &TrainingLoop) -> Self {
        if training_loop.kind == LoopKind::GradientTape { Self::Tape } else { Self::Optimizer }
    }
}

/// Where a loop is.
#[must_use]
pub fn place(training_loop: &TrainingLoop) -> Location {
    Location::new(training_loop.caller.file, training_loop.range)
}

/// What a loop is called in messages: `` `fit` ``, `the gradient tape`.
#[must_use]
pub fn name(facts: &Facts<'_>, training_loop: &TrainingLoop) -> String {
    let called = facts.called_symbols(training_loop.caller.file, training_loop.call).next();
    match (training_loop.kind, called) {
        (LoopKind::GradientTape, _) => "the gradient tape".to_owned(),
        (LoopKind::Session | LoopKind::MonitoredSession, _) | (_, None) => "the session".to_owned(),
        (_, Some(symbol)) => format!("`{}`", symbol.last_name()),
    }
}

/// The file of a program.
#[must_use]
pub fn file_name<'a>(facts: &Facts<'a>, caller: Caller) -> &'a str {
    &facts.modules.names[caller.file.index()]
}

/// The way from a program's start to a loop, and the loop.
#[must_use]
pub fn flow(facts: &Facts<'_>, program: &Program, training_loop: &TrainingLoop) -> Vec<Label> {
    let calls = way(facts, program, training_loop.caller);
    let mut flow: Vec<Label> = calls.iter().filter_map(|edge| step(facts, edge)).collect();
    flow.push(Label { location: place(training_loop), message: "training loop".to_owned() });
    flow
}

fn step(facts: &Facts<'_>, edge: &CallEdge) -> Option<Label> {
    let call = facts.module(edge.caller.file).call(edge.call?);
    Some(Label { location: facts.location(edge.caller.file, call.range), message: "called here".to_owned() })
}
