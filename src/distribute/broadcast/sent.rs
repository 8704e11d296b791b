//! Whether a program broadcasts what a loop trains already, in any form that Horovod's documentation allows.

use super::super::job::Job;
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Object, ObjectId, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// Whether the program broadcasts what a loop trains already: there is a broadcast, and each model is among what is
/// broadcast, as far as that is known.
pub(in crate::distribute) fn is_broadcast(job: &Job<'_>, own: &TrainingLoop) -> bool {
    if !job.program.already_distributed {
        return false;
    }
    let facts = job.facts;
    // A callback sends the variables of the model that it is given to train with.
    let is_of_another_fit = |symbol: &Symbol| {
        symbol.is_class() && facts.library.kind_of_class(symbol) == Kind::Callback && job.is_fit(own)
    };
    let calls: Vec<(FileId, CallId)> = job
        .calls()
        .filter(|&(file, call)| {
            facts.called_symbols(file, call).any(|symbol| {
                sends(symbol) && !is_of_another_fit(symbol)
                    || symbol.has(Effect::Broadcasts) && is_kept(job, file, call)
            }) || gives_unknown_code(job, own, file, call)
        })
        .collect();
    if calls.is_empty() {
        return restores_everywhere(job);
    }
    let broadcast = |model: ObjectId| {
        calls.iter().any(|&(file, call)| {
            let data = facts.module(file).call(call);
            let given = data.arguments.iter().map(|argument| (file, argument.value));
            let given: Vec<_> =
                given.chain(facts.receiver(file, data).map(|receiver| (file, receiver))).collect();
            let behind = facts.influence().backwards(&given, |_| false);
            let mut objects = behind.iter().flat_map(|&(file, value)| facts.objects(file, value));
            let known = behind.iter().any(|&(file, value)| {
                facts.may_be(file, value, Kind::Model) || facts.may_be(file, value, Kind::Layer)
            });
            !known || objects.any(|(id, _)| id == model)
        })
    };
    own.models.iter().all(|&model| broadcast(model))
}

/// Whether a function sends variables, or a class makes hooks or callbacks that do.
fn sends(symbol: &Symbol) -> bool {
    let broadcasts = |symbol: &Symbol| symbol.has(Effect::Broadcasts) && symbol.has(Effect::UpdatesState);
    broadcasts(symbol) || symbol.is_class() && symbol.members().iter().any(broadcasts)
}

/// Whether a call gives the variables of one of a loop's models to a library that nobody knows: it may send them.
fn gives_unknown_code(job: &Job<'_>, own: &TrainingLoop, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let is_unknown = facts.callees(file, call).iter().any(|edge| {
        let callee = facts.solution.object(edge.callee);
        matches!(callee, Object::External(_)) && facts.symbol(callee).is_none()
    });
    is_unknown
        && facts.module(file).call(call).arguments.iter().any(|argument| {
            match facts.module(file).value(argument.value).value {
                Value::Attribute { base, .. } => {
                    facts.solution.values(file, base).iter().any(|object| own.models.contains(object))
                }
                _ => false,
            }
        })
}

/// Whether what a broadcast gives back is given to variables or models: `variable.assign(hvd.broadcast(variable, 0))`.
fn is_kept(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let given = facts.influence().forwards(&[(file, facts.module(file).call(call).result)], |_| false);
    job.calls().any(|(file, call)| {
        let mut arguments = facts.module(file).call(call).arguments.iter();
        arguments.any(|argument| given.contains(&(file, argument.value))) && facts.may_update(file, call)
    })
}

/// Whether the program uses Horovod's elastic state, which broadcasts what it is given.
fn restores_everywhere(job: &Job<'_>) -> bool {
    let facts = job.facts;
    let state = facts.library.lookup("horovod.tensorflow.elastic.TensorFlowKerasState");
    job.calls().any(|(file, call)| {
        let mut made = facts.objects(file, facts.module(file).call(call).result);
        made.any(|(_, object)| {
            facts
                .symbol(object)
                .zip(state)
                .is_some_and(|(own, state)| own.is_class() && facts.library.is_subclass(own, state))
        })
    })
}
