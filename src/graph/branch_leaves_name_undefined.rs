//! Only one branch of a staged `if` assigns a name that is read behind it.

use super::arms::{Level, leaves, live_behind};
use super::{Graph, graph_check};
use crate::finding::Finding;
use crate::program::Caller;
use crate::semantic::{BranchKind, Constant, Container, Element, Module, Reaching, StoreKey, Value};
use crate::syntax::TextRange;

graph_check!("HVD405", "branch-leaves-name-undefined", Error, run);

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for caller in graph.converted() {
        let levels = graph.levels(caller);
        if levels.is_empty() {
            continue;
        }
        let module = graph.module(caller.file);
        let reaching = Reaching::new(module, caller.scope);
        for level in &levels {
            findings.extend(undefined_names(graph, module, &reaching, caller, level));
            findings.extend(undefined_items(graph, module, caller, level));
        }
    }
    findings
}

fn undefined_names(
    graph: &Graph<'_>,
    module: &Module,
    reaching: &Reaching<'_>,
    caller: Caller,
    level: &Level,
) -> Option<Finding> {
    let start = module.statement(level.statement).range.start();
    for assigned in live_behind(module, reaching, caller, level) {
        let of_name = || {
            module.definitions.iter().filter(|definition| {
                definition.variable == assigned.variable && definition.scope == caller.scope
            })
        };
        if of_name().any(|definition| definition.range.start() < start) {
            continue;
        }
        let assigns = |arm: TextRange| of_name().any(|definition| arm.contains_range(definition.range));
        let then = assigns(level.then) || leaves(module, level.statement, level.then);
        let otherwise =
            level.otherwise.is_some_and(|arm| assigns(arm) || leaves(module, level.statement, arm));
        if then && otherwise || !then && !otherwise {
            continue;
        }
        let name = module.variable_name(assigned.variable);
        let branch = if then { "the other branch" } else { "this branch" };
        let message = format!("`{name}` is read behind this `if`, but {branch} does not assign it");
        let at = reported_at(graph, module, caller, level, assigned.read);
        let definition = module.definitions[assigned.definition].range;
        return Some(
            graph
                .finding(&CHECK, caller, at, message)
                .label(graph.facts.location(caller.file, definition), "assigned in one branch")
                .label(graph.facts.location(caller.file, assigned.read), "read here")
                .help(format!(
                    "give `{name}` a value of the same type in front of the `if` or in both branches"
                )),
        );
    }
    None
}

/// The line that `AutoGraph` names: the `if`, or the staged loop around it if the name is only read behind the loop.
fn reported_at(
    graph: &Graph<'_>,
    module: &Module,
    caller: Caller,
    level: &Level,
    read: TextRange,
) -> TextRange {
    let around = graph.staging.around(module, caller.file, level.statement);
    let left = around
        .filter(|&(id, kind)| kind != BranchKind::If && module.statement(id).range.end() <= read.start())
        .last();
    left.map_or(level.header, |(id, _)| module.statement(id).header)
}

/// Keys that only one arm gives to a dictionary of the function.
fn undefined_items(graph: &Graph<'_>, module: &Module, caller: Caller, level: &Level) -> Option<Finding> {
    let whole = TextRange::new(level.then.start(), level.end);
    let key_of = |store: &crate::semantic::Store| match store.key {
        StoreKey::Item(key) => match module.value(key).value {
            Value::Constant(constant) => Some(constant),
            _ => None,
        },
        _ => None,
    };
    let own = |store: &&crate::semantic::Store| store.scope == caller.scope;
    for store in module.stores.iter().filter(own).filter(|store| whole.contains_range(store.range)) {
        let (Some(key), Value::Display(Container::Dict, elements)) =
            (key_of(store), &module.value(store.base).value)
        else {
            continue;
        };
        let has_key = elements.iter().any(|element| match *element {
            Element::Key(own, _) => module.value(own).value == Value::Constant(key),
            _ => true,
        });
        let made = module.value(store.base);
        let same = |other: &&crate::semantic::Store| other.base == store.base && key_of(other) == Some(key);
        let stored =
            |arm: TextRange| module.stores.iter().filter(same).any(|other| arm.contains_range(other.range));
        let before = module.stores.iter().filter(same).any(|other| other.range.end() <= level.header.start());
        if has_key
            || before
            || made.scope != caller.scope
            || whole.contains_range(made.range)
            || stored(level.then) && level.otherwise.is_some_and(stored)
        {
            continue;
        }
        let name = graph.named(caller.file, store.base, "a dictionary");
        let shown = match key {
            Constant::Str(text) => format!("\"{}\"", module.names.text(text)),
            Constant::Int(number) => number.to_string(),
            _ => "key".to_owned(),
        };
        let message = format!("only one branch gives {name} the key {shown}");
        return Some(
            graph
                .finding(&CHECK, caller, level.header, message)
                .label(graph.facts.location(caller.file, store.range), "stored in one branch")
                .help("store a value of the same type under the key in front of the `if`"),
        );
    }
    None
}
