//! Loops that are operations give a variable values of different kinds: in front of them, and behind a turn.

use rustc_hash::FxHashSet;

use super::super::Graph;
use super::super::dtype::{INT, SOME_FLOAT};
use super::CHECK;
use crate::api::Effect;
use crate::finding::Finding;
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::{BranchKind, CallId, Definition, Element, Module, Operator, Reaching, Value, ValueId};
use crate::syntax::{TextRange, TextSize};

/// Variables that a staged loop gives another type or shape.
pub(super) fn findings(graph: &Graph<'_>, module: &Module, caller: Caller) -> Vec<Finding> {
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
                    .called_symbols(caller.file, CallId::new(index))
                    .any(|symbol| symbol.parameter("shape_invariants").is_some())
        });
        // What a dataset reduces may change its shape, and can't be `None` at first.
        let goes_over_dataset = staged.branch.kind == BranchKind::For
            && staged
                .branch
                .condition
                .is_some_and(|iterated| graph.facts.is_whole_dataset(caller.file, iterated));
        let nones = nones_before(graph, module, caller, body);
        // In other loops the first turn gets zeros in place of `None`.
        let read_at =
            if goes_over_dataset { TextRange::new(body.start(), TextSize::new(u32::MAX)) } else { body };
        let reaching = Reaching::new(module, caller.scope);
        for (index, definition) in module.definitions.iter().enumerate() {
            if definition.scope != caller.scope || !body.contains_range(definition.range) {
                continue;
            }
            if is_none_before(graph, caller.file, definition, &nones, read_at) {
                let name = module.variable_name(definition.variable);
                let message = format!("`{name}` is `None` in front of the loop, which is an operation");
                let finding = graph
                    .finding(&CHECK, caller, statement.header, message)
                    .label(graph.facts.location(caller.file, definition.range), "a tensor from here on")
                    .help(format!("give `{name}` a tensor in front of the loop"));
                found.push(finding);
                continue;
            }
            let Value::Phi(before) = loop_value(module, &reaching, index, statement.range) else { continue };
            let Some(&initial) = before.iter().find(|&&value| {
                value != definition.value && module.value(value).range.end() <= statement.range.start()
            }) else {
                continue;
            };
            let name = module.variable_name(definition.variable);
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

/// The variables that a scope gives `None` in front of a loop.
fn nones_before<'m>(
    graph: &Graph<'_>,
    module: &'m Module,
    caller: Caller,
    body: TextRange,
) -> Vec<&'m Definition> {
    let own = module.definitions.iter().filter(|own| {
        own.scope == caller.scope
            && own.range.end() <= body.start()
            && graph.nature(caller.file, own.value).is_none()
    });
    own.collect()
}

/// Whether a turn of a loop gives a variable tensors that is `None` in front of it, and either is read at a place.
fn is_none_before(
    graph: &Graph<'_>,
    file: FileId,
    turn: &Definition,
    nones: &[&Definition],
    at: TextRange,
) -> bool {
    let none = nones.iter().find(|own| own.variable == turn.variable);
    let Some(none) = none else { return false };
    let module = graph.module(file);
    graph.nature(file, turn.value).is_of_tensors()
        && module.uses.iter().any(|reading| {
            reading.scope == turn.scope
                && reading.variable == Some(turn.variable)
                && at.contains_range(reading.range)
                && [turn.value, none.value].iter().all(|&value| {
                    reading.value != value && may_be(module, reading.value, value, &mut Vec::new())
                })
        })
}

/// Whether a value is put together of another one and more.
fn may_be(module: &Module, value: ValueId, wanted: ValueId, seen: &mut Vec<ValueId>) -> bool {
    if seen.contains(&value) {
        return false;
    }
    seen.push(value);
    match &module.value(value).value {
        Value::Phi(parts) => parts.iter().any(|&part| part == wanted || may_be(module, part, wanted, seen)),
        _ => false,
    }
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
    // `y = y * y` has each operand twice.
    let (mut seen, mut work) = (FxHashSet::default(), vec![value]);
    while let Some(value) = work.pop() {
        match &module.value(value).value {
            Value::Operator { left, right, .. } if seen.insert(value) => work.extend([*left, *right]),
            Value::Phi(values) if values.contains(&initial) => return true,
            _ if value == initial => return true,
            _ => {}
        }
    }
    false
}

/// The type that a turn gives: of an operator on the variable that of the other operand.
fn new_dtype<'a>(graph: &Graph<'a>, caller: Caller, value: ValueId, initial: ValueId) -> Option<&'a str> {
    let module = graph.module(caller.file);
    if let Value::Operator { left, right, operator } = &module.value(value).value
        && !matches!(operator, Operator::Compare(_))
    {
        let other = if depends_on(module, *left, initial) { right } else { left };
        if depends_on(module, *left, initial) || depends_on(module, *right, initial) {
            let from = graph.dtype(caller.file, initial)?;
            let fractions = || graph.has_fractions(caller.file, *other).then_some(SOME_FLOAT);
            let other_dtype =
                graph.dtype(caller.file, *other).or_else(|| fractions().filter(|_| from == INT))?;
            let is_plain_int = graph.nature(caller.file, *other).is_plain() && other_dtype == INT;
            return Some(if is_plain_int { from } else { other_dtype });
        }
    }
    graph.dtype(caller.file, value)
}

/// Whether the shape of what a loop begins with may be known: what a slice leaves has one that is not.
fn has_fixed_shape(module: &Module, initial: ValueId) -> bool {
    module.joined(initial).into_iter().all(|part| match &module.value(part).value {
        Value::Slice { cut, .. } => cut.bounds.is_some(),
        _ => true,
    })
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
                Element::At(_, value) => is_own(value),
                _ => false,
            }),
            _ => false,
        })
}
