//! Conditions that ask of what kind a value is, not what is in it: `features is not None`, `isinstance(outputs, list)`,
//! `x.dtype == tf.float32`. All ranks have the same answer, whatever their examples are.

use super::super::job::Job;
use crate::api::Effect;
use crate::program::Place;
use crate::project::FileId;
use crate::semantic::{CallId, Operator, Value, ValueId};

/// What tells of what kind a value is.
const TELLING: [&str; 10] = [
    "builtins.callable",
    "builtins.hasattr",
    "builtins.isinstance",
    "builtins.issubclass",
    "builtins.type",
    "tensorflow.is_tensor",
    "tensorflow.keras.backend.int_shape",
    "tensorflow.keras.backend.is_keras_tensor",
    "tensorflow.keras.backend.ndim",
    "tensorflow.rank",
];

/// The attributes of arrays and tensors that do so, beside their shape.
const ATTRIBUTES: [&str; 3] = ["dtype", "ndim", "name"];

/// Whether a condition only asks of what kind values are, as far as it asks for what ranks have of their own; `is_own` tells
/// that of its parts.
pub(super) fn asks_for_form(job: &Job<'_>, place: Place, is_own: &dyn Fn(Place) -> bool) -> bool {
    asks(job, place, is_own, DEPTH)
}

/// How deep the parts of a condition, and of what gradients are in, may lie.
const DEPTH: u32 = 8;

fn asks(job: &Job<'_>, (file, value): Place, is_own: &dyn Fn(Place) -> bool, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let module = job.facts.module(file);
    if module.none_test(value).is_some_and(|test| is_given_or_not(job, file, test.value, depth)) {
        return true;
    }
    match &module.value(value).value {
        Value::Operator { operator: Operator::Not, left, .. } => asks(job, (file, *left), is_own, depth),
        // `training and features is not None`
        Value::Phi(parts) => {
            let range = module.value(value).range;
            let is_part = |&part: &ValueId| {
                let own = module.value(part);
                range.contains_range(own.range) && !matches!(own.value, Value::Constant(_))
            };
            let asks = |&part: &ValueId| asks(job, (file, part), is_own, depth);
            parts.iter().all(is_part)
                && parts.iter().any(asks)
                && parts.iter().all(|part| asks(part) || !is_own((file, *part)))
        }
        _ => false,
    }
}

/// Whether it is the same on all ranks that a value is `None`: of a parameter, and of gradients.
fn is_given_or_not(job: &Job<'_>, file: FileId, value: ValueId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let module = job.facts.module(file);
    match module.value(value).value {
        Value::Parameter(..) => true,
        // `for gradient in tape.gradient(loss, variables)`, also with the variables
        Value::Iteration(base) | Value::Unpack { base, .. } | Value::Item { base, .. } => {
            is_given_or_not(job, file, base, depth)
        }
        Value::Call(call) => {
            job.facts.called_symbols(file, call).any(|own| own.has(Effect::TakesGradients))
                || is_zip(job, file, call)
                    && module
                        .call(call)
                        .arguments
                        .iter()
                        .any(|own| is_given_or_not(job, file, own.value, depth))
        }
        _ => false,
    }
}

fn is_zip(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let zip = job.facts.library.lookup("builtins.zip");
    job.facts.called_symbols(file, call).any(|own| Some(own) == zip)
}

/// Whether a value tells of what kind another is.
pub(super) fn tells_form(job: &Job<'_>, (file, value): Place) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    match module.value(value).value {
        Value::Attribute { name, .. } => ATTRIBUTES.contains(&module.names.text(name)),
        Value::Call(call) => {
            let mut called = facts.called_symbols(file, call).chain(facts.called_builtins(file, call));
            called.any(|own| TELLING.contains(&own.name()))
                || facts.may_call(file, call, TENSOR, |own| own.last_name() == "get_shape")
        }
        _ => false,
    }
}

/// The class of tensors.
const TENSOR: &str = "tensorflow.Tensor";
