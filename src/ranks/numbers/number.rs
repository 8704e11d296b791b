//! A number that each rank has: what it may be on rank 0, and what it may be on any other rank.
//!
//! A broadcast gives all ranks what rank 0 has, so the two are kept apart; the other ranks are alike as far as the
//! program's text tells. There are at least two ranks, and nobody knows how many more.

use super::interval::Interval;

/// A number on each rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::ranks) struct Number {
    /// On rank 0.
    pub(super) root: Interval,
    /// On each of the others.
    pub(super) others: Interval,
}

impl Number {
    /// What nobody has.
    pub(super) const NONE: Self = Self::same(Interval::EMPTY);

    /// What may be anything.
    pub(super) const ANY: Self = Self::same(Interval::ANY);

    /// The rank's number.
    pub(super) const RANK: Self = Self { root: Interval::of(0.0), others: Interval::from(1.0) };

    /// The rank's number on its host: rank 0 is the first of its own.
    pub(super) const LOCAL_RANK: Self = Self { root: Interval::of(0.0), others: Interval::from(0.0) };

    /// How many ranks there are: several, or nothing can go wrong between them.
    pub(super) const SIZE: Self = Self::same(Interval::from(2.0));

    /// How many ranks there are on a host, or how many hosts.
    pub(super) const OF_HOST: Self = Self::same(Interval::from(1.0));

    /// The same for all ranks.
    pub(super) const fn same(number: Interval) -> Self {
        Self { root: number, others: number }
    }

    /// What a truth is as a number.
    pub(super) fn truth([root, others]: [Option<bool>; 2]) -> Self {
        let number = |truth: Option<bool>| match truth {
            Some(truth) => Interval::of(f64::from(u8::from(truth))),
            None => Interval { low: 0.0, high: 1.0 },
        };
        Self { root: number(root), others: number(others) }
    }

    pub(super) fn is_known(self) -> bool {
        self.root != Interval::ANY || self.others != Interval::ANY
    }

    /// Whether it is known to be so on every rank that has one.
    pub(super) fn is_always(self, is_so: impl Fn(Interval) -> bool) -> bool {
        self != Self::NONE && [self.root, self.others].into_iter().all(|own| own.is_empty() || is_so(own))
    }

    pub(super) fn map(self, function: impl Fn(Interval) -> Interval) -> Self {
        Self { root: function(self.root), others: function(self.others) }
    }

    pub(super) fn with(self, other: Self, function: impl Fn(Interval, Interval) -> Interval) -> Self {
        Self { root: function(self.root, other.root), others: function(self.others, other.others) }
    }

    /// One or the other.
    pub(super) fn or(self, other: Self) -> Self {
        self.with(other, Interval::or)
    }

    /// As [`Self::or`], but what grew goes on to grow.
    pub(super) fn widened(self, other: Self) -> Self {
        self.with(other, Interval::widened)
    }

    /// What it may be on some rank.
    fn of_any(self) -> Interval {
        self.root.or(self.others)
    }

    /// What all get from a rank: from rank 0, from another one if it is known, or from anyone.
    pub(super) fn broadcast(self, root: Option<i64>) -> Self {
        Self::same(match root {
            Some(0) => self.root,
            Some(_) => self.others,
            None => self.of_any(),
        })
    }

    /// The average over all ranks: that of two ranks, or nearer to what most of them have.
    pub(super) fn average(self) -> Self {
        if self.root.is_empty() || self.others.is_empty() {
            return Self::same(self.of_any());
        }
        let of_two = self.root.plus(self.others).map(|sum| sum / 2.0);
        Self::same(of_two.or(self.others))
    }

    /// The sum over all ranks.
    pub(super) fn sum(self) -> Self {
        let of_two = self.root.plus(self.others);
        // Each further rank adds to it.
        let low = if self.others.low < 0.0 { f64::NEG_INFINITY } else { of_two.low };
        let high = if self.others.high > 0.0 { f64::INFINITY } else { of_two.high };
        Self::same(if of_two.is_empty() { of_two } else { Interval { low, high } })
    }

    /// The greatest of all ranks.
    pub(super) fn greatest(self) -> Self {
        let (root, others) = (self.root, self.others);
        if root.is_empty() || others.is_empty() {
            return Self::same(self.of_any());
        }
        Self::same(Interval { low: root.low.max(others.low), high: root.high.max(others.high) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ranks_agree_on_holds_for_any_number_of_them() {
        // Of two ranks 0.5, of many as much as one likes.
        assert_eq!(Number::RANK.average(), Number::same(Interval::from(0.5)));
        assert_eq!(Number::RANK.sum(), Number::same(Interval::from(1.0)));
        assert_eq!(Number::RANK.greatest(), Number::same(Interval::from(1.0)));
        assert_eq!(Number::RANK.broadcast(Some(0)), Number::same(Interval::of(0.0)));
        assert_eq!(Number::RANK.broadcast(None), Number::same(Interval::from(0.0)));
        let one = Number::same(Interval::of(1.0));
        assert_eq!(one.average(), one);
        assert_eq!(one.sum(), Number::same(Interval::from(2.0)));
        assert_eq!(one.map(Interval::negated).sum(), Number::same(Interval::from(2.0).negated()));
    }
}
