//! A value that the text reads at each call is read once, while tracing.

use super::later::Later;
use super::{Graph, graph_check, one_for_each_cause};
use crate::api::{Effect, Kind, Symbol};
use crate::finding::{Confidence, Finding};
use crate::program::{Caller, Facts, Object, ObjectId, Spot};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId, Container, StoreKey, Value, ValueId, Variable};
use crate::syntax::TextRange;

graph_check!("HVD402", "trace-time-constant", Warning, run);

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for caller in graph.repeated() {
        findings.extend(drawn(graph, caller));
    }
    findings.extend(changed_later(graph));
    findings
}

/// Calls of clocks and of Python's and `NumPy`'s random numbers, and of iterators over Python's containers.
fn drawn(graph: &Graph<'_>, caller: Caller) -> Vec<Finding> {
    let module = graph.module(caller.file);
    let mut found = Vec::new();
    for (index, call) in module.calls.iter().enumerate().filter(|(_, call)| call.scope == caller.scope) {
        let effects = graph.python_effects(caller.file, CallId::new(index));
        let what = if effects.contains(Effect::DrawsRandom) {
            "random number is drawn"
        } else if effects.contains(Effect::ReadsClock) {
            "clock is read"
        } else if graph.facts.called_builtins(caller.file, CallId::new(index)).any(advances)
            && call
                .arguments
                .first()
                .is_some_and(|argument| is_python_iterator(graph, caller.file, argument.value))
        {
            "iterator is advanced"
        } else {
            continue;
        };
        if graph.facts.is_guarded(caller, call.block)
            || graph.facts.is_outside_graph(caller.file, call.statement)
            || graph.retraced.contains(&caller)
            || graph.facts.is_constructor(caller)
            || is_of_seed(graph, caller.file, CallId::new(index))
        {
            continue;
        }
        let message = format!("this {what} once for each trace: the graph has a constant");
        let help = if effects.contains(Effect::DrawsRandom) {
            "use `tf.random`, which is an operation"
        } else {
            "read it outside and pass it as a tensor, or use `tf.timestamp`"
        };
        found.push(graph.finding(&CHECK, caller, call.range, message).help(help));
    }
    found
}

/// Whether a call takes the next element of an iterator.
fn advances(symbol: &Symbol) -> bool {
    symbol.has(Effect::Converts) && symbol.has(Effect::UpdatesState)
}

/// Whether a value is an iterator of Python's that code outside of the trace has made.
fn is_python_iterator(graph: &Graph<'_>, file: FileId, value: ValueId) -> bool {
    let module = graph.module(file);
    let is_kept = match module.value(value).value {
        Value::Cell(variable) => !graph.is_traced(Caller { file, scope: module.code_scope(variable.scope) }),
        Value::Attribute { .. } | Value::Import(_) => true,
        _ => false,
    };
    let iterator = graph.facts.library.lookup("builtins.iterator");
    let is_iterator = |&id: &ObjectId| match graph.facts.solution.object(id) {
        Object::Container(Container::Generator, _) => true,
        object @ Object::Created(..) => graph
            .facts
            .symbol(object)
            .zip(iterator)
            .is_some_and(|(own, base)| own.is_class() && graph.facts.library.is_subclass(own, base)),
        _ => false,
    };
    let mut known =
        graph.facts.solution.values(file, value).iter().filter(|&&id| id != ObjectId::UNKNOWN).peekable();
    is_kept && !graph.facts.is_dataset(file, value) && known.peek().is_some() && known.all(is_iterator)
}

/// Something that traced code reads, that is no tensor, and that other code changes.
#[derive(Clone, Copy)]
enum Read<'m> {
    Variable(Variable),
    Attribute(&'m [ObjectId], &'m str),
    Parts(&'m [ObjectId]),
}

/// What is changed after the first call of the function that reads it: one finding for each change, at the first place
/// that reads what it changes.
fn changed_later(graph: &Graph<'_>) -> Vec<Finding> {
    let mut found: Vec<(Cause, Finding)> = Vec::new();
    let changes = writes(graph);
    if changes.is_empty() {
        return Vec::new();
    }
    let later = Later::new(graph);
    for caller in graph.repeated() {
        let file = caller.file;
        let module = graph.module(file);
        for reading in module.uses.iter().filter(|reading| reading.scope == caller.scope) {
            if let Some(variable) = reading.variable.filter(|variable| variable.scope != caller.scope) {
                let nature = graph.nature(file, reading.value);
                if nature.is_plain() || nature.is_array() {
                    found.extend(report(
                        &later,
                        graph,
                        caller,
                        reading.range,
                        Read::Variable(variable),
                        &changes,
                    ));
                }
                found.extend(report(
                    &later,
                    graph,
                    caller,
                    reading.range,
                    Read::Parts(graph.facts.solution.values(file, reading.value)),
                    &changes,
                ));
            }
        }
        for value in module.values.iter().filter(|value| value.scope == caller.scope) {
            if let Value::Attribute { base, name, narrowed: None } = value.value {
                let read = Read::Attribute(graph.facts.solution.values(file, base), module.names.text(name));
                found.extend(report(&later, graph, caller, value.range, read, &changes));
            }
        }
    }
    one_for_each_cause(found, "read here, too")
}

/// A change by code that is not traced.
struct Write {
    caller: Caller,
    block: BlockId,
    range: TextRange,
    subject: Written,
}

enum Written {
    Variable(Variable),
    Attribute(Vec<ObjectId>, String),
    Parts(Vec<ObjectId>),
}

/// What code that is not traced changes of variables, objects and containers.
fn writes(graph: &Graph<'_>) -> Vec<Write> {
    let mut found = Vec::new();
    for file in graph.facts.files() {
        let module = graph.module(file);
        let outside = |scope| !graph.is_traced(Caller { file, scope });
        for definition in &module.definitions {
            if module.symbol(definition.variable).captured && outside(definition.scope) {
                let caller = Caller { file, scope: definition.scope };
                let subject = Written::Variable(definition.variable);
                found.push(Write { caller, block: definition.block, range: definition.range, subject });
            }
        }
        for store in module.stores.iter().filter(|store| outside(store.scope)) {
            let mut objects = own_objects(graph, file, store.base);
            if objects.is_empty() {
                objects = graph.models_of_callback(file, store.base);
            }
            if objects.is_empty() {
                continue;
            }
            let subject = match store.key {
                StoreKey::Attribute(name) => Written::Attribute(objects, module.names.text(name).to_owned()),
                _ => Written::Parts(objects),
            };
            let caller = Caller { file, scope: store.scope };
            let block = graph.block(file, store.statement);
            found.push(Write { caller, block, range: store.range, subject });
        }
        for (index, call) in module.calls.iter().enumerate().filter(|(_, call)| outside(call.scope)) {
            let Some(receiver) = graph.facts.receiver(file, call) else { continue };
            let changes = graph.changes_container(file, CallId::new(index));
            let objects = if changes { own_objects(graph, file, receiver) } else { Vec::new() };
            if !objects.is_empty() {
                let caller = Caller { file, scope: call.scope };
                let subject = Written::Parts(objects);
                found.push(Write { caller, block: call.block, range: call.range, subject });
            }
        }
    }
    found
}

/// The containers and instances of the project's classes that a value may be, if it can be nothing else.
fn own_objects(graph: &Graph<'_>, file: FileId, value: ValueId) -> Vec<ObjectId> {
    let objects = graph.facts.solution.values(file, value);
    let is_own = |&object: &ObjectId| {
        graph.is_container(object)
            || matches!(graph.facts.solution.object(object), Object::Instance(_, Some(_)) | Object::Class(_))
    };
    if objects.iter().all(is_own) { objects.to_vec() } else { Vec::new() }
}

/// The traced function, and the change that does not reach its graph.
type Cause = (Caller, FileId, TextRange);

fn report(
    later: &Later<'_, '_>,
    graph: &Graph<'_>,
    caller: Caller,
    range: TextRange,
    read: Read<'_>,
    writes: &[Write],
) -> Option<(Cause, Finding)> {
    let write = writes.iter().find(|write| {
        let is_same = match (&write.subject, read) {
            (Written::Variable(own), Read::Variable(read)) => {
                write.caller.file == caller.file && *own == read
            }
            (Written::Attribute(own, name), Read::Attribute(objects, read)) => {
                name == read && own.iter().any(|object| objects.contains(object))
            }
            (Written::Parts(own), Read::Parts(objects)) => {
                own.len() == 1 && objects.len() == 1 && own == objects
            }
            _ => false,
        };
        let of = match &write.subject {
            Written::Attribute(objects, _) => &objects[..],
            _ => &[],
        };
        let spot = (write.caller, write.block, write.range);
        is_same && later.is_changed_between_calls(caller, spot, of)
    })?;
    let (first, _, _) = graph.tracing.tracer(caller)?;
    let message = "this is read once for each trace: later changes do not reach the graph";
    let mut finding = graph
        .finding(&CHECK, caller, range, message)
        .label(graph.facts.location(write.caller.file, write.range), "changed after a call")
        .help("keep it in a `tf.Variable`, or pass it as an argument");
    // Of several objects each has traces of its own: what is given to the next one changes nothing for the last.
    let is_of_others = match &write.subject {
        Written::Attribute(objects, _) => objects.iter().all(|&object| may_be_several(graph, object)),
        _ => false,
    };
    if is_of_others || is_traced_anew(graph, first, write) {
        finding = finding.confidence(Confidence::Possible);
    }
    Some(((first, write.caller.file, write.range), finding))
}

/// Whether code behind a change makes a traced function anew: `self.rate = rate; self.step = tf.function(self._step)`.
fn is_traced_anew(graph: &Graph<'_>, first: Caller, write: &Write) -> bool {
    let facts = graph.facts;
    let spots: Vec<Spot> = graph.tracing.tracers(first).iter().map(|&tracer| facts.spot(tracer)).collect();
    let flow = &graph.module(write.caller.file).scope(write.caller.scope).flow;
    !spots.is_empty()
        && facts.leading_to(spots, |edge| !Facts::is_call_back(edge)).into_iter().any(
            |(caller, block, range)| {
                caller == write.caller
                    && (block == write.block && range.start() >= write.range.end()
                        || block != write.block && flow.leads(write.block, block))
            },
        )
}

/// Whether a generator of random numbers is made with a seed by the traced code itself: it gives the same ones at each
/// call of the text, too.
fn is_of_seed(graph: &Graph<'_>, file: FileId, call: CallId) -> bool {
    let facts = graph.facts;
    let receiver = facts.receiver(file, graph.module(file).call(call));
    let generators = receiver.map(|receiver| facts.solution.values(file, receiver)).unwrap_or_default();
    !generators.is_empty()
        && generators.iter().all(|&generator| {
            facts.kind(generator) == Some(Kind::Random)
                && facts.made_at(generator).is_some_and(|(file, made)| {
                    let module = graph.module(file);
                    let made = module.call(made);
                    let is_constant =
                        |value: ValueId| matches!(module.value(value).value, Value::Constant(_));
                    graph.is_traced(Caller { file, scope: module.code_scope(made.scope) })
                        && !made.arguments.is_empty()
                        && made.arguments.iter().all(|own| is_constant(own.value))
                })
        })
}

/// Whether an object stands for several, made in a loop or by code that runs more than once.
fn may_be_several(graph: &Graph<'_>, object: ObjectId) -> bool {
    let facts = graph.facts;
    facts.made_at(object).is_some_and(|(file, call)| {
        let module = graph.module(file);
        let made = module.call(call);
        let caller = Caller { file, scope: module.code_scope(made.scope) };
        let flow = &module.scope(caller.scope).flow;
        flow.leads(made.block, made.block) || facts.repetition().of(caller).is_some()
    })
}
