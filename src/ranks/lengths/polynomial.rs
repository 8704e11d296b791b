//! What numbers are computed from: polynomials in the rank's number, how many ranks there are, the lengths of
//! sequences, and values that are not taken apart.

use std::collections::BTreeMap;

use super::super::environment;
use super::super::values::Values;
use crate::api::{Effect, EffectSet};
use crate::program::{Facts, Place};
use crate::semantic::{Constant, Operator, Value};

/// How deep a bound is taken apart.
const DEPTH: u32 = 12;

/// How many values are looked at for what Horovod tells.
const WAYS: usize = 32;

/// How many products a bound may have.
const PRODUCTS: usize = 16;

/// What a product is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Factor {
    /// The rank's number, wherever it is asked for.
    Rank,
    /// How many ranks there are.
    Size,
    /// How many elements a sequence has.
    Length(Place),
    /// The whole number of times that the right side of this `%` goes into the left one.
    Quotient(Place),
    /// A value that is not taken apart.
    Value(Place),
}

/// A sum of products, each with how often it is added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Polynomial(BTreeMap<Vec<Factor>, i64>);

impl Polynomial {
    pub(super) fn constant(number: i64) -> Self {
        Self(std::iter::once((Vec::new(), number)).filter(|&(_, number)| number != 0).collect())
    }

    pub(super) fn of(factor: Factor) -> Self {
        Self(std::iter::once((vec![factor], 1)).collect())
    }

    pub(super) fn plus(mut self, other: &Self, times: i64) -> Option<Self> {
        for (product, &number) in &other.0 {
            let sum = self.0.entry(product.clone()).or_default();
            *sum = number.checked_mul(times).and_then(|number| sum.checked_add(number))?;
        }
        self.0.retain(|_, number| *number != 0);
        (self.0.len() <= PRODUCTS).then_some(self)
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
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

    /// Whether it is this factor and nothing else.
    pub(super) fn is(&self, factor: Factor) -> bool {
        *self == Self::of(factor)
    }

    /// Whether it is so many times a factor, whatever the others are.
    pub(super) fn is_multiple_of(&self, factor: Factor) -> bool {
        !self.0.is_empty() && self.0.keys().all(|product| product.contains(&factor))
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether something is taken away in it.
    pub(super) fn has_negative(&self) -> bool {
        self.0.values().any(|&number| number < 0)
    }

    pub(super) fn factors(&self) -> impl Iterator<Item = Factor> {
        self.0.keys().flatten().copied()
    }
}

/// What a number is computed from; `None` if it is too much.
pub(super) fn polynomial(facts: &Facts<'_>, place: Place) -> Option<Polynomial> {
    within(facts, place, DEPTH)
}

fn within(facts: &Facts<'_>, place: Place, depth: u32) -> Option<Polynomial> {
    let depth = depth.checked_sub(1)?;
    let (file, value) = place;
    let whole = || Some(Polynomial::of(told(facts, place).unwrap_or(Factor::Value(place))));
    match facts.module(file).value(value).value {
        Value::Constant(Constant::Int(int)) => Some(Polynomial::constant(int)),
        Value::Operator { operator: Operator::Binary(method) | Operator::InPlace(method), left, right } => {
            let sides = || Some((within(facts, (file, left), depth)?, within(facts, (file, right), depth)?));
            match method.name() {
                "__add__" => sides().and_then(|(one, other)| one.plus(&other, 1)),
                "__sub__" => sides().and_then(|(one, other)| one.plus(&other, -1)),
                "__mul__" => sides().and_then(|(one, other)| one.times(&other)),
                // What remains is the whole without as many times the other as it has.
                "__mod__" => {
                    let (one, other) = sides()?;
                    one.plus(&other.times(&Polynomial::of(Factor::Quotient(place)))?, -1)
                }
                _ => whole(),
            }
        }
        Value::Call(call) if facts.calls_builtin(file, call, "builtins.len") => {
            let measured = facts.module(file).call(call).arguments.first()?;
            Some(Polynomial::of(Factor::Length(origin(facts, (file, measured.value)))))
        }
        // `int(hvd.rank())`
        Value::Call(call) if facts.calls_builtin(file, call, "builtins.int") => {
            let given = facts.module(file).call(call).arguments.first();
            let number = given.and_then(|own| told(facts, origin(facts, (file, own.value))));
            number.map_or_else(whole, |number| Some(Polynomial::of(number)))
        }
        Value::Cell(_) | Value::Import(_) => match origin(facts, place) {
            same if same == place => whole(),
            origin => within(facts, origin, depth),
        },
        Value::Attribute { base, narrowed, .. } if told(facts, place).is_none() => {
            let mut stored = facts.influence().operands(place).filter(|&from| from != (file, base));
            let only = || stored.next().filter(|_| stored.next().is_none());
            let from = narrowed.map(|value| (file, value)).or_else(only);
            from.map_or_else(whole, |from| within(facts, from, depth))
        }
        _ => whole(),
    }
}

/// Whether the rank's number cancels out in a difference, `(rank * n + n) - rank * n`, and nothing else in it differs.
pub(in crate::ranks) fn cancels(facts: &Facts<'_>, values: &Values, place: Place) -> bool {
    let (file, value) = place;
    let is_difference = matches!(
        facts.module(file).value(value).value,
        Value::Operator { operator: Operator::Binary(method) | Operator::InPlace(method), .. } if method.name() == "__sub__"
    );
    let is_shared = |factor| match factor {
        Factor::Rank | Factor::Quotient(_) => false,
        Factor::Size => true,
        Factor::Length(own) => values.length(own).is_none(),
        Factor::Value(own) => own != place && values.difference(own).is_none(),
    };
    is_difference && polynomial(facts, place).is_some_and(|own| own.factors().all(is_shared))
}

/// What Horovod or the launcher tells of the ranks, as it is passed on or kept; a constant beside it is what there is
/// without Horovod: `rank = hvd.rank() if distributed else 0`.
fn told(facts: &Facts<'_>, place: Place) -> Option<Factor> {
    let mut found: Option<Factor> = None;
    let mut seen = vec![place];
    let mut next = 0;
    while let Some(&own) = seen.get(next) {
        next += 1;
        if let Some(factor) = told_here(facts, own) {
            if found.is_some_and(|known| known != factor) {
                return None;
            }
            found = Some(factor);
            continue;
        }
        let (file, value) = own;
        let object = match facts.module(file).value(value).value {
            Value::Constant(_) => continue,
            Value::Phi(_) | Value::Parameter(..) | Value::Cell(_) | Value::Import(_) => None,
            Value::Attribute { base, .. } => Some((file, base)),
            _ => return None,
        };
        for from in facts.influence().operands(own).filter(|&from| Some(from) != object) {
            if !seen.contains(&from) {
                seen.push(from);
            }
            if seen.len() > WAYS {
                return None;
            }
        }
    }
    found
}

/// What Horovod or the launcher tells of the ranks at this very place.
fn told_here(facts: &Facts<'_>, place: Place) -> Option<Factor> {
    let by_launcher = environment::number(facts, place);
    let tells = |effect: Effect| {
        facts.gives(place, &[effect]) || by_launcher.intersects(EffectSet::NONE.with(effect))
    };
    if tells(Effect::ReadsRank) {
        Some(Factor::Rank)
    } else {
        (tells(Effect::ReadsSize) && !tells(Effect::PerHost)).then_some(Factor::Size)
    }
}

/// Where a value comes from that others read under a name which is bound once.
pub(super) fn origin(facts: &Facts<'_>, place: Place) -> Place {
    let only = |&(file, value): &Place| match facts.module(file).value(value).value {
        Value::Cell(_) | Value::Import(_) => {
            let mut bound = facts.influence().operands((file, value));
            bound.next().filter(|_| bound.next().is_none())
        }
        _ => None,
    };
    std::iter::successors(Some(place), only).take(8).last().unwrap_or(place)
}
