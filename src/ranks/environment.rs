//! What the environment tells a process: the same on all ranks, but for the numbers that the launcher gives each.

use crate::api::{Effect, EffectSet, Symbol};
use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{Constant, Value, ValueId};

/// Which number of the rank a variable of the environment has: `os.environ['OMPI_COMM_WORLD_RANK']`.
pub(super) fn number(facts: &Facts<'_>, (file, value): Place) -> EffectSet {
    let module = facts.module(file);
    let key = match module.value(value).value {
        Value::Item { base, key, .. } if is_environment(facts, file, base) => Some(key),
        Value::Call(id) => {
            let call = module.call(id);
            let is_read = facts.gives((file, value), &[Effect::ReadsEnvironment])
                || facts.receiver(file, call).is_some_and(|receiver| is_environment(facts, file, receiver));
            call.arguments.first().filter(|_| is_read).map(|argument| argument.value)
        }
        _ => None,
    };
    let name = key.and_then(|key| match module.value(key).value {
        Value::Constant(Constant::Str(name)) => Some(module.names.text(name)),
        _ => None,
    });
    let symbol = name.and_then(|name| facts.library.lookup(&format!("environment.{name}")));
    symbol.map_or(EffectSet::NONE, Symbol::effects)
}

fn is_environment(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    facts.gives((file, value), &[Effect::ReadsEnvironment])
}
