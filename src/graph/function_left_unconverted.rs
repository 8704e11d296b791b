//! A function that `AutoGraph` leaves as it is although tensors decide in it.

use super::{Graph, graph_check};
use crate::finding::Finding;
use crate::program::{Caller, Conversion, Object, Reason};
use crate::semantic::{Function, Module, Value};
use crate::syntax::TextRange;

graph_check!("HVD407", "function-left-unconverted", Error, run);

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for caller in graph.scopes() {
        findings.extend(unconverted(graph, caller));
        findings.extend(lost_receiver(graph, caller));
    }
    findings
}

/// Whether `AutoGraph` gives a function up.
pub(super) fn is_left(graph: &Graph<'_>, caller: Caller) -> bool {
    obstacle(graph, caller).is_some()
}

/// What `AutoGraph` can't rewrite, with words for it.
fn obstacle(graph: &Graph<'_>, caller: Caller) -> Option<(TextRange, &'static str)> {
    let module = graph.module(caller.file);
    let function = graph.facts.function_of(caller)?;
    let own = module.function(function.function);
    if own.generator {
        let at = own.yields.first().map_or(own.range, |&value| module.value(value).range);
        let at = if at.is_empty() { own.range } else { at };
        return Some((at, "a generator"));
    }
    if let Some(refused) = graph.refused.get(&(caller.file, own.range)) {
        let statement = module.statements.iter().find(|statement| statement.range == refused.at);
        let at = statement.map_or(refused.at, |statement| statement.header);
        return Some((at, refused.reason.words()));
    }
    if own.class.is_some()
        && let Some(value) = module.values.iter().find(|value| {
            value.scope == caller.scope
                && matches!(value.value, Value::Attribute { name, .. } if is_private(module.names.text(name)))
        })
    {
        return Some((value.range, "a private name"));
    }
    own.statement.is_none().then(|| twin(graph, caller, module, own)).flatten()
}

/// Python mangles such names in a class: `__x`, but not `__x__`.
fn is_private(name: &str) -> bool {
    name.starts_with("__") && !name.ends_with("__")
}

/// Another lambda with the same parameters on the same line: `AutoGraph` can't tell which is meant.
fn twin(
    graph: &Graph<'_>,
    caller: Caller,
    module: &Module,
    own: &Function,
) -> Option<(TextRange, &'static str)> {
    let names = |function: &Function| -> Vec<&str> {
        function.parameters.iter().map(|parameter| module.names.text(parameter.name)).collect()
    };
    let line = graph.line(caller.file, own.range);
    let other = module.functions.iter().find(|other| {
        other.statement.is_none()
            && other.range != own.range
            && names(other) == names(own)
            && graph.line(caller.file, other.range) == line
    });
    other.map(|_| (own.range, "two lambdas with the same parameters on one line"))
}

fn unconverted(graph: &Graph<'_>, caller: Caller) -> Option<Finding> {
    let module = graph.module(caller.file);
    let traced = graph.tracing.get(caller)?;
    let as_written = traced.conversion == Conversion::AsWritten;
    let decided = graph.staging.branches.iter().find(|staged| staged.caller == caller);
    if as_written {
        let staged = decided?;
        let message = "a tensor decides this branch, which `autograph=False` leaves to Python";
        return Some(
            graph
                .finding(&CHECK, caller, staged.branch.range, message)
                .help("use `tf.cond` or `tf.while_loop`, or let AutoGraph rewrite the function"),
        );
    }
    let (at, what) = obstacle(graph, caller)?;
    let is_returned_generator =
        graph.facts.function_of(caller).is_some_and(|function| module.function(function.function).generator)
            && matches!(traced.reason, Reason::Given(file, call) if graph.facts.is_wrapper(file, call));
    if let Some(staged) = decided {
        let message =
            format!("with {what} AutoGraph leaves the function as it is, although a tensor decides in it");
        let finding = graph
            .finding(&CHECK, caller, at, message)
            .label(graph.facts.location(caller.file, staged.branch.range), "decided by a tensor")
            .help("write it without, or move the part with tensors to a function of its own");
        return Some(finding);
    }
    is_returned_generator.then(|| {
        graph
            .finding(&CHECK, caller, at, "a traced function can't be a generator: it has to return tensors")
            .help("return a list, or iterate outside of the traced function")
    })
}

/// A traced method that is called on an object that nobody keeps: the function holds it weakly, and it is gone when
/// the method is traced.
fn lost_receiver(graph: &Graph<'_>, caller: Caller) -> Option<Finding> {
    let traced = graph.tracing.get(caller)?;
    let Reason::Given(file, call) = traced.reason else { return None };
    if !graph.facts.is_decorator(file, call) {
        return None;
    }
    let function = graph.facts.function_of(caller)?;
    let module = graph.module(caller.file);
    let own = module.function(function.function);
    own.class?;
    let receiver = own.parameters.first()?.value;
    let called = graph.facts.incoming(function).iter().find_map(|edge| {
        let home = graph.module(edge.caller.file);
        let call = home.call(edge.call?);
        let base = graph.facts.receiver(edge.caller.file, call)?;
        let is_made_here = matches!(home.value(base).value, Value::Call(_))
            && call.callee_range.contains_range(home.value(base).range)
            && graph.facts.objects(edge.caller.file, base).all(|(_, object)| {
                matches!(object, Object::Instance(_, Some(node))
                    if graph.facts.solution.origin(node) == Some((edge.caller.file, base)))
            });
        is_made_here.then_some((edge.caller.file, call.range))
    })?;
    let reads = module.uses.iter().find(|reading| reading.scope == caller.scope && reading.value == receiver);
    let parent = module.values.iter().enumerate().find(|(index, value)| {
        value.scope == caller.scope
            && graph
                .facts
                .objects(caller.file, crate::semantic::ValueId::new(*index))
                .any(|(_, object)| matches!(object, Object::Super(..)))
    });
    let at = reads.map(|reading| reading.range).or(parent.map(|(_, value)| value.range))?;
    let message = "the object is gone when this method is traced: nobody keeps it";
    Some(
        graph
            .finding(&CHECK, caller, at, message)
            .label(graph.facts.location(called.0, called.1), "made for this call only")
            .help("keep the object in a variable while its method is called"),
    )
}
