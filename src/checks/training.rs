//! What several checks say of training loops and calls in the same words.

use crate::finding::{Label, Location};
use crate::program::{CallEdge, Caller, Facts, LoopKind, Program, TrainingLoop, way};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

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

/// What a loop is called in messages: `` `model.fit` ``, `the gradient tape`.
#[must_use]
pub fn name(facts: &Facts<'_>, training_loop: &TrainingLoop) -> String {
    match training_loop.kind {
        LoopKind::GradientTape => "the gradient tape".to_owned(),
        LoopKind::Session | LoopKind::MonitoredSession => "the session".to_owned(),
        LoopKind::KerasFit | LoopKind::Minimize => {
            let file = training_loop.caller.file;
            called(facts, file, training_loop.call)
                .map_or_else(|| "the loop".to_owned(), |name| format!("`{name}`"))
        }
    }
}

/// What a call calls, by the names in the source: `optimizer.minimize`, `next`; its last name where there is
/// more than names.
#[must_use]
pub fn called(facts: &Facts<'_>, file: FileId, call: CallId) -> Option<String> {
    let module = facts.module(file);
    let call = module.call(call);
    let mut value = call.callee;
    let mut names = Vec::new();
    while let Value::Attribute { base, name, .. } = module.value(value).value {
        names.push(module.names.text(name));
        value = base;
    }
    let first = call.callee_range.start();
    let reading = module.uses.iter().find(|reading| reading.range.start() == first && reading.value == value);
    match (reading.and_then(|reading| reading.variable), &module.value(value).value) {
        (Some(variable), _) => names.push(module.variable_name(variable)),
        (None, &Value::Free(name)) => names.push(module.names.text(name)),
        _ => names.truncate(1),
    }
    names.reverse();
    (!names.is_empty()).then(|| names.join("."))
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
