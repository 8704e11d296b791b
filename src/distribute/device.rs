//! No process chooses its GPU by hand: Horovod's start does it for each rank.

use super::distribution_rule;
use super::job::Job;
use super::step::Step;
use crate::api::Effect;
use crate::program::{Caller, Literal, Object, Place, way};
use crate::project::FileId;
use crate::semantic::{BlockId, BuiltinType, CallId, Module, Role, Store, StoreKey, Value, ValueId};

distribution_rule!("HVD211", "device-pinned-by-hand", steps);

/// The environment variable that hides GPUs from a process.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

fn steps(job: &Job<'_>) -> Vec<Step> {
    if job.program.already_distributed {
        return Vec::new();
    }
    let mut found = by_call(job);
    found.extend(by_environment(job));
    found.extend(copied(job));
    found
}

/// `multi_gpu_model(model, 4)`: a copy of the model on each of several GPUs. Where the program asks first how many there are, a
/// rank has one and does not come there.
fn copied(job: &Job<'_>) -> Vec<Step> {
    let facts = job.facts;
    let copies = facts.library.lookup("tensorflow.keras.utils.multi_gpu_model");
    let calls = job.calls().filter(|&(file, id)| {
        let call = facts.module(file).call(id);
        facts.called_symbols(file, id).any(|symbol| Some(symbol) == copies)
            && facts.conditions(Caller { file, scope: call.scope }, call.block).is_empty()
    });
    let step = |(file, id)| {
        let message = "the program puts copies of the model on several GPUs";
        let finding = Step::missing(&RULE.rule, job.at_call(file, id), message)
            .here("each rank sees one GPU")
            .help("train the model itself")
            .in_scope(job.scope_of(file, id));
        Step::blocked(finding, "A rank has one GPU; there is no second one to put a copy on.")
    };
    calls.map(step).collect()
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
/// rank sees it, and so is one that the user chooses for the whole program.
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
        Object::Type(BuiltinType::Str) => is_one_of_several(job, (file, place.value)),
        _ => false,
    });
    let finding =
        Step::missing(&RULE.rule, job.at_call(file, id), "the program shares its work out to several GPUs")
            .here("each rank sees one GPU")
            .help("place the work of a step on one device")
            .in_scope(job.scope_of(file, id));
    is_several.then(|| Step::blocked(finding, "A rank has one GPU; there is no second one to place work on."))
}

/// Whether a name that is computed may be another one each time.
fn is_one_of_several(job: &Job<'_>, name: Place) -> bool {
    let behind = job.facts.influence().list_backwards(&[name], |_| false);
    behind.into_iter().any(|(file, value)| {
        matches!(job.facts.module(file).value(value).value, Value::Iteration(_) | Value::Unknown)
    })
}

/// `os.environ["CUDA_VISIBLE_DEVICES"] = "0"`.
fn by_environment(job: &Job<'_>) -> Vec<Step> {
    let mut found = Vec::new();
    for file in job.program.files() {
        let module = job.facts.module(file);
        for store in &module.stores {
            if !is_of_visible_gpus(job, file, store) || always_hides_all(job, file, store.value) {
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

/// Whether the program hides all GPUs from itself on each way to its training: no rank has one to choose. What it hides
/// only sometimes is the start's business again.
pub(super) fn hides_gpus(job: &Job<'_>) -> bool {
    let facts = job.facts;
    let Some(training) = job.program.loops.first() else { return false };
    let calls = way(facts, job.program, training.caller);
    let mut steps: Vec<(Caller, BlockId)> = vec![(training.caller, training.block)];
    for edge in calls {
        steps.extend(edge.call.map(|call| (edge.caller, facts.module(edge.caller.file).call(call).block)));
    }
    job.program.files().into_iter().any(|file| {
        let module = facts.module(file);
        module.stores.iter().any(|store| {
            let (scope, block) = module.code_block(store.statement);
            let caller = Caller { file, scope };
            let is_imported = file != job.program.entry
                && scope == Module::TOP
                && module.statement(store.statement).parent.is_none();
            let comes_before = || {
                let dominance = module.scope(scope).flow.dominance();
                steps.iter().any(|&(of, step)| of == caller && dominance.dominates(block, step))
            };
            is_of_visible_gpus(job, file, store)
                && always_hides_all(job, file, store.value)
                && (is_imported || comes_before())
        })
    })
}

/// Whether a value is nothing else than a string with which no GPU is visible.
fn always_hides_all(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let names = &job.facts.solution.names;
    let hides = |object: Object| match object {
        Object::Literal(Literal::Str(text)) => hides_all(names.text(text)),
        _ => false,
    };
    let mut objects = job.facts.objects(file, value).peekable();
    objects.peek().is_some() && !job.facts.is_unknown(file, value) && objects.all(|(_, object)| hides(object))
}

/// Whether no GPU is visible with this in [`VISIBLE`].
fn hides_all(devices: &str) -> bool {
    matches!(devices, "" | "-1")
}

/// Whether this says which GPUs the process sees.
fn is_of_visible_gpus(job: &Job<'_>, file: FileId, store: &Store) -> bool {
    let StoreKey::Item(key) = store.key else { return false };
    is_environment(job, file, store.base) && is_text(job, file, key, |name| name == VISIBLE)
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
