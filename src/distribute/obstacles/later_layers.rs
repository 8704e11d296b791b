//! Layers that a model calls in some steps only: `if epoch > 10: x = self.late(x)`. Keras makes the variables of a layer where it is
//! called first: behind the first step, after which the ranks' variables are made equal.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::step::Step;
use super::counted::{counts, is_range};
use super::layer_code::is_of_layer;
use super::obstacle;
use crate::api::Kind;
use crate::finding::Rule;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Constant, Definition, Operator, Value, ValueId};

/// The calls of such layers.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    // `fit` traces the model once, and a traced step may not make variables later.
    if job.tape_loops().next().is_none() {
        return Vec::new();
    }
    let counted = counted(job);
    if counted.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (file, id) in job.calls() {
        let call = facts.module(file).call(id);
        let caller = Caller { file, scope: call.scope };
        if !facts.may_be(file, call.callee, Kind::Layer)
            || job.traced.contains(&caller)
            || !is_of_layer(job, caller)
        {
            continue;
        }
        let is_later = facts
            .conditions(caller, call.block)
            .iter()
            .any(|own| own.branch.condition.is_some_and(|condition| counted.contains(&(file, condition))));
        if is_later {
            let message = "a layer is called in some steps only, and may have no variables before";
            let finding = obstacle(rule, job.at_call(file, id), message)
                .help("call the layer in the first step too, and leave its result out")
                .in_scope(job.scope_of(file, id));
            let reason = "Its variables would be made after the ranks have been made equal, and begin with other values on each.";
            found.push(Step::blocked(finding, reason));
        }
    }
    found
}

/// All that is computed from which turn of a loop it is, in code that makes steps. What is read or returned by such a number, an
/// example of the data, is another matter.
fn counted(job: &Job<'_>) -> FxHashSet<Place> {
    let facts = job.facts;
    let leading = &job.leading_to_steps().code;
    let files: FxHashSet<FileId> = leading.iter().map(|code| code.file).collect();
    let mut turns: Vec<Place> = Vec::new();
    for file in files {
        let module = facts.module(file);
        let is_leading = |own: &&Definition| leading.contains(&Caller { file, scope: own.scope });
        let bound = module.definitions.iter().filter(is_leading).map(|own| own.value);
        turns.extend(bound.filter(|&value| is_number_of_turn(job, file, value)).map(|value| (file, value)));
    }
    let is_other = |(file, value): Place| {
        matches!(
            facts.module(file).value(value).value,
            Value::Call(_) | Value::Item { .. } | Value::Slice { .. }
        )
    };
    facts.influence().forwards(&turns, is_other)
}

/// Whether a value is what `range` or `enumerate` counts in a loop, or what is added to itself in each turn.
fn is_number_of_turn(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let module = job.facts.module(file);
    let is_call = |value: ValueId, is: fn(&Job<'_>, FileId, CallId) -> bool| match module.value(value).value {
        Value::Iteration(iterable) => match module.value(iterable).value {
            Value::Call(call) => is(job, file, call),
            _ => false,
        },
        _ => false,
    };
    match module.value(value).value {
        Value::Iteration(_) => is_call(value, is_range),
        Value::Unpack { base, index: Some(0), .. } => is_call(base, counts),
        Value::Operator { operator: Operator::InPlace(_) | Operator::Binary(_), left, right } => {
            let is_one = |own: ValueId| matches!(module.value(own).value, Value::Constant(Constant::Int(_)));
            is_one(right) && matches!(&module.value(left).value, Value::Phi(parts) if parts.contains(&value))
        }
        _ => false,
    }
}
