//! Programs that start themselves again: `subprocess.run([sys.executable, __file__, rate])`. What a rank starts finds Horovod's
//! variables in its environment and takes itself for that rank.

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::api::Effect;
use crate::finding::Rule;
use crate::program::{Object, Place};
use crate::semantic::{Constant, Value};

/// The first call that does so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let facts = job.facts;
    let is_started = |&(file, id): &_| {
        let spawns = || facts.called_symbols(file, id).any(|own| own.has(Effect::Spawns));
        spawns() && {
            let given = facts.module(file).call(id).arguments.iter().map(|own| (file, own.value));
            let behind = facts.influence().backwards(&given.collect::<Vec<Place>>(), |_| false);
            file == job.program.entry && behind.into_iter().any(|place| is_own_path(job, place))
        }
    };
    let (file, call) = job.calls().find(is_started)?;
    let finding = obstacle(rule, job.at_call(file, call), "the program starts itself again")
        .help("train in functions of the program, one after the other, instead of in processes")
        .in_scope(job.scope_of(file, call));
    let reason = "Each rank's processes would take themselves for that rank, and wait for each other.";
    Some(Step::blocked(finding, reason))
}

/// Whether a value is the path of the program: `__file__`, `sys.argv[0]`.
fn is_own_path(job: &Job<'_>, (file, value): Place) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    match module.value(value).value {
        Value::Free(name) => file == job.program.entry && module.names.text(name) == "__file__",
        Value::Item { base, key, .. } => {
            let arguments = facts.library.lookup("sys.argv");
            module.value(key).value == Value::Constant(Constant::Int(0))
                && facts.objects(file, base).any(|(_, own)| {
                    matches!(own, Object::External(_))
                        && arguments.is_some()
                        && facts.symbol(own) == arguments
                })
        }
        _ => false,
    }
}
