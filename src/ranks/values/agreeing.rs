//! Values that are the same on all ranks though what they are computed from is not.

use super::super::lengths;
use super::is_distributed;
use crate::api::{Effect, Kind};
use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{BuiltinType, CallId, Method, Operator, Value};

/// Whether a value is the same on all ranks whatever it is computed from.
pub(in crate::ranks) fn agrees(facts: &Facts<'_>, place: Place) -> bool {
    let (file, value) = place;
    match facts.module(file).value(value).value {
        Value::Call(call) => {
            facts.gives(place, &[Effect::Agrees])
                // What `__len__` of the project returns is the program's own.
                || facts.gives(place, &[Effect::Measures]) && facts.implied_functions(place).next().is_none()
                || facts.gives(place, &[Effect::TakesGradients]) && is_distributed(facts, file, call)
                || facts.gives(place, &[Effect::Trains]) && averages_metrics(facts, file, call)
        }
        Value::Constant(_) => true,
        Value::Attribute { base, name, .. } => lengths::measures(facts, file, base, name),
        Value::Unpack { base, index: Some(0), .. } => lengths::counts(facts, file, base),
        _ => false,
    }
}

/// Whether a value tells of what form another is, which data of the rank's own don't change: `gradient is None`,
/// `'accuracy' in history`, `isinstance(batch, dict)`.
pub(super) fn asks_for_form(facts: &Facts<'_>, (file, value): Place) -> bool {
    let module = facts.module(file);
    match module.value(value).value {
        Value::Instance(BuiltinType::Bool) => true,
        Value::Operator { operator: Operator::Compare(method), right, .. } => {
            method == Method::CONTAINS && matches!(module.value(right).value, Value::Constant(_))
        }
        Value::Call(call) => ["builtins.isinstance", "builtins.hasattr", "builtins.callable"]
            .into_iter()
            .any(|name| facts.calls_builtin(file, call, name)),
        _ => false,
    }
}

/// Whether `fit` is given a callback that averages the metrics of each epoch.
fn averages_metrics(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let arguments = facts.module(file).call(call).arguments.iter();
    let given: Vec<Place> = arguments.map(|argument| (file, argument.value)).collect();
    let behind = facts.influence().backwards(&given, |_| false);
    behind.into_iter().any(|(file, value)| {
        facts.objects(file, value).any(|(object, own)| {
            facts.kind(object) == Some(Kind::Callback)
                && facts
                    .symbol(own)
                    .is_some_and(|symbol| symbol.members().iter().any(|member| member.has(Effect::Averages)))
        })
    })
}
