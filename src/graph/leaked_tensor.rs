//! A tensor of the graph is put where code outside of the graph reads it.

use super::staging::suite_within;
use super::{Graph, Nature, graph_check};
use crate::finding::Finding;
use crate::program::{Caller, Object};
use crate::semantic::{BranchKind, CallId, Module, StatementId, Value};

graph_check!("HVD403", "leaked-tensor", Error, run);

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for change in graph.changes() {
        let Some(value) = change.value else { continue };
        let nature = graph.nature(change.caller.file, value);
        let is_symbolic = nature.is_of_tensors() && nature != Nature::VARIABLE && nature != Nature::EAGER;
        let read = is_symbolic.then(|| graph.is_read_outside(&change));
        let Some(sureness) = read.flatten() else { continue };
        let what = graph.subject_name(&change);
        let message = format!("{what} keeps a tensor of the graph, which has no value outside of it");
        let mut finding = graph
            .finding(&CHECK, change.caller, change.range, message)
            .help("return the tensor, or keep its value in a `tf.Variable`");
        finding.confidence = finding.confidence.min(sureness);
        findings.push(finding);
    }
    for caller in graph.converted() {
        findings.extend(gathered_in_loops(graph, caller));
    }
    findings
}

/// Lists that a staged loop appends tensors to and that are used behind it: the loop's body is a graph of its own.
fn gathered_in_loops(graph: &Graph<'_>, caller: Caller) -> Vec<Finding> {
    let file = caller.file;
    let module = graph.module(file);
    let mut found = Vec::new();
    for (index, call) in module.calls.iter().enumerate().filter(|(_, call)| call.scope == caller.scope) {
        let Some(receiver) = graph.facts.receiver(file, call) else { continue };
        let Some(around) = loop_around(graph, caller, call.statement) else { continue };
        let Some(first) = call.arguments.first() else { continue };
        let is_method = graph
            .facts
            .callees(file, CallId::new(index))
            .iter()
            .any(|edge| matches!(graph.facts.solution.object(edge.callee), Object::BuiltinMethod(..)));
        let range = module.statement(around).range;
        if !is_method
            || !graph.nature(file, first.value).is_of_tensors()
            || !is_list_made_before(module, receiver, range.start())
            || graph.is_outside(file, receiver)
        {
            continue;
        }
        let used = module.uses.iter().find(|reading| {
            reading.scope == caller.scope && reading.value == receiver && reading.range.start() >= range.end()
        });
        let Some(used) = used else { continue };
        let message = "this list has tensors of a loop's body, which can't be used behind the loop";
        let finding = graph
            .finding(&CHECK, caller, used.range, message)
            .label(graph.facts.location(file, call.range), "the tensor is of the body")
            .label(graph.facts.location(file, module.statement(around).header), "this loop is an operation")
            .help("gather them in a `tf.TensorArray`");
        found.push(finding);
    }
    found
}

fn is_list_made_before(
    module: &Module,
    list: crate::semantic::ValueId,
    before: crate::syntax::TextSize,
) -> bool {
    let made = module.value(list);
    matches!(made.value, Value::Display(..)) && made.range.start() < before
}

/// The staged loop whose body a statement stands in.
fn loop_around(graph: &Graph<'_>, caller: Caller, statement: StatementId) -> Option<StatementId> {
    let module = graph.module(caller.file);
    let mut around = graph.staging.around(module, caller.file, statement);
    around.find_map(|(id, kind)| {
        (kind != BranchKind::If && suite_within(module, statement, id).is_some()).then_some(id)
    })
}
