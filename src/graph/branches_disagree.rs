//! The ways through a staged `if` or loop give a name values of different kinds.

mod loops;

use super::arms::{Level, live_behind};
use super::dtype::{BOOL, SOME_FLOAT, STRING};
use super::{Graph, graph_check};
use crate::finding::Finding;
use crate::program::Caller;
use crate::semantic::{BranchKind, Module, Reaching, StatementId, StatementKind, Suite, Value, ValueId};
use crate::syntax::TextRange;

graph_check!("HVD406", "branches-disagree", Error, run);

fn run(graph: &Graph<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for caller in graph.converted() {
        let module = graph.module(caller.file);
        let levels = graph.levels(caller);
        if !levels.is_empty() {
            let reaching = Reaching::new(module, caller.scope);
            findings.extend(levels.iter().filter_map(|level| names(graph, module, &reaching, caller, level)));
            findings.extend(levels.iter().find_map(|level| returns(graph, module, caller, level)));
        }
        findings.extend(expressions(graph, module, caller));
        findings.extend(loops::findings(graph, module, caller));
    }
    findings
}

/// Why two values can't be one tensor.
fn difference(graph: &Graph<'_>, caller: Caller, a: ValueId, b: ValueId) -> Option<String> {
    let file = caller.file;
    let (first, second) = (graph.nature(file, a), graph.nature(file, b));
    for (one, other) in [(first, second), (second, first)] {
        if one.is_none() && !other.may_be_none() && !other.is_unknown() {
            return Some("`None` in one branch and a value in the other".to_owned());
        }
    }
    let (one, other) = (graph.dtype(file, a), graph.dtype(file, b));
    if let (Some(one), Some(other)) = (one, other)
        && one != other
    {
        return Some(format!("{one} in one branch and {other} in the other"));
    }
    let module = graph.module(file);
    if let (Value::Display(_, one), Value::Display(_, other)) =
        (&module.value(a).value, &module.value(b).value)
        && one.len() != other.len()
    {
        return Some("a container of another length in each branch".to_owned());
    }
    (a != b && graph.is_object(file, a) && graph.is_object(file, b))
        .then(|| "an object in each branch, which no operation can choose".to_owned())
}

fn names(
    graph: &Graph<'_>,
    module: &Module,
    reaching: &Reaching<'_>,
    caller: Caller,
    level: &Level,
) -> Option<Finding> {
    for assigned in live_behind(module, reaching, caller, level) {
        let within = |arm: TextRange| {
            let mut definitions = module.definitions.iter().rev().filter(|definition| {
                definition.variable == assigned.variable
                    && definition.scope == caller.scope
                    && arm.contains_range(definition.range)
            });
            definitions.next().map(|definition| definition.value)
        };
        let before = || {
            let found = reaching.overwritten(assigned.definition);
            match found[..] {
                [only] => Some(module.definitions[only].value),
                _ => None,
            }
        };
        let Some(then) = within(level.then).or_else(before) else { continue };
        let Some(otherwise) = level.otherwise.and_then(within).or_else(before) else { continue };
        let Some(what) = difference(graph, caller, then, otherwise) else { continue };
        let name = module.variable_name(assigned.variable);
        return Some(
            graph
                .finding(&CHECK, caller, level.header, format!("`{name}` is {what}"))
                .label(graph.facts.location(caller.file, assigned.read), "read here")
                .help(format!("give `{name}` values of one type in both branches")),
        );
    }
    None
}

/// A `return` in one branch, and none or one of another kind on the other way.
fn returns(graph: &Graph<'_>, module: &Module, caller: Caller, level: &Level) -> Option<Finding> {
    let function = graph.facts.function_of(caller)?;
    let own = module.function(function.function);
    let returned = |value: ValueId| module.value(value);
    let is_in_arm = |arm: TextRange| {
        module.statements.iter().any(|statement| {
            statement.kind == StatementKind::Return
                && statement.scope == caller.scope
                && statement.parent == Some(level.statement)
                && arm.contains_range(statement.range)
        })
    };
    let arms = [Some(level.then), level.otherwise];
    if !arms.into_iter().flatten().any(is_in_arm) || own.generator {
        return None;
    }
    let gives_value = own.returns.iter().any(|&value| !graph.nature(caller.file, value).is_none());
    let location = level.header;
    if gives_value && !ends_with_return(module, caller) {
        let message = "a value is returned in one branch, and nothing on the other way";
        return Some(
            graph
                .finding(&CHECK, caller, location, message)
                .help("return a value of the same type at the end of the function"),
        );
    }
    let values: Vec<ValueId> = own.returns.clone();
    let inside = values.iter().copied().filter(|&value| level.then.contains_range(returned(value).range));
    let others: Vec<ValueId> =
        values.iter().copied().filter(|&value| !level.then.contains_range(returned(value).range)).collect();
    // Constants are shared by all places of a module, so that they seem to be elsewhere.
    let mut inside: Vec<ValueId> = inside.collect();
    if inside.is_empty() && values.len() == 2 {
        inside.push(values[0]);
    }
    let pair = inside
        .iter()
        .find_map(|&a| others.iter().filter(|&&b| a != b).find_map(|&b| difference(graph, caller, a, b)));
    pair.map(|what| {
        let help = "return values of one type on all ways";
        graph.finding(&CHECK, caller, location, format!("what is returned is {what}")).help(help)
    })
}

/// Whether control can't come to the end of a function without a `return`.
fn ends_with_return(module: &Module, caller: Caller) -> bool {
    let is_top = |parent: Option<StatementId>| {
        parent.is_none_or(|parent| module.statement(parent).scope != caller.scope)
    };
    let mut last = None;
    let mut any = false;
    for (index, statement) in module.statements.iter().enumerate() {
        if statement.scope == caller.scope && is_top(statement.parent) {
            last = Some(StatementId::new(index));
            any = true;
        }
    }
    // A lambda has no statements.
    !any || last.is_some_and(|last| leaves_function(module, last))
}

fn leaves_function(module: &Module, id: StatementId) -> bool {
    let statement = module.statement(id);
    let last_of = |wanted: &dyn Fn(Suite, TextRange) -> bool| {
        let inner = module.statements.iter().enumerate().skip(id.index() + 1);
        inner
            .take_while(|(_, own)| own.range.start() < statement.range.end())
            .filter(|(_, own)| own.parent == Some(id) && wanted(own.suite, own.range))
            .last()
            .map(|(index, _)| StatementId::new(index))
    };
    let ends = |last: Option<StatementId>| last.is_some_and(|last| leaves_function(module, last));
    match statement.kind {
        // Nothing comes behind an endless loop; what a `match` does is not asked.
        StatementKind::Return | StatementKind::Raise | StatementKind::While | StatementKind::Match => true,
        StatementKind::With => ends(last_of(&|_, _| true)),
        StatementKind::If => {
            let clauses = module.clauses_of(id);
            let has_else = clauses.iter().any(|clause| clause.test.is_none());
            has_else
                && ends(last_of(&|suite, _| suite == Suite::Body))
                && clauses.iter().all(|clause| ends(last_of(&|_, range| clause.range.contains_range(range))))
        }
        StatementKind::Try => {
            ends(last_of(&|suite, _| suite == Suite::Finally))
                || ends(last_of(&|suite, _| suite == Suite::Body))
                    && (last_of(&|suite, _| suite == Suite::Handler).is_none()
                        || ends(last_of(&|suite, _| suite == Suite::Handler)))
        }
        _ => false,
    }
}

/// `a if x > 0 else b`, `x or y`, `if x`: expressions that a tensor decides.
fn expressions(graph: &Graph<'_>, module: &Module, caller: Caller) -> Vec<Finding> {
    let mut found = Vec::new();
    for staged in graph.staging.branches.iter().filter(|staged| staged.caller == caller) {
        let Some(condition) = staged.branch.condition else { continue };
        if matches!(staged.branch.kind, BranchKind::If | BranchKind::And | BranchKind::Or | BranchKind::While)
        {
            let dtype = graph
                .dtype(caller.file, condition)
                .or_else(|| graph.has_fractions(caller.file, condition).then_some(SOME_FLOAT));
            if let Some(dtype) = dtype.filter(|&dtype| dtype != BOOL && dtype != STRING) {
                let message = format!("a tensor of type {dtype} is no condition: it has to be a bool");
                let finding = graph
                    .finding(&CHECK, caller, staged.branch.range, message)
                    .help("compare it, as in `x != 0`");
                found.push(finding);
                continue;
            }
        }
        if staged.branch.kind == BranchKind::If && !staged.is_statement {
            let joined = module.values.iter().find(|value| {
                value.scope == caller.scope
                    && value.range.contains_range(staged.branch.range)
                    && value.range.len() > staged.branch.range.len()
                    && matches!(&value.value, Value::Phi(values) if values.len() == 2)
            });
            if let Some(joined) = joined
                && let Value::Phi(values) = &joined.value
                && let Some(what) = difference(graph, caller, values[0], values[1])
            {
                let message = format!("this is {what}");
                found.push(
                    graph
                        .finding(&CHECK, caller, joined.range, message)
                        .help("give both branches values of one type"),
                );
            }
        }
    }
    found
}
