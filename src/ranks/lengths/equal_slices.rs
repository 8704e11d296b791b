//! Which slices by the rank have the same number of elements on every rank: `data[rank * n:(rank + 1) * n]` has `n` of
//! them, if there are as many for each rank.
//!
//! The bounds are taken for polynomials in what they are computed from. What they are apart is the length, and the rank
//! times that is where the slice begins: so the slices stand one behind the other, and only where the length was rounded
//! up is there less for the last one.

use std::collections::BTreeMap;

use super::super::values::Values;
use super::is_called;
use crate::api::Effect;
use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{Constant, Operator, Value, ValueId};

/// How deep a bound is taken apart.
const DEPTH: u32 = 12;

/// How many products a bound may have.
const PRODUCTS: usize = 16;

/// What a product is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Factor {
    /// The rank's number, wherever it is asked for.
    Rank,
    /// A value that is not taken apart.
    Value(Place),
}

/// A sum of products, each with how often it is added.
#[derive(Clone, Debug, Default)]
struct Polynomial(BTreeMap<Vec<Factor>, i64>);

impl Polynomial {
    fn constant(number: i64) -> Self {
        Self(std::iter::once((Vec::new(), number)).filter(|&(_, number)| number != 0).collect())
    }

    fn of(factor: Factor) -> Self {
        Self(std::iter::once((vec![factor], 1)).collect())
    }

    fn plus(mut self, other: &Self, times: i64) -> Option<Self> {
        for (product, &number) in &other.0 {
            let sum = self.0.entry(product.clone()).or_default();
            *sum = number.checked_mul(times).and_then(|number| sum.checked_add(number))?;
        }
        self.0.retain(|_, number| *number != 0);
        (self.0.len() <= PRODUCTS).then_some(self)
    }

    fn times(&self, other: &Self) -> Option<Self> {
        let mut all = Self::default();
        for (product, &number) in &self.0 {
            let mut scaled = Self::default();
            for (other, &times) in &other.0 {
                let mut factors = [product.as_slice(), other].concat();
                factors.sort_unstable();
                scaled.0.insert(factors, number.checked_mul(times)?);
            }
            all = all.plus(&scaled, 1)?;
        }
        Some(all)
    }

    fn factors(&self) -> impl Iterator<Item = Factor> {
        self.0.keys().flatten().copied()
    }
}

/// Whether a slice from one bound to another has as many elements on every rank.
pub(super) fn are_equal(
    facts: &Facts<'_>,
    values: &Values,
    file: FileId,
    [lower, upper]: [ValueId; 2],
) -> bool {
    let (Some(from), Some(to)) =
        (polynomial(facts, (file, lower), DEPTH), polynomial(facts, (file, upper), DEPTH))
    else {
        return false;
    };
    // Numbers below zero count from the end.
    if from.0.values().any(|&number| number < 0) {
        return false;
    }
    let Some(apart) = to.plus(&from, -1).filter(|apart| !apart.0.is_empty()) else { return false };
    let offset = apart.times(&Polynomial::of(Factor::Rank)).and_then(|before| from.plus(&before, -1));
    if offset.is_none_or(|offset| offset.factors().any(|factor| factor == Factor::Rank)) {
        return false;
    }
    apart.factors().all(|factor| match factor {
        Factor::Rank => false,
        Factor::Value(place) => {
            values.difference(place).is_none()
                && values.length(place).is_none()
                && !is_rounded_up(facts, place, 4)
        }
    })
}

fn polynomial(facts: &Facts<'_>, place: Place, depth: u32) -> Option<Polynomial> {
    let depth = depth.checked_sub(1)?;
    let (file, value) = place;
    if facts.gives(place, &[Effect::ReadsRank]) {
        return Some(Polynomial::of(Factor::Rank));
    }
    match facts.module(file).value(value).value {
        Value::Constant(Constant::Int(int)) => Some(Polynomial::constant(int)),
        Value::Operator { operator: Operator::Binary(method), left, right } => {
            let sides =
                || Some((polynomial(facts, (file, left), depth)?, polynomial(facts, (file, right), depth)?));
            match method.name() {
                "__add__" => sides().and_then(|(one, other)| one.plus(&other, 1)),
                "__sub__" => sides().and_then(|(one, other)| one.plus(&other, -1)),
                "__mul__" => sides().and_then(|(one, other)| one.times(&other)),
                _ => Some(Polynomial::of(Factor::Value(place))),
            }
        }
        // A variable of the module that a function reads, if it is bound once.
        Value::Cell(_) => {
            let mut bound = facts.influence().operands(place);
            match (bound.next(), bound.next()) {
                (Some(only), None) => polynomial(facts, only, depth),
                _ => Some(Polynomial::of(Factor::Value(place))),
            }
        }
        _ => Some(Polynomial::of(Factor::Value(place))),
    }
}

/// Whether a share may have been rounded up, so that there are fewer elements for the last rank: `math.ceil(...)`,
/// `(length + size - 1) // size`, `-(-length // size)`. Of a quotient that is rounded down, and of a number that
/// the program is given, nothing says so.
fn is_rounded_up(facts: &Facts<'_>, place: Place, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    let (file, value) = place;
    let module = facts.module(file);
    match module.value(value).value {
        Value::Operator { operator: Operator::Binary(method), left, right } => {
            let is_operator = |value: ValueId| matches!(module.value(value).value, Value::Operator { .. });
            match method.name() {
                "__floordiv__" => is_operator(left) || is_operator(right),
                _ => true,
            }
        }
        Value::Operator { .. } => true,
        Value::Call(call) => {
            let arguments = &module.call(call).arguments;
            let is_plain_quotient = |value: ValueId| match module.value(value).value {
                Value::Operator { operator: Operator::Binary(method), left, right } => {
                    let is_operator =
                        |value: ValueId| matches!(module.value(value).value, Value::Operator { .. });
                    matches!(method.name(), "__truediv__" | "__floordiv__")
                        && !is_operator(left)
                        && !is_operator(right)
                }
                _ => false,
            };
            let cuts = is_called(facts, file, call, "builtins.int")
                && arguments.first().is_some_and(|own| is_plain_quotient(own.value));
            let measures = facts.gives(place, &[Effect::Measures]);
            !cuts && !measures
        }
        Value::Phi(ref parts) => parts.iter().any(|&part| is_rounded_up(facts, (file, part), depth)),
        Value::Parameter(..) | Value::Cell(_) | Value::Import(_) => {
            facts.influence().operands(place).any(|own| is_rounded_up(facts, own, depth))
        }
        _ => false,
    }
}
