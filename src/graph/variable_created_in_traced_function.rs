//! Each trace of a function makes another variable, which TensorFlow refuses.

use super::{Graph, graph_check};
use crate::api::{Kind, Symbol};
use crate::finding::{Finding, Location};
use crate::program::Caller;
use crate::semantic::CallId;

graph_check!("HVD404", "variable-created-in-traced-function", Error, run);

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let callers = graph.repeated().filter(|&caller| !graph.facts.is_constructor(caller));
    callers.filter_map(|caller| finding(graph, caller)).collect()
}

/// One report for a function: it fails where the first is made, and all are to move.
fn finding(graph: &Graph<'_>, caller: Caller) -> Option<Finding> {
    let facts = graph.facts;
    let module = graph.module(caller.file);
    let mut calls: Vec<CallId> = facts.outgoing(caller).iter().filter_map(|edge| edge.call).collect();
    calls.sort_unstable_by_key(|&id| (module.call(id).range.start(), id));
    calls.dedup();
    let mut all = calls.into_iter().filter_map(|id| {
        let call = module.call(id);
        let what = facts.called_symbols(caller.file, id).find_map(|symbol| made(graph, symbol))?;
        let is_once =
            facts.is_guarded(caller, call.block) || facts.is_outside_graph(caller.file, call.statement);
        (!is_once).then_some((call.range, what))
    });
    let (first, what) = all.next()?;
    let message = format!("{what} is made in each trace, and only the first may make variables");
    let found = graph
        .finding(&CHECK, caller, first, message)
        .help("make it outside of the function, or once where an attribute is still `None`");
    Some(all.fold(found, |found, (range, what)| {
        found.label(Location::new(caller.file, range), format!("{what} here, too"))
    }))
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
