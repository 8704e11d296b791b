//! Expressions of which only the type is kept: `not a`, an f-string. They depend on all that is evaluated in them, and no part of
//! something else there: `f"{config['epochs']}"` depends on one entry, and not on the dictionary.

use std::cmp::Reverse;

use super::collector::for_operands;
use crate::semantic::{BuiltinType, Module, Value, ValueId};
use crate::syntax::TextRange;

/// The expressions of a module of which only the type is kept.
pub(super) struct Opaque {
    /// By where they begin, those around others first.
    pub(super) expressions: Vec<Expression>,
}

pub(super) struct Expression {
    range: TextRange,
    pub(super) value: ValueId,
    /// Whether some of what is evaluated in it may be so in a run of a lambda.
    pub(super) holds_lambda: bool,
    /// The one around it.
    around: Option<usize>,
}

impl Opaque {
    pub(super) fn new(module: &Module) -> Self {
        let opaque = module.values.iter().enumerate().filter(|(_, evaluation)| match evaluation.value {
            Value::Instance(kind) => kind != BuiltinType::Exception,
            Value::Unknown => true,
            _ => false,
        });
        let lambdas = module.functions.iter().filter(|own| own.statement.is_none());
        let mut lambdas: Vec<TextRange> = lambdas.map(|own| own.range).collect();
        lambdas.sort_by_key(|own| own.start());
        let mut expressions: Vec<Expression> = opaque
            .map(|(index, evaluation)| {
                let (range, value) = (evaluation.range, ValueId::new(index));
                let first = lambdas.partition_point(|own| own.start() < range.start());
                let holds_lambda = lambdas.get(first).is_some_and(|own| own.start() < range.end());
                Expression { range, value, holds_lambda, around: None }
            })
            .collect();
        expressions.sort_by_key(|own| (own.range.start(), Reverse(own.range.end())));
        let mut open: Vec<usize> = Vec::new();
        for index in 0..expressions.len() {
            let range = expressions[index].range;
            while open.pop_if(|&mut around| !expressions[around].range.contains_range(range)).is_some() {}
            expressions[index].around = open.last().copied();
            open.push(index);
        }
        Self { expressions }
    }

    /// What is evaluated in the expressions, and no part of something else there that depends on it as its own value says.
    pub(super) fn evaluated(&self, module: &Module) -> Vec<(TextRange, ValueId)> {
        let values = module.values.iter().enumerate();
        let values = values.map(|(index, value)| (value.range, ValueId::new(index)));
        let read = module.uses.iter().map(|reading| (reading.range, reading.value));
        let mut count = 0;
        let mut inner: Vec<(TextRange, ValueId)> = values
            .chain(read)
            .filter(|&(range, _)| {
                count = self.count_before(range, count);
                let mut is_inner = false;
                self.for_each_around(range, count, |_| is_inner = true);
                is_inner
            })
            .collect();
        inner.sort_by_key(|&(range, value)| (range.start(), Reverse(range.end()), value));
        let mut open: Vec<(TextRange, ValueId)> = Vec::new();
        let mut found = Vec::new();
        for &(range, value) in &inner {
            while open.pop_if(|(around, _)| !around.contains_range(range)).is_some() {}
            let around = open.iter().rev().find(|(around, _)| *around != range);
            if !around.is_some_and(|&(_, around)| is_part_of(module, value, around)) {
                found.push((range, value));
            }
            open.push((range, value));
        }
        found
    }

    /// How many of the expressions begin where the range does or before; `near` is a guess, as most ranges are near
    /// the ones before them.
    pub(super) fn count_before(&self, range: TextRange, near: usize) -> usize {
        let is_before = |index: usize| self.expressions[index].range.start() <= range.start();
        let is_right =
            (near == 0 || is_before(near - 1)) && (near == self.expressions.len() || !is_before(near));
        if is_right {
            return near;
        }
        self.expressions.partition_point(|own| own.range.start() <= range.start())
    }

    /// Calls `found` with the expressions that contain a range and more, from the inside; `count` of them begin
    /// where it does or before.
    pub(super) fn for_each_around(&self, range: TextRange, count: usize, mut found: impl FnMut(&Expression)) {
        let mut next = count.checked_sub(1);
        while let Some(index) = next {
            let own = &self.expressions[index];
            let begins_inside = range.start() < own.range.end();
            if own.range != range && begins_inside && own.range.contains_range(range) {
                found(own);
            }
            next = own.around;
        }
    }
}

/// Whether a value is what another one is computed from, that a slice comes to from it.
fn is_part_of(module: &Module, part: ValueId, value: ValueId) -> bool {
    match &module.value(value).value {
        // A condition decides as well which of them it is, and which elements there are.
        Value::Phi(_) | Value::Display(..) => false,
        Value::Call(call) => {
            let call = module.call(*call);
            call.callee == part || call.arguments.iter().any(|own| own.value == part)
        }
        own => {
            let mut is_operand = false;
            for_operands(own, |operand| is_operand |= operand == part);
            is_operand
        }
    }
}
