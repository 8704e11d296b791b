//! A range of numbers, bounds included: what a value may be as far as arithmetic tells.

/// All numbers from one to another; none if the first is greater.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// How far apart two numbers have to be, as a part of the greater one, to be told apart whatever they are rounded to:
/// half precision keeps eight bits.
const ROUNDING: f64 = 1.0 / 256.0;

/// How far apart two numbers near zero have to be.
const NEAR_ZERO: f64 = 1e-6;

impl Interval {
    /// What no way leads to.
    pub(super) const EMPTY: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };

    /// Any number, and what is no number.
    pub(super) const ANY: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// One number.
    pub(super) const fn of(number: f64) -> Self {
        Self { low: number, high: number }
    }

    /// A number and all that are greater.
    pub(super) const fn from(low: f64) -> Self {
        Self { low, high: f64::INFINITY }
    }

    /// The numbers between two; any if it can't be told what they are.
    fn between(low: f64, high: f64) -> Self {
        if low.is_nan() || high.is_nan() { Self::ANY } else { Self { low, high } }
    }

    pub(super) fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// The numbers of both, and those between them.
    pub(super) fn or(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// As [`Self::or`], but what grew goes on to grow.
    pub(super) fn widened(self, other: Self) -> Self {
        Self {
            low: if other.low < self.low { f64::NEG_INFINITY } else { self.low },
            high: if other.high > self.high { f64::INFINITY } else { self.high },
        }
    }

    /// What a function that keeps the order makes of it.
    pub(super) fn map(self, function: impl Fn(f64) -> f64) -> Self {
        if self.is_empty() { self } else { Self::between(function(self.low), function(self.high)) }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        self.with(other, |one, other| Self::between(one.low + other.low, one.high + other.high))
    }

    pub(super) fn negated(self) -> Self {
        if self.is_empty() { self } else { Self { low: -self.high, high: -self.low } }
    }

    pub(super) fn times(self, other: Self) -> Self {
        // Zero times a bound that is not reached is zero.
        let product = |one: f64, other: f64| if one == 0.0 || other == 0.0 { 0.0 } else { one * other };
        self.with(other, |one, other| Self::corners(one, other, product))
    }

    /// Divided by the other, if that is never zero.
    pub(super) fn over(self, other: Self) -> Self {
        if other.low <= 0.0 && other.high >= 0.0 {
            return Self::ANY;
        }
        self.with(other, |one, other| Self::corners(one, other, |one, other| one / other))
    }

    fn corners(one: Self, other: Self, function: impl Fn(f64, f64) -> f64) -> Self {
        let mut all =
            [(one.low, other.low), (one.low, other.high), (one.high, other.low), (one.high, other.high)]
                .map(|(one, other)| function(one, other));
        if all.iter().any(|number| number.is_nan()) {
            return Self::ANY;
        }
        all.sort_by(f64::total_cmp);
        Self { low: all[0], high: all[3] }
    }

    fn with(self, other: Self, function: impl Fn(Self, Self) -> Self) -> Self {
        if self.is_empty() || other.is_empty() {
            Self::EMPTY
        } else if self == Self::ANY || other == Self::ANY {
            // It may be no number at all.
            Self::ANY
        } else {
            function(self, other)
        }
    }

    /// Whether all of its numbers are less than those of the other; `None` if only some are. Whole numbers are told
    /// apart exactly, others if no rounding makes up for the difference.
    pub(super) fn is_less(self, other: Self) -> Option<bool> {
        if self.high < other.low {
            return is_apart(self.high, other.low).then_some(true);
        }
        // The same whole number, or beyond it.
        let is_beyond = self.low > other.high && is_apart(self.low, other.high);
        let is_same = is_same_whole(self.low, other.high);
        (is_beyond || is_same).then_some(false)
    }

    /// Whether a number of the one is a number of the other: always, never, or sometimes.
    pub(super) fn is_equal(self, other: Self) -> Option<bool> {
        if self.is_less(other) == Some(true) || other.is_less(self) == Some(true) {
            return Some(false);
        }
        let is_one = |own: Self| is_same_whole(own.low, own.high);
        (is_one(self) && is_one(other) && is_same_whole(self.low, other.low)).then_some(true)
    }
}

fn is_whole(number: f64) -> bool {
    number.is_finite() && number.fract() == 0.0
}

#[expect(clippy::float_cmp, reason = "whole numbers are exact")]
fn is_same_whole(one: f64, other: f64) -> bool {
    one == other && is_whole(one)
}

fn is_apart(one: f64, other: f64) -> bool {
    if is_whole(one) && is_whole(other) {
        return !is_same_whole(one, other);
    }
    let greater = if one.is_finite() && other.is_finite() { one.abs().max(other.abs()) } else { 0.0 };
    (one - other).abs() > greater * ROUNDING + NEAR_ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(low: f64, high: f64) -> Interval {
        Interval { low, high }
    }

    #[test]
    fn arithmetic_keeps_every_number_that_may_come_out() {
        assert_eq!(between(1.0, 2.0).plus(between(-1.0, 3.0)), between(0.0, 5.0));
        assert_eq!(between(-1.0, 2.0).times(between(-3.0, 1.0)), between(-6.0, 3.0));
        assert_eq!(Interval::of(0.0).times(Interval::from(1.0)), Interval::of(0.0));
        assert_eq!(Interval::of(0.0).times(Interval::ANY), Interval::ANY);
        assert_eq!(Interval::of(1.0).over(between(-1.0, 1.0)), Interval::ANY);
        assert_eq!(Interval::of(1.0).over(between(2.0, 4.0)), between(0.25, 0.5));
        assert_eq!(Interval::from(1.0).plus(Interval::from(1.0).negated()), Interval::ANY);
    }

    #[test]
    fn numbers_are_told_apart_unless_they_may_round_to_the_same() {
        assert_eq!(Interval::of(1.37).is_less(Interval::of(2.2)), Some(true));
        assert_eq!(Interval::of(3.0).is_less(Interval::of(2.2)), Some(false));
        assert_eq!(Interval::of(0.1 + 0.2).is_less(Interval::of(0.3)), None);
        assert_eq!(Interval::of(0.1).is_equal(Interval::of(0.1)), None);
        assert_eq!(Interval::of(300.0).is_less(Interval::of(301.0)), Some(true));
        assert_eq!(Interval::of(2.0).is_less(Interval::of(2.0)), Some(false));
        assert_eq!(Interval::of(2.0).is_equal(Interval::of(2.0)), Some(true));
        assert_eq!(Interval::from(1.0).is_equal(Interval::of(0.0)), Some(false));
    }

    #[test]
    fn what_grows_is_taken_to_grow_for_ever() {
        let counter = Interval::of(0.0).widened(Interval::of(1.0));
        assert_eq!(counter, Interval::from(0.0));
        assert_eq!(counter.widened(Interval::from(0.0)), counter);
    }
}
