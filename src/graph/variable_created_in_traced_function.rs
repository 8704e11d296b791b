//! Each trace of a function makes another variable, which TensorFlow refuses.

use super::{Graph, graph_check};
use crate::api::{Kind, Symbol};
use crate::finding::Finding;
use crate::semantic::CallId;

graph_check!("HVD404", "variable-created-in-traced-function", Error, run);

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for caller in graph.repeated().filter(|&caller| !graph.is_constructor(caller)) {
        let module = graph.module(caller.file);
        for (index, call) in module.calls.iter().enumerate().filter(|(_, call)| call.scope == caller.scope) {
            let id = CallId::new(index);
            let mut symbols = graph.facts.called_symbols(caller.file, id);
            let Some(what) = symbols.find_map(|symbol| made(graph, symbol)) else { continue };
            if graph.facts.is_guarded(caller, call.block)
                || graph.facts.is_outside_graph(caller.file, call.statement)
            {
                continue;
            }
            let message = format!("{what} is made in each trace, and only the first may make variables");
            let finding = graph
                .finding(&CHECK, caller, call.range, message)
                .help("make it outside of the function, or once where an attribute is still `None`");
            findings.push(finding);
        }
    }
    findings
}

/// What a class makes, if it has variables of its own: all variables, optimizers and metrics, and layers with
/// weights, which have initializers.
fn made(graph: &Graph<'_>, symbol: &Symbol) -> Option<&'static str> {
    if !symbol.is_class() {
        return None;
    }
    match graph.facts.library.kind_of_class(symbol) {
        Kind::Variable => Some("a variable"),
        Kind::Optimizer => Some("an optimizer"),
        Kind::Metric => Some("a metric"),
        Kind::Layer => {
            let has_weights =
                symbol.parameters().iter().any(|parameter| parameter.name().ends_with("_initializer"));
            has_weights.then_some("a layer with weights")
        }
        _ => None,
    }
}
