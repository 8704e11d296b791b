//! Which slices, ranges and shards by the rank have the same number of elements on every rank:
//! `data[rank * n:(rank + 1) * n]` has `n` of them, if there are as many for each rank.
//!
//! The bounds are taken for polynomials in what they are computed from. What they are apart is the length, and the rank
//! times that is where the slice begins: so the slices stand one behind the other, and only where the length was rounded
//! up is there less for the last one. Of what is dealt out one by one, `data[rank::size]`, all have as many if the whole
//! was cut to a multiple of how many ranks there are.

use super::super::blocks::Blocks;
use super::super::values::Values;
use super::polynomial::{Factor, Polynomial, origin, polynomial};
use super::{enumerated, range_limits};
use crate::api::{Effect, Scaling};
use crate::program::{Facts, Place};
use crate::project::FileId;
use crate::semantic::{BranchKind, Constant, Cut, Method, Operator, Value, ValueId};

/// What is asked of parts.
#[derive(Clone, Copy)]
pub(super) struct Parts<'p, 'c> {
    pub(super) facts: &'p Facts<'c>,
    pub(super) blocks: &'p Blocks,
    pub(super) values: &'p Values,
}

impl Parts<'_, '_> {
    /// Whether a slice has as many elements on every rank.
    pub(super) fn is_equal_slice(&self, file: FileId, base: ValueId, cut: &Cut) -> bool {
        match (cut.lower, cut.upper, cut.step) {
            (Some(lower), Some(upper), None) => self.stand_in_line(file, lower, upper),
            (Some(lower), upper, Some(step)) => {
                self.is_dealt(file, lower, step)
                    && match upper {
                        Some(upper) => self.is_for_all((file, upper)),
                        None => self.is_whole((file, base)),
                    }
            }
            _ => false,
        }
    }

    /// Whether a `range` with these limits has as many numbers on every rank.
    pub(super) fn is_equal_range(&self, file: FileId, limits: &[ValueId]) -> bool {
        let &[start, stop, ref step @ ..] = limits else { return false };
        let is_apart = || {
            let to = polynomial(self.facts, (file, stop))?;
            let apart = to.plus(&polynomial(self.facts, (file, start))?, -1)?;
            Some(self.is_shared(&apart))
        };
        match *step {
            [] => is_apart() == Some(true),
            [step] if self.is_dealt(file, start, step) => self.is_for_all((file, stop)),
            [step] => {
                let step = polynomial(self.facts, (file, step));
                step.is_some_and(|step| self.is_shared(&step)) && is_apart() == Some(true)
            }
            _ => false,
        }
    }

    /// Whether slices from one bound to another stand one behind the other, and there is enough for all.
    fn stand_in_line(&self, file: FileId, lower: ValueId, upper: ValueId) -> bool {
        let bound = |value| polynomial(self.facts, (file, value));
        let (Some(from), Some(to)) = (bound(lower), bound(upper)) else { return false };
        // Numbers below zero count from the end.
        if from.has_negative() {
            return false;
        }
        let Some(apart) = to.plus(&from, -1).filter(|apart| !apart.is_zero()) else { return false };
        let offset = apart.times(&Polynomial::of(Factor::Rank)).and_then(|before| from.plus(&before, -1));
        if offset.is_none_or(|offset| offset.factors().any(|factor| factor == Factor::Rank)) {
            return false;
        }
        self.is_shared(&apart)
            && apart.factors().all(|factor| match factor {
                Factor::Value(place) => !is_rounded_up(self.facts, place, 4),
                Factor::Length(_) => true,
                Factor::Rank | Factor::Size | Factor::Quotient(_) => false,
            })
    }

    /// Whether a number is the same on all ranks, as far as what it is computed from tells.
    fn is_shared(&self, number: &Polynomial) -> bool {
        number.factors().all(|factor| match factor {
            Factor::Rank => false,
            Factor::Size => true,
            Factor::Length(place) => self.values.length(place).is_none(),
            Factor::Value(place) | Factor::Quotient(place) => {
                self.values.difference(place).is_none() && self.values.length(place).is_none()
            }
        })
    }

    /// Whether each rank begins with its own element and goes on as many ranks further.
    fn is_dealt(&self, file: FileId, first: ValueId, step: ValueId) -> bool {
        let is = |value, factor| polynomial(self.facts, (file, value)).is_some_and(|own| own.is(factor));
        is(first, Factor::Rank) && is(step, Factor::Size)
    }

    /// Whether a number is one that all ranks share, and a multiple of how many they are: `len(data) // size * size`,
    /// `len(data) - len(data) % size`.
    fn is_for_all(&self, place: Place) -> bool {
        polynomial(self.facts, place).is_some_and(|number| {
            number.is_multiple_of(Factor::Size) && !number.has_negative() && self.is_shared(&number)
        })
    }

    /// Whether a sequence has as many elements for each rank as for the others.
    pub(super) fn is_whole(&self, place: Place) -> bool {
        let facts = self.facts;
        let (file, value) = origin(facts, place);
        let module = facts.module(file);
        let is_cut = match &module.value(value).value {
            Value::Slice { cut, .. } => {
                is_from_start(facts, file, cut)
                    && cut.upper.is_some_and(|upper| self.is_for_all((file, upper)))
            }
            Value::Call(id) => {
                if let Some(limits) = range_limits(facts, file, *id) {
                    matches!(limits[..], [end] if self.is_for_all((file, end)))
                } else {
                    // `dataset.take(n // hvd.size() * hvd.size())`
                    let call = module.call(*id);
                    facts.called_symbols(file, *id).any(|symbol| {
                        let mut counts = symbol.scaled().filter(|(_, scaling)| *scaling == Scaling::Divide);
                        let count = counts.find_map(|(name, _)| facts.argument(file, call, symbol, name));
                        count.is_some_and(|count| self.is_for_all((file, count.value)))
                    })
                }
            }
            _ => false,
        };
        is_cut || self.is_filled_up((file, value))
    }

    /// Whether a condition deals out the elements of something that has as many for each rank as for the others:
    /// `index % hvd.size() == hvd.rank()`.
    pub(super) fn is_dealt_evenly(&self, file: FileId, condition: ValueId) -> bool {
        let module = self.facts.module(file);
        let is = |value, factor| polynomial(self.facts, (file, value)).is_some_and(|own| own.is(factor));
        let operator = |value: ValueId| match module.value(value).value {
            Value::Operator { operator, left, right } => Some((operator, left, right)),
            _ => None,
        };
        let Some((Operator::Compare(method), left, right)) = operator(condition) else { return false };
        let counted = [(left, right), (right, left)].into_iter().find_map(|(remainder, rank)| {
            let (Operator::Binary(Method::MOD), counter, size) = operator(remainder)? else { return None };
            (is(rank, Factor::Rank) && is(size, Factor::Size)).then_some(counter)
        });
        let is_element_of_whole = |counter: ValueId| match module.value(counter).value {
            Value::Iteration(numbers) => self.is_whole((file, numbers)),
            Value::Unpack { base, index: Some(0), .. } => match module.value(base).value {
                Value::Iteration(pairs) => {
                    enumerated(self.facts, (file, pairs)).is_some_and(|whole| self.is_whole(whole))
                }
                _ => false,
            },
            _ => false,
        };
        matches!(method.name(), "__eq__" | "__ne__") && counted.is_some_and(is_element_of_whole)
    }

    /// Whether a loop turns until the length of a list is a multiple of how many ranks there are:
    /// `while len(data) % hvd.size(): data.append(data[0])`.
    fn is_filled_up(&self, list: Place) -> bool {
        let influence = self.facts.influence();
        let is_until = |&(file, value): &Place| {
            let Value::Operator { operator: Operator::Binary(method), left, right } =
                self.facts.module(file).value(value).value
            else {
                return false;
            };
            let is = |value, factor| polynomial(self.facts, (file, value)).is_some_and(|own| own.is(factor));
            method.name() == "__mod__" && is(left, Factor::Length(list)) && is(right, Factor::Size)
        };
        let turns = |place: Place| {
            let decided = self.blocks.decided_by(place).iter();
            let flow = |file, scope| &self.facts.module(file).scope(scope).flow;
            decided
                .filter_map(|&(caller, block)| flow(caller.file, caller.scope).blocks[block.index()].branch)
                .any(|branch| branch.kind == BranchKind::While)
        };
        let lengths = influence.dependents(list);
        let remainders = lengths.flat_map(|own| influence.dependents(own)).filter(is_until);
        remainders.into_iter().any(|own| turns(own) || influence.dependents(own).any(turns))
    }

    /// What cutting a sequence whose length differs leaves of the difference.
    pub(super) fn left_by(&self, file: FileId, cut: &Cut) -> Left {
        let module = self.facts.module(file);
        let Some(upper) = cut.upper.filter(|_| is_from_start(self.facts, file, cut)) else {
            return Left::All;
        };
        match module.value(upper).value {
            Value::Constant(Constant::Int(int)) if int >= 0 => Left::Perhaps,
            // From the end.
            Value::Constant(_) | Value::Operator { operator: Operator::Unary(_), .. } => Left::All,
            _ if self.values.difference((file, upper)).is_some() => Left::All,
            _ if has_every_rank(self.facts, (file, upper)) => Left::Nothing,
            _ => Left::Perhaps,
        }
    }
}

/// What is left of a difference between lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ranks) enum Left {
    /// Every rank has as many.
    Nothing,
    /// Every rank has as many, unless it is more than some have.
    Perhaps,
    /// Those that had more still do.
    All,
}

/// How far it is followed where a number comes from.
const STEPS: u32 = 5;

/// Whether every rank has so many elements, as far as can be told: a share of the whole, or the least that a rank has.
pub(in crate::ranks) fn has_every_rank(facts: &Facts<'_>, place: Place) -> bool {
    is_share(facts, place, STEPS) || is_least(facts, place, STEPS)
}

/// Whether a slice begins with the first element and leaves none out up to its end.
fn is_from_start(facts: &Facts<'_>, file: FileId, cut: &Cut) -> bool {
    let is_zero = |value: ValueId| facts.module(file).value(value).value == Value::Constant(Constant::Int(0));
    cut.step.is_none() && cut.lower.is_none_or(is_zero)
}

/// Whether a number is a rank's share of another one, rounded down: `len(data) // hvd.size()`, and what it is divided
/// by further.
fn is_share(facts: &Facts<'_>, place: Place, steps: u32) -> bool {
    let Some(steps) = steps.checked_sub(1) else { return false };
    let place = origin(facts, place);
    let (file, value) = place;
    let module = facts.module(file);
    match module.value(value).value {
        Value::Operator { operator: Operator::Binary(method) | Operator::InPlace(method), left, right } => {
            let is_by_size = || {
                polynomial(facts, (file, right)).is_some_and(|own| own.is_multiple_of(Factor::Size))
                    && !is_rounded_up(facts, (file, left), 1)
            };
            match method.name() {
                "__floordiv__" => is_by_size() || is_share(facts, (file, left), steps),
                "__sub__" => is_share(facts, (file, left), steps),
                _ => false,
            }
        }
        Value::Call(call) => {
            let mut given = module.call(call).arguments.iter();
            facts.gives(place, &[Effect::TakesLeast])
                && given.any(|own| is_share(facts, (file, own.value), steps))
        }
        _ => false,
    }
}

/// Whether a number is the least of those that the ranks have told each other: `min(hvd.allgather_object(len(mine)))`,
/// `int(hvd.allreduce(len(mine), op=hvd.Min))`.
fn is_least(facts: &Facts<'_>, place: Place, steps: u32) -> bool {
    let Some(steps) = steps.checked_sub(1) else { return false };
    let place = origin(facts, place);
    let (file, value) = place;
    let Value::Call(id) = facts.module(file).value(value).value else { return false };
    let call = facts.module(file).call(id);
    if facts.gives(place, &[Effect::Agrees]) {
        return facts.called_symbols(file, id).any(|symbol| {
            facts.argument(file, call, symbol, "op").is_some_and(|op| {
                let mut reductions = facts.objects(file, op.value).map(|(_, object)| facts.symbol(object));
                reductions.any(|own| own.is_some_and(|own| own.has(Effect::TakesLeast)))
            })
        });
    }
    let given = call.arguments.iter().map(|own| own.value).chain(facts.receiver(file, call));
    let mut given = given.map(|value| (file, value));
    if facts.gives(place, &[Effect::TakesLeast]) {
        given.any(|own| is_told(facts, own, steps))
    } else {
        given.any(|own| is_least(facts, own, steps))
    }
}

/// Whether a value is what the ranks have told each other.
fn is_told(facts: &Facts<'_>, place: Place, steps: u32) -> bool {
    let Some(steps) = steps.checked_sub(1) else { return false };
    facts.gives(place, &[Effect::Agrees])
        || facts.influence().operands(place).take(8).any(|own| is_told(facts, own, steps))
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
            let cuts = facts.calls_builtin(file, call, "builtins.int")
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
