//! Programs that rely on how many steps there are, or on the number of a step: `if step == STEPS - 1`,
//! `decay_steps=1000`. There each rank makes all of them.

use rustc_hash::FxHashSet;

use super::super::callback::{hook_parameters, is_of_callback};
use super::super::job::Job;
use super::super::obstacles::counted::is_enumeration;
use crate::api::{Kind, Symbol};
use crate::program::{FunctionRef, Literal, Object, Place};
use crate::project::FileId;
use crate::semantic::{Argument, Method, Operator, Value, ValueId};
use crate::syntax::TextRange;

/// Whether a number of steps decides about something else: `if step == STEPS - 1`, `decay_steps=EPOCHS * STEPS`. What
/// is only told, or what a sum is divided by, follows the steps that are made.
pub(super) fn is_counted_on(job: &Job<'_>, file: FileId, count: &Argument, any: Counting) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    // A constant is the same value wherever it is written: its name tells whether it is meant.
    let variable = module.uses.iter().find(|own| own.range == count.range).and_then(|own| own.variable);
    let is_named_in = |range: TextRange| {
        let mut readings = module.uses.iter().filter(|own| own.variable == variable);
        variable.is_some() && readings.any(|own| range.contains_range(own.range))
    };
    let is_handed_on = |(file, value): Place| {
        matches!(
            facts.module(file).value(value).value,
            Value::Cell(_)
                | Value::Phi(_)
                | Value::Parameter(..)
                | Value::Import(_)
                | Value::Attribute { .. }
        )
    };
    // What else an object has says nothing of this attribute of it: `FLAGS.steps`.
    let is_attribute_of = |(file, value): Place, owner: Place| {
        let base = match facts.module(file).value(value).value {
            Value::Attribute { base, .. } => Some((file, base)),
            _ => None,
        };
        base == Some(owner)
    };
    let mut seen: FxHashSet<Place> = FxHashSet::default();
    let mut work = vec![(file, count.value)];
    while let Some(place) = work.pop() {
        if !seen.insert(place) {
            continue;
        }
        if is_handed_on(place) {
            let operands = facts.influence().operands(place);
            work.extend(operands.filter(|&own| !is_attribute_of(place, own)));
        }
        let is_constant = matches!(facts.module(place.0).value(place.1).value, Value::Constant(_));
        for next @ (of, value) in facts.influence().dependents(place) {
            let evaluation = facts.module(of).value(value);
            // A callback of the program's own that is told how many there are.
            if let Value::Parameter(function, _) = evaluation.value
                && (!is_constant || variable.is_some())
                && is_of_callback(job, FunctionRef { file: of, function })
            {
                return true;
            }
            let is_meant = !is_constant || is_named_in(evaluation.range);
            match evaluation.value {
                Value::Operator { operator: Operator::Compare(_), .. } => return true,
                // How much of all steps is done: `step / STEPS`.
                Value::Operator { operator: Operator::Binary(Method::TRUEDIV), left, right }
                    if right == place.1 && enumerated(job, (of, left)).is_some() =>
                {
                    return true;
                }
                Value::Operator { operator: Operator::Binary(Method::TRUEDIV), right, .. }
                    if right == place.1 => {}
                Value::Operator { .. } if is_meant && any == Counting::InAnyWay => return true,
                Value::Operator { .. } if is_meant => work.push(next),
                Value::Call(call) if is_meant => {
                    let is_told = |own: &Symbol| {
                        let kind = facts.library.kind_of_class(own);
                        own.is_class() && matches!(kind, Kind::Schedule | Kind::Callback)
                    };
                    if facts.called_symbols(of, call).any(is_told) {
                        return true;
                    }
                }
                _ if is_handed_on(next) && !is_attribute_of(next, place) => work.push(next),
                _ => {}
            }
        }
    }
    false
}

/// What else is made of a number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    /// Any other number.
    InAnyWay,
    /// How long a schedule is, or what something is compared with.
    BySteps,
}

/// Whether the program does something at a certain step: `if batch == 500`. What it does at every hundredth step it goes on
/// doing. `fed` is what its loops train on.
pub(super) fn decides_by_number(job: &Job<'_>, fed: &[Place]) -> bool {
    let facts = job.facts;
    let mut seen: FxHashSet<Place> = FxHashSet::default();
    let mut work = numbers(job, fed);
    while let Some(place) = work.pop() {
        if !seen.insert(place) {
            continue;
        }
        for next @ (file, value) in facts.influence().dependents(place) {
            match facts.module(file).value(value).value {
                Value::Operator { operator: Operator::Compare(_), left, right } => {
                    let others = [left, right].into_iter().filter(|&own| (file, own) != place);
                    // Each rank makes a first step.
                    if !others.into_iter().any(|own| is_of_first(job, (file, own))) {
                        return true;
                    }
                }
                Value::Operator { operator: Operator::Binary(Method::MOD), .. } | Value::Call(_) => {}
                Value::Operator { .. }
                | Value::Cell(_)
                | Value::Phi(_)
                | Value::Parameter(..)
                | Value::Attribute { .. } => work.push(next),
                _ => {}
            }
        }
    }
    false
}

/// Whether a number tells the first step from the others: `step == 0`, `step < 1`.
fn is_of_first(job: &Job<'_>, (file, value): Place) -> bool {
    let mut objects = job.facts.objects(file, value);
    objects.any(|(_, own)| matches!(own, Object::Literal(Literal::Int(0 | 1))))
}

/// Where the program has the number of a step: what `enumerate` gives beside the data, what hooks are told, and what an
/// optimizer has counted.
fn numbers(job: &Job<'_>, fed: &[Place]) -> Vec<Place> {
    let facts = job.facts;
    let mut found = Vec::new();
    for file in job.program.files() {
        let module = facts.module(file);
        for (index, evaluation) in module.values.iter().enumerate() {
            let is_number = match evaluation.value {
                Value::Unpack { .. } => {
                    enumerated(job, (file, ValueId::new(index))).is_some_and(|of| fed.contains(&of))
                }
                Value::Attribute { base, name, .. } => {
                    module.names.text(name) == ITERATIONS && facts.may_be(file, base, Kind::Optimizer)
                }
                _ => false,
            };
            if is_number {
                found.push((file, ValueId::new(index)));
            }
        }
        found.extend(hook_parameters(job, file, 1));
    }
    found
}

/// What is enumerated where a value is the number that `enumerate` gives.
fn enumerated(job: &Job<'_>, (file, value): Place) -> Option<Place> {
    let module = job.facts.module(file);
    let Value::Unpack { base, index: Some(0), starred: false } = module.value(value).value else {
        return None;
    };
    let Value::Iteration(of) = module.value(base).value else { return None };
    is_enumeration(job, file, of).then_some((file, of))
}

/// The attribute of optimizers that counts their steps.
const ITERATIONS: &str = "iterations";
