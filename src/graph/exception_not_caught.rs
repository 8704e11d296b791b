//! An operation fails when the graph runs, where the `except` clause around its line is long gone.

use super::{Graph, graph_check};
use crate::api::Effect;
use crate::finding::Finding;
use crate::program::Caller;
use crate::semantic::{CallId, StatementId, StatementKind, Suite, Value};

use super::staging::suite_within;

graph_check!("HVD410", "exception-not-caught", Warning, run);

/// What all errors of operations inherit from.
const ERROR: &str = "tensorflow.errors.OpError";

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for caller in graph.scopes() {
        let module = graph.module(caller.file);
        for (index, statement) in module.statements.iter().enumerate() {
            if statement.scope == caller.scope && statement.kind == StatementKind::Try {
                findings.extend(attempt(graph, caller, StatementId::new(index)));
            }
        }
    }
    findings
}

fn attempt(graph: &Graph<'_>, caller: Caller, id: StatementId) -> Option<Finding> {
    let file = caller.file;
    let module = graph.module(file);
    let range = module.statement(id).range;
    let handler = module
        .statements
        .iter()
        .find(|statement| statement.parent == Some(id) && statement.suite == Suite::Handler)?;
    if graph.facts.is_outside_graph(file, id) {
        return None;
    }
    let error = graph.facts.library.lookup(ERROR);
    let catches_operations = module.values.iter().any(|value| match value.value {
        Value::Caught(classes) if value.scope == caller.scope && range.contains_range(value.range) => {
            graph.facts.objects(file, classes).any(|(_, object)| {
                let class = graph.facts.symbol(object).filter(|symbol| symbol.is_class());
                class.zip(error).is_some_and(|(class, error)| graph.facts.library.is_subclass(class, error))
            })
        }
        _ => false,
    });
    let fails = |index: usize| {
        graph.facts.called_symbols(file, CallId::new(index)).any(|symbol| {
            symbol.has(Effect::FailsLate)
                || catches_operations
                    && graph.facts.library.is_training_library(symbol.package())
                    && !symbol.is_class()
        })
    };
    let (_, call) = module.calls.iter().enumerate().find(|(index, call)| {
        call.scope == caller.scope
            && range.contains_range(call.range)
            && (suite_within(module, call.statement, id) == Some(Suite::Body))
            && fails(*index)
    })?;
    let message = "this fails when the graph runs, and not here: the handler does not see it";
    Some(
        graph
            .finding(&CHECK, caller, call.range, message)
            .label(graph.facts.location(file, handler.range), "runs only if tracing fails")
            .help("catch the error where the traced function is called, or test the value with `tf.cond`"),
    )
}
