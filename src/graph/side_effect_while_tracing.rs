//! A Python effect in traced code happens once for each trace and not at each call.

use super::construction::Construction;
use super::outside::{Change, Subject};
use super::{Graph, about_the_trace, graph_check, one_for_each_cause};
use crate::api::Effect;
use crate::finding::{Confidence, Finding, Level};
use crate::program::Caller;
use crate::semantic::{BranchKind, CallId, StatementId, StatementKind, Value};

graph_check!("HVD401", "side-effect-while-tracing", Error, run);

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let changes = graph.changes();
    let construction = Construction::new(graph, &changes);
    let changed = changes.iter().filter(|change| is_effect(graph, change)).map(|change| {
        let what = graph.subject_name(change);
        let message = format!("{what} is changed once for each trace and not at each call");
        let mut finding = finding(graph, change.caller, change.statement, change.range, message)
            .help("use a `tf.Variable` and `assign`, or return the value and change the object outside");
        if construction.is_made_once(change.caller) {
            finding.confidence = Confidence::Possible;
        }
        ((change.caller, what), finding)
    });
    let mut findings = one_for_each_cause(changed.collect(), "changed here, too");
    for caller in graph.repeated().filter(|caller| !graph.retraced.contains(caller)) {
        findings.extend(outputs(graph, caller, &construction));
    }
    findings.extend(raised(graph));
    findings
}

/// Whether a change is lost at the second call. What only stores anew, as a flag or a result does, is not.
fn is_effect(graph: &Graph<'_>, change: &Change) -> bool {
    let file = change.caller.file;
    let nature = |value| graph.nature(file, value);
    let of_tensors = change.value.is_some_and(|value| nature(value).is_of_tensors());
    // What the graph hands from one part of it to another is new in each trace.
    let may_be_of_tensors = of_tensors || change.value.is_some_and(|value| nature(value).is_unknown());
    if of_tensors && graph.is_read_outside(change).is_some() {
        return false;
    }
    match change.subject {
        Subject::Container(_) => !of_tensors || graph.is_read_outside(change).is_some(),
        Subject::Item(_) => change.is_step || !may_be_of_tensors,
        Subject::Attribute(..) => change.is_step && !of_tensors,
        Subject::Variable(variable) => {
            change.is_step && !of_tensors || {
                let module = graph.module(file);
                let is_read = |value| match module.value(value).value {
                    Value::Cell(own) => own == variable,
                    Value::Operator { left, .. } => {
                        matches!(module.value(left).value, Value::Cell(own) if own == variable)
                    }
                    _ => false,
                };
                let flow = &module.scope(change.caller.scope).flow;
                flow.blocks
                    .iter()
                    .filter_map(|block| block.branch)
                    .any(|branch| branch.kind == BranchKind::If && branch.condition.is_some_and(is_read))
            }
        }
    }
}

/// Where traced code prints, logs or writes files from Python.
fn outputs(graph: &Graph<'_>, caller: Caller, construction: &Construction<'_, '_>) -> Vec<Finding> {
    let module = graph.module(caller.file);
    let mut found = Vec::new();
    for (index, call) in module.calls.iter().enumerate().filter(|(_, call)| call.scope == caller.scope) {
        let effects = graph.python_effects(caller.file, CallId::new(index));
        let what = if effects.contains(Effect::Prints) {
            "printed"
        } else if effects.contains(Effect::WritesFile) {
            "written"
        } else {
            continue;
        };
        if graph.facts.is_outside_graph(caller.file, call.statement)
            || graph.facts.is_guarded(caller, call.block)
            || graph.leads_to_exception(caller, call.block)
        {
            continue;
        }
        let message = format!("this is {what} once for each trace and not at each call");
        let mut finding = finding(graph, caller, call.statement, call.range, message)
            .help("use `tf.print`, or print what the function returns");
        let is_about_the_trace = about_the_trace::is_output(graph, caller, call);
        if is_about_the_trace {
            finding.level = Level::Note;
        }
        let prints = effects.contains(Effect::Prints);
        let is_mostly_hidden = || graph.calls_any(caller.file, CallId::new(index), &FOR_DEBUGGING);
        if prints
            && (is_about_the_trace || construction.has(caller, CallId::new(index)) || is_mostly_hidden())
        {
            finding.confidence = Confidence::Possible;
        }
        found.push(finding);
    }
    found
}

/// What is only shown where the program asks for the lowest level of logs.
const FOR_DEBUGGING: [&str; 3] = ["absl.logging.debug", "logging.Logger.debug", "logging.debug"];

/// `raise` under a condition that a tensor decides: both branches are traced, so it is always raised.
fn raised(graph: &Graph<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for caller in graph.converted() {
        let module = graph.module(caller.file);
        for (index, statement) in module.statements.iter().enumerate() {
            if statement.kind != StatementKind::Raise || statement.scope != caller.scope {
                continue;
            }
            let id = StatementId::new(index);
            let Some(branch) = nearest_branch(graph, caller, id) else { continue };
            let message = "this is raised while tracing, whatever the tensor is";
            let condition = module.statement(branch).header;
            let finding = graph
                .finding(&CHECK, caller, statement.range, message)
                .label(graph.facts.location(caller.file, condition), "both branches are traced")
                .help("use `tf.debugging.Assert` or a `tf.debugging.assert_...` function");
            found.push(finding);
        }
    }
    found
}

/// The staged `if` around a statement, if no Python branch lies between.
fn nearest_branch(graph: &Graph<'_>, caller: Caller, id: StatementId) -> Option<StatementId> {
    let module = graph.module(caller.file);
    for around in module.ancestor_ids(id) {
        let statement = module.statement(around);
        if statement.scope != caller.scope {
            return None;
        }
        match statement.kind {
            StatementKind::If => {
                return (graph.staging.kind(caller.file, around) == Some(BranchKind::If)).then_some(around);
            }
            StatementKind::With => {}
            _ => return None,
        }
    }
    None
}

fn finding(
    graph: &Graph<'_>,
    caller: Caller,
    statement: StatementId,
    range: crate::syntax::TextRange,
    message: String,
) -> Finding {
    let module = graph.module(caller.file);
    let mut finding = graph.finding(&CHECK, caller, range, message);
    finding.level = Level::Warning;
    if let Some((around, kind)) = graph.staging.around(module, caller.file, statement).next() {
        let words =
            if kind == BranchKind::If { "both branches are traced" } else { "the body is traced once" };
        let location = graph.facts.location(caller.file, module.statement(around).header);
        finding.labels.insert(0, crate::finding::Label { location, message: words.to_owned() });
    }
    finding
}
