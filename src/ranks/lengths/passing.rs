//! How lengths go on from value to value.

use super::batches;
use super::equal_parts::{Left, Parts};
use super::{BATCH_SIZE, measures};
use crate::api::Effect;
use crate::program::{Facts, FunctionRef, Object, Place};
use crate::project::FileId;
use crate::semantic::{Container, Element, Operator, Value, ValueId};

/// What a value gets of the length of another one.
pub(super) enum Passing {
    /// It is as long.
    Length,
    /// Up to a number that all ranks share, which may be more than some have.
    Cut,
    /// It is the length.
    Count,
    /// Nothing.
    Neither,
}

/// What a value gets of the length of a value that it is computed from; of what is dealt out element by element the
/// shares differ by one, which seldom makes another batch.
pub(super) fn passes(
    parts: Parts<'_, '_>,
    (_, from): Place,
    (file, value): Place,
    is_dealt: bool,
) -> Passing {
    let facts = parts.facts;
    match &facts.module(file).value(value).value {
        Value::Phi(_)
        | Value::Cell(_)
        | Value::Parameter(..)
        | Value::Import(_)
        | Value::Unpack { .. }
        | Value::Attribute { narrowed: Some(_), .. }
        | Value::Operator { operator: Operator::Binary(_) | Operator::InPlace(_), .. } => Passing::Length,
        Value::Attribute { base, name, .. } if *base == from && measures(facts, file, *base, *name) => {
            Passing::Count
        }
        Value::Attribute { base, .. } if *base != from => Passing::Length,
        // `table[:, :4]`
        Value::Item { base, key, .. } if *base == from && takes_all_rows(facts, file, *key) => {
            Passing::Length
        }
        // `features[indices]`
        Value::Item { base, key, .. } if *key == from && *base != from => Passing::Length,
        Value::Slice { base, cut } if *base == from => match parts.left_by(file, cut) {
            Left::All => Passing::Length,
            Left::Perhaps => Passing::Cut,
            Left::Nothing => Passing::Neither,
        },
        Value::Display(_, elements) => {
            let is_spread = elements.iter().any(|element| match *element {
                Element::Spread(value) | Element::At(_, value) => value == from,
                _ => false,
            });
            if is_spread { Passing::Length } else { Passing::Neither }
        }
        Value::Call(call) => {
            let mut own = 0;
            for edge in facts.callees(file, *call) {
                let callee = facts.solution.object(edge.callee);
                let method = || facts.builtin_method(edge.callee).map(|(_, method)| method);
                match facts.symbol(callee).or_else(method) {
                    // How long what a generator yields is says nothing of how often it does.
                    _ if matches!(callee, Object::Function(own) if !is_generator(facts, own)) => own += 1,
                    Some(symbol) if symbol.has(Effect::KeepsLength) => {
                        let is_rounded = is_dealt
                            && symbol.parameter(BATCH_SIZE).is_some()
                            && !batches::differ(facts, (file, *call), symbol);
                        return if is_rounded { Passing::Cut } else { Passing::Length };
                    }
                    Some(symbol) if symbol.has(Effect::Measures) => return Passing::Count,
                    _ => {}
                }
            }
            match own {
                0 => Passing::Neither,
                1 => Passing::Length,
                // Who calls a function with a function, `cached(lambda: losses)`, gets what that one returns.
                _ => Passing::Cut,
            }
        }
        _ => Passing::Neither,
    }
}

/// Whether a key of an array of several dimensions takes everything of the first one.
fn takes_all_rows(facts: &Facts<'_>, file: FileId, key: ValueId) -> bool {
    let module = facts.module(file);
    match &module.value(key).value {
        Value::Display(Container::Tuple, elements) => match elements.first() {
            Some(&Element::At(0, rows)) => module.is_whole_slice(rows),
            _ => false,
        },
        _ => false,
    }
}

fn is_generator(facts: &Facts<'_>, function: FunctionRef) -> bool {
    facts.module(function.file).function(function.function).generator
}
