//! Conditions that `and` or `or` joins, and conditional expressions that are one.

use super::super::model::Model;
use super::{Atom, Guard, Key, Literal};
use crate::program::Place;
use crate::semantic::{Constant, Value, ValueId};

/// How the key of a value names that all of its operands have to be true, or one of them.
pub(super) const AND: &str = "and";
pub(super) const OR: &str = "or";

/// So many operands are told apart.
const OPERANDS: usize = 5;

impl Guard {
    /// The cases that a guard consists of, one of which all ranks are in that come here: where `a or b` is true it is both,
    /// or `a` without `b`, or `b` without `a`.
    #[must_use]
    pub fn cases(&self) -> Vec<Self> {
        let choice = self.0.iter().find_map(|own| match &own.atom {
            Atom::True(Key::Of(name, parts), cause) if own.holds && **name == *OR => Some((parts, *cause)),
            _ => None,
        });
        let Some((parts, cause)) = choice.filter(|(parts, _)| parts.len() <= OPERANDS) else {
            return vec![self.clone()];
        };
        // Each bit says of an operand whether it is true.
        let case = |true_ones: u32| {
            let operands = (0..).zip(parts).map(|(bit, part)| Literal {
                atom: Atom::True(part.clone(), cause),
                holds: true_ones & (1 << bit) != 0,
            });
            self.clone().and(&Self(operands.collect()))
        };
        (1..1 << parts.len()).map(case).collect()
    }
}

impl Model<'_> {
    /// The only part of a merged value that several ranks have: behind `chief = True` and `if distributed: chief =
    /// hvd.rank() == 0` they have the second one.
    pub(super) fn only_of_several(&self, whole: Place, parts: &[ValueId]) -> Option<ValueId> {
        let mut left = parts.iter().filter(|&&part| !self.values.leaves_out((whole.0, part), whole));
        left.next().filter(|_| left.next().is_none()).copied()
    }

    /// Whether a merged value is that of a conditional expression between a constant and what differs between ranks, and
    /// these agree which one it is.
    pub(super) fn is_constant_but_for_ranks(&self, (file, value): Place, parts: &[ValueId]) -> bool {
        let module = self.facts.module(file);
        let tests = self.blocks.tests((file, value));
        !tests.is_empty()
            && tests.iter().all(|&test| self.difference((file, test)).is_none())
            && parts.len() == 2
            && parts
                .iter()
                .any(|&part| matches!(module.value(part).value, Value::Constant(Constant::Bool(_))))
    }
}
