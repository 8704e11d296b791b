//! What the environment tells a process: the same on all ranks, but for the numbers that the launcher gives each.

use rustc_hash::FxHashSet;

use crate::api::{Effect, EffectSet, Symbol};
use crate::program::{Caller, Facts, Object, Place, Program};
use crate::project::FileId;
use crate::semantic::{Constant, Value, ValueId};

/// Which number of the rank a variable of the environment has: `os.environ['OMPI_COMM_WORLD_RANK']`.
pub(super) fn number(facts: &Facts<'_>, place: Place) -> EffectSet {
    variable(facts, place).map_or(EffectSet::NONE, Symbol::effects)
}

/// The variable that a value is read from, if it is one in which launchers tell the processes apart.
pub(super) fn variable<'a>(facts: &Facts<'a>, (file, value): Place) -> Option<&'a Symbol> {
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
    name.and_then(|name| facts.library.lookup(&format!("environment.{name}")))
}

/// The packages that start Horovod among some of the processes: `hvd.init(comm)`. Who takes part is then decided by a
/// number that is not Horovod's.
pub(super) fn started_among_some<'c>(facts: &Facts<'c>) -> FxHashSet<&'c str> {
    let starts = facts.calls_with(Effect::Initializes).filter(|&(file, call)| {
        facts.module(file).call(call).arguments.iter().any(|own| {
            let is_none = facts.module(file).value(own.value).value == Value::Constant(Constant::None);
            // A library's own constant is the world of all.
            let mut objects = facts.objects(file, own.value);
            !is_none && !objects.any(|(_, object)| matches!(object, Object::External(_)))
        })
    });
    starts.flat_map(|(file, call)| facts.called_symbols(file, call)).map(Symbol::package).collect()
}

/// The programs, by the files that they begin with, that exchange values by another library than Horovod: it may make
/// equal what differs.
pub(super) fn exchanging(facts: &Facts<'_>, programs: &[&Program]) -> FxHashSet<FileId> {
    let calls = facts.calls_with(Effect::Exchanges);
    let callers: Vec<Caller> =
        calls.map(|(file, call)| Caller { file, scope: facts.module(file).call(call).scope }).collect();
    let exchange = |program: &&&Program| callers.iter().any(|caller| program.reached.contains(caller));
    programs.iter().filter(exchange).map(|program| program.entry).collect()
}

fn is_environment(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    facts.gives((file, value), &[Effect::ReadsEnvironment])
}
