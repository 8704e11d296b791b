//! The ways through a staged `if` or loop give a name values of different kinds.

use super::arms::{Level, live_behind};
use super::dtype::{BOOL, STRING};
use super::{Graph, graph_check};
use crate::api::Effect;
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
        findings.extend(loops(graph, module, caller));
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
            let clauses = module.clauses.iter().filter(|clause| clause.statement == id);
            let has_else = clauses.clone().any(|clause| clause.test.is_none());
            has_else
                && ends(last_of(&|suite, _| suite == Suite::Body))
                && clauses.clone().all(|clause| ends(last_of(&|_, range| clause.range.contains_range(range))))
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
            let dtype = graph.dtype(caller.file, condition);
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

/// Variables that a staged loop gives another type or shape.
fn loops(graph: &Graph<'_>, module: &Module, caller: Caller) -> Vec<Finding> {
    let mut found = Vec::new();
    for staged in graph.staging.statements().filter(|staged| staged.caller == caller) {
        if staged.branch.kind == BranchKind::If {
            continue;
        }
        let statement = module.statement(staged.branch.statement);
        let body = TextRange::new(statement.header.end(), statement.range.end());
        let relaxed = module.calls.iter().enumerate().any(|(index, call)| {
            call.scope == caller.scope
                && body.contains_range(call.range)
                && graph
                    .facts
                    .called_symbols(caller.file, crate::semantic::CallId::new(index))
                    .any(|symbol| symbol.parameter("shape_invariants").is_some())
        });
        // What a dataset reduces may change its shape, and can't be `None` at first.
        let goes_over_dataset = staged.branch.kind == BranchKind::For
            && staged
                .branch
                .condition
                .is_some_and(|iterated| graph.facts.is_whole_dataset(caller.file, iterated));
        let reaching = Reaching::new(module, caller.scope);
        for (index, definition) in module.definitions.iter().enumerate() {
            if definition.scope != caller.scope || !body.contains_range(definition.range) {
                continue;
            }
            let Value::Phi(before) = loop_value(module, &reaching, index, statement.range) else { continue };
            let Some(&initial) = before.iter().find(|&&value| {
                value != definition.value && module.value(value).range.end() <= statement.range.start()
            }) else {
                continue;
            };
            let name = module.variable_name(definition.variable);
            if graph.nature(caller.file, initial).is_none()
                && goes_over_dataset
                && graph.nature(caller.file, definition.value).is_of_tensors()
                && is_live_behind(module, caller, definition.value, initial, statement.range)
            {
                let message = format!("`{name}` is `None` in front of the loop, which is an operation");
                let finding = graph
                    .finding(&CHECK, caller, statement.header, message)
                    .label(graph.facts.location(caller.file, definition.range), "a tensor from here on")
                    .help(format!("give `{name}` a tensor in front of the loop"));
                found.push(finding);
                continue;
            }
            if !relaxed
                && !goes_over_dataset
                && has_fixed_shape(module, initial)
                && grows(graph, caller, definition.value, &before)
            {
                let message = format!("`{name}` has another shape behind each turn of this loop");
                let finding = graph
                    .finding(&CHECK, caller, statement.header, message)
                    .label(graph.facts.location(caller.file, definition.range), "grows here")
                    .help("gather the parts in a `tf.TensorArray`, or call `tf.autograph.experimental.set_loop_options`");
                found.push(finding);
                continue;
            }
            let (Some(from), Some(to)) =
                (graph.dtype(caller.file, initial), new_dtype(graph, caller, definition.value, initial))
            else {
                continue;
            };
            if from != to {
                let depends = depends_on(module, definition.value, initial);
                let own = definition.statement.map(|id| module.statement(id).header);
                let at = if depends { own.unwrap_or(statement.header) } else { statement.header };
                let message = format!("`{name}` is {from} in front of the loop and {to} behind a turn");
                let finding = graph
                    .finding(&CHECK, caller, at, message)
                    .label(graph.facts.location(caller.file, statement.header), "this loop is an operation")
                    .help(format!("give `{name}` a value of type {to} in front of the loop"));
                found.push(finding);
            }
        }
    }
    found
}

/// Whether what a turn gives a variable, or what it was in front of the loop, is read behind the loop.
fn is_live_behind(
    module: &Module,
    caller: Caller,
    turn: ValueId,
    initial: ValueId,
    around: TextRange,
) -> bool {
    module.uses.iter().any(|reading| {
        reading.scope == caller.scope
            && reading.range.start() >= around.end()
            && matches!(&module.value(reading.value).value, Value::Phi(values)
                if values.contains(&initial) && values.contains(&turn))
    })
}

/// What a variable is in a loop before a definition: what comes from in front and from the turn before.
fn loop_value(module: &Module, reaching: &Reaching<'_>, definition: usize, around: TextRange) -> Value {
    let before = reaching.overwritten(definition);
    let values: Vec<ValueId> = before.iter().map(|&index| module.definitions[index].value).collect();
    let outside = before.iter().any(|&index| module.definitions[index].range.end() <= around.start());
    if outside && before.contains(&definition) { Value::Phi(values.into()) } else { Value::Unknown }
}

/// Whether a value is an operator on what the variable was.
fn depends_on(module: &Module, value: ValueId, initial: ValueId) -> bool {
    match &module.value(value).value {
        Value::Operator { left, right, .. } => {
            depends_on(module, *left, initial) || depends_on(module, *right, initial)
        }
        Value::Phi(values) => values.contains(&initial),
        _ => value == initial,
    }
}

/// The type that a turn gives: of an operator on the variable that of the other operand.
fn new_dtype<'a>(graph: &Graph<'a>, caller: Caller, value: ValueId, initial: ValueId) -> Option<&'a str> {
    let module = graph.module(caller.file);
    if let Value::Operator { left, right, operator } = &module.value(value).value
        && !matches!(operator, crate::semantic::Operator::Compare(_))
    {
        let other = if depends_on(module, *left, initial) { right } else { left };
        if depends_on(module, *left, initial) || depends_on(module, *right, initial) {
            let other_dtype = graph.dtype(caller.file, *other)?;
            let from = graph.dtype(caller.file, initial)?;
            let is_plain_int =
                graph.nature(caller.file, *other).is_plain() && other_dtype == super::dtype::INT;
            return Some(if is_plain_int { from } else { other_dtype });
        }
    }
    graph.dtype(caller.file, value)
}

/// Whether the shape of what a loop begins with may be known: what a slice leaves has one that is not.
fn has_fixed_shape(module: &Module, initial: ValueId) -> bool {
    match &module.value(initial).value {
        Value::Slice { cut, .. } => cut.bounds.is_some(),
        Value::Phi(parts) => parts.iter().all(|&part| has_fixed_shape(module, part)),
        _ => true,
    }
}

/// Whether a value is the variable with something added: `tf.concat([s, x], 0)`.
fn grows(graph: &Graph<'_>, caller: Caller, value: ValueId, before: &[ValueId]) -> bool {
    let module = graph.module(caller.file);
    let Value::Call(id) = module.value(value).value else { return false };
    let call = module.call(id);
    let is_own = |value: ValueId| match &module.value(value).value {
        Value::Phi(values) => values.iter().any(|value| before.contains(value)),
        _ => before.contains(&value),
    };
    graph.facts.called_symbols(caller.file, id).any(|symbol| symbol.has(Effect::Grows))
        && call.arguments.first().is_some_and(|argument| match &module.value(argument.value).value {
            Value::Display(_, elements) => elements.iter().any(|element| match *element {
                crate::semantic::Element::At(_, value) => is_own(value),
                _ => false,
            }),
            _ => false,
        })
}
