//! A broadcast of what is taken from an iterator that the step in front of it has used up.

use super::{Broadcast, Reason};
use crate::finding::{Applicability, Fix};
use crate::program::Facts;
use crate::project::FileId;
use crate::semantic::{CallId, Container, Value, ValueId};
use crate::syntax::TextRange;

pub(super) fn reason(broadcast: &Broadcast<'_>) -> Option<Reason> {
    let Broadcast { facts, file, call, .. } = *broadcast;
    let module = facts.module(file);
    let written = broadcast.variables()?.range;
    // The iterations within the argument: of `[v for _, v in pairs]` that over `pairs`.
    let mut iterated = module.values.iter().filter_map(|evaluation| match evaluation.value {
        Value::Iteration(base) if written.contains_range(evaluation.range) => Some(base),
        _ => None,
    });
    let argument = broadcast.variables()?.value;
    let (iterator, made, spent) = iterated.by_ref().chain([argument]).find_map(|iterator| {
        let made = single_use(facts, file, iterator)?;
        let spent = consumption(broadcast, iterator)?;
        Some((iterator, made, spent))
    })?;
    let is_here = module.value(iterator).scope == call.scope;
    let fix = broadcast.context.texts.get(file, module).filter(|_| is_here).map(|text| Fix {
        applicability: Applicability::Safe,
        message: "keep the elements in a list".to_owned(),
        edits: text.wrap(made, "list(", ")"),
        unit: None,
    });
    Some(Reason {
        caller: broadcast.caller(),
        range: call.range,
        message: "nothing is broadcast: the iterator that the variables are taken from is used up",
        here: "sends nothing",
        help: "keep what the iterator gives in a list, and use the list twice",
        labels: vec![
            (facts.location(file, made), "an iterator"),
            (facts.location(file, spent), "used up here"),
        ],
        fix,
    })
}

/// The expression that makes an iterator, if the value is one and no list: what can be gone through once.
fn single_use(facts: &Facts<'_>, file: FileId, value: ValueId) -> Option<TextRange> {
    let evaluation = facts.module(file).value(value);
    match &evaluation.value {
        Value::Display(Container::Generator, _) => Some(evaluation.range),
        Value::Call(call) => {
            let iterator = facts.library.lookup("builtins.iterator")?;
            let callees = facts.callees(file, *call);
            let makes_iterator = |symbol: &crate::api::Symbol| {
                symbol.is_class() && facts.library.is_subclass(symbol, iterator)
            };
            let is_iterator = !callees.is_empty()
                && callees
                    .iter()
                    .all(|edge| facts.symbol(facts.solution.object(edge.callee)).is_some_and(makes_iterator));
            is_iterator.then_some(evaluation.range)
        }
        _ => None,
    }
}

/// The call in front of the broadcast, in the same code, that goes through the same iterator.
fn consumption(broadcast: &Broadcast<'_>, iterator: ValueId) -> Option<TextRange> {
    let Broadcast { facts, file, id, call, .. } = *broadcast;
    let module = facts.module(file);
    let flow = &module.scope(call.scope).flow;
    let before = (0..module.calls.len()).map(CallId::new).find(|&other| {
        let own = module.call(other);
        let is_given = own.arguments.iter().any(|argument| argument.value == iterator);
        let uses_up = facts.called_symbols(file, other).any(|symbol| {
            symbol.has(crate::api::Effect::AppliesGradients)
                || symbol.has(crate::api::Effect::ConsumesIterator)
        });
        other != id
            && own.scope == call.scope
            && is_given
            && uses_up
            && own.range.end() <= call.range.start()
            && flow.is_reachable(own.block)
    })?;
    Some(module.call(before).range)
}
