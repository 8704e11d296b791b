//! A `return`, `break` or recursion that a tensor decides, where no operation can do it.

use super::{Graph, graph_check};
use crate::finding::Finding;
use crate::program::Caller;
use crate::semantic::{BranchKind, StatementId, StatementKind};
use crate::syntax::TextRange;

graph_check!("HVD408", "exit-from-traced-loop", Error, run);

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for caller in graph.converted() {
        let module = graph.module(caller.file);
        for (index, statement) in module.statements.iter().enumerate() {
            if statement.scope == caller.scope
                && matches!(statement.kind, StatementKind::Return | StatementKind::Break)
            {
                findings.extend(exit(graph, caller, StatementId::new(index)));
            }
        }
        findings.extend(recursion(graph, caller));
    }
    findings
}

fn exit(graph: &Graph<'_>, caller: Caller, id: StatementId) -> Option<Finding> {
    let module = graph.module(caller.file);
    let statement = module.statement(id);
    let is_return = statement.kind == StatementKind::Return;
    let mut decided: Option<StatementId> = None;
    for around in module.ancestor_ids(id) {
        let own = module.statement(around);
        if own.scope != caller.scope {
            return None;
        }
        let staged = graph.staging.kind(caller.file, around);
        match own.kind {
            StatementKind::If if staged.is_some() => decided = Some(around),
            StatementKind::For | StatementKind::While => {
                let (at, message): (TextRange, &str) = match (is_return, staged, decided) {
                    (true, Some(_), _) => {
                        (own.header, "a `return` can't leave this loop, which is an operation")
                    }
                    (true, None, Some(decided)) => (
                        header_of(graph, caller, decided, statement.range),
                        "a tensor decides whether this Python loop is left by `return`",
                    ),
                    (false, None, Some(_)) => {
                        (own.header, "a tensor decides whether this Python loop is left by `break`")
                    }
                    _ => return None,
                };
                let help = if staged.is_some() {
                    "keep the result in a variable, leave the loop by `break`, and return behind it"
                } else {
                    "loop over a tensor, as in `tf.range`, or put the test into the condition of `while`"
                };
                let finding = graph
                    .finding(&CHECK, caller, at, message)
                    .label(graph.facts.location(caller.file, statement.range), "left here")
                    .help(help);
                return Some(finding);
            }
            _ => {}
        }
    }
    None
}

/// The line of the `if` or `elif` in whose arm a place is.
fn header_of(graph: &Graph<'_>, caller: Caller, id: StatementId, place: TextRange) -> TextRange {
    let levels = graph.levels(caller);
    let level = levels.iter().find(|level| level.statement == id && level.then.contains_range(place));
    level.map_or(graph.module(caller.file).statement(id).header, |level| level.header)
}

/// A function that calls itself where only tensors decide: each trace makes the next one.
fn recursion(graph: &Graph<'_>, caller: Caller) -> Option<Finding> {
    let module = graph.module(caller.file);
    let own = graph.facts.function_of(caller)?;
    let decides = graph
        .staging
        .statements()
        .find(|staged| staged.caller == caller && staged.branch.kind == BranchKind::If)?;
    for (edge, function) in graph.facts.reached_functions(caller) {
        let Some(call) = edge.call.filter(|_| function == own) else { continue };
        let call = module.call(call);
        let conditions = graph.facts.conditions(caller, call.block);
        let is_staged = |range: TextRange| {
            graph
                .staging
                .branches
                .iter()
                .any(|staged| staged.caller == caller && staged.branch.range == range)
        };
        if conditions.iter().any(|condition| !is_staged(condition.branch.range)) {
            continue;
        }
        let at = module.statement(decides.branch.statement).header;
        let message = "only a tensor ends this recursion: both branches are traced, so tracing never ends";
        return Some(
            graph
                .finding(&CHECK, caller, at, message)
                .label(graph.facts.location(caller.file, call.range), "calls itself")
                .help("write a loop, as in `while n > 1:`"),
        );
    }
    None
}
