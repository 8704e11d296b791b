//! No process chooses its GPU by hand: Horovod's start does it for each rank.

use super::distribution_rule;
use super::job::Job;
use super::step::Step;
use crate::api::Effect;
use crate::program::{Literal, Object};
use crate::project::FileId;
use crate::semantic::{BuiltinType, CallId, Role, StoreKey, Value, ValueId};

distribution_rule!("HVD211", "device-pinned-by-hand", steps);

/// The environment variable that hides GPUs from a process.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

fn steps(job: &Job<'_>) -> Vec<Step> {
    if job.program.already_distributed {
        return Vec::new();
    }
    let mut found = by_call(job);
    found.extend(by_environment(job));
    found
}

/// Calls such as `tf.config.set_visible_devices(gpus[0], "GPU")`.
fn by_call(job: &Job<'_>) -> Vec<Step> {
    let mut found = Vec::new();
    for (file, id) in job.calls() {
        if !job.facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::PinsDevice)) {
            continue;
        }
        let call = job.facts.module(file).call(id);
        if job.facts.called_symbols(file, id).any(|symbol| symbol.parameter(PLACE).is_some()) {
            found.extend(placed(job, file, id));
            continue;
        }
        let finding = Step::missing(&RULE.rule, job.at_call(file, id), "the program chooses its GPU by hand")
            .here("every rank would take the same one")
            .help("remove the choice: each rank takes the GPU of its local rank")
            .in_scope(job.scope_of(file, id));
        let Some(text) = job.text(file) else { continue };
        if call.role == Role::Statement {
            found.push(Step::change(finding, "remove the choice", text.remove(call.statement), Vec::new()));
        } else {
            let reason = "The choice is part of a larger expression, which can't be removed.";
            found.push(Step::blocked(finding, reason));
        }
    }
    found
}

/// The parameter of a context that places operations on a device.
const PLACE: &str = "device_name";

/// `with tf.device("/gpu:%d" % i)`: a process that uses several GPUs. One that a constant names is the first, as each
/// rank sees it.
fn placed(job: &Job<'_>, file: FileId, id: CallId) -> Option<Step> {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let place =
        facts.called_symbols(file, id).find_map(|symbol| facts.argument(file, call, symbol, PLACE))?;
    let names = &facts.solution.names;
    let is_several = facts.objects(file, place.value).any(|(_, object)| match object {
        Object::Literal(Literal::Str(text)) => names
            .text(text)
            .rsplit(':')
            .next()
            .is_some_and(|number| number.parse().is_ok_and(|number: u32| number > 0)),
        Object::Type(BuiltinType::Str) => true,
        _ => false,
    });
    let finding =
        Step::missing(&RULE.rule, job.at_call(file, id), "the program shares its work out to several GPUs")
            .here("each rank sees one GPU")
            .help("place the work of a step on one device")
            .in_scope(job.scope_of(file, id));
    is_several.then(|| Step::blocked(finding, "A rank has one GPU; there is no second one to place work on."))
}

/// `os.environ["CUDA_VISIBLE_DEVICES"] = "0"`.
fn by_environment(job: &Job<'_>) -> Vec<Step> {
    let mut found = Vec::new();
    for file in job.program.files() {
        let module = job.facts.module(file);
        for store in &module.stores {
            let StoreKey::Item(key) = store.key else { continue };
            if !is_environment(job, file, store.base)
                || !is_text(job, file, key, |name| name == VISIBLE)
                || is_text(job, file, store.value, |devices| matches!(devices, "" | "-1"))
            {
                continue;
            }
            let location = job.facts.location(file, store.range);
            let finding = Step::missing(&RULE.rule, location, "the program chooses its GPUs by hand")
                .here("every rank would see the same ones")
                .help("remove the choice: each rank takes the GPU of its local rank");
            let Some(text) = job.text(file) else { continue };
            let is_plain = text.module.value(store.value).range.end()
                <= text.module.statement(store.statement).range.end()
                && !matches!(text.module.value(store.value).value, Value::Unpack { .. });
            if is_plain {
                let edits = text.remove(store.statement);
                found.push(Step::change(finding, "remove the choice", edits, Vec::new()));
            }
        }
    }
    found
}

fn is_environment(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let library = job.facts.library;
    let environment = library.lookup("os.environ");
    let class = environment.and_then(|symbol| library.returned_class(symbol));
    job.facts.objects(file, value).any(|(_, object)| {
        let own = job.facts.symbol(object);
        own.is_some() && (own == environment || own == class)
    })
}

/// Whether a value is a string that is wanted.
fn is_text(job: &Job<'_>, file: FileId, value: ValueId, wanted: impl Fn(&str) -> bool) -> bool {
    let names = &job.facts.solution.names;
    let mut objects = job.facts.objects(file, value);
    objects.any(|(_, object)| match object {
        Object::Literal(Literal::Str(text)) => wanted(names.text(text)),
        _ => false,
    })
}
