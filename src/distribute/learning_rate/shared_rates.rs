//! Rates that are a number on one way and the initial rate of a schedule on the other, `rate = 0.1` and
//! `if decays: rate = ExponentialDecay(rate, ...)`: the number grows where it is bound, for both.

use super::super::job::Job;
use super::rates;
use crate::api::Kind;
use crate::program::Place;
use crate::project::FileId;
use crate::semantic::{Argument, StatementKind, Value, ValueId, Variable};
use crate::syntax::TextRange;

/// Where the number is bound that both ways have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::distribute) struct Shared {
    file: FileId,
    variable: Variable,
    number: ValueId,
    /// The expression that it is bound to.
    pub(super) expression: TextRange,
}

/// The number that a rate is on one way, if the schedules of the other ways begin with it.
pub(in crate::distribute) fn shared(job: &Job<'_>, (file, rate): Place) -> Option<Shared> {
    let facts = job.facts;
    let module = facts.module(file);
    let Value::Phi(ways) = &module.value(rate).value else { return None };
    let mut numbers = ways.iter().copied().filter(|&own| !facts.may_be(file, own, Kind::Schedule));
    let number = numbers.next().filter(|_| numbers.next().is_none())?;
    let variable = module.uses.iter().find(|own| own.value == rate)?.variable?;
    let mut bound = module.definitions.iter().filter(|own| own.variable == variable && own.value == number);
    let bound = bound.next().filter(|_| bound.next().is_none())?;
    let statement = module.statement(bound.statement?);
    if statement.kind != (StatementKind::Assign { simple: true }) {
        return None;
    }
    let expression = job.text(file)?.assigned_expression(statement.range, bound.range)?;
    let shared = Shared { file, variable, number, expression };
    let begins_with_it = |schedule| {
        let Some((of, call)) = facts.made_at(schedule) else { return false };
        let data = facts.module(of).call(call);
        let mut classes = facts.called_symbols(of, call);
        classes.any(|class| {
            let mut rates = rates::scaled(class).filter_map(|name| facts.argument(of, data, class, name));
            rates.any(|own| shared.is_given(job, of, own))
        })
    };
    let schedules = facts.of_kind(file, rate, Kind::Schedule);
    // Who else reads the number would find it grown: another optimizer, whose rate grows by itself.
    let readings =
        module.uses.iter().filter(|own| own.variable == Some(variable) && own.value == number).count();
    (readings == schedules.len() && readings > 0 && schedules.into_iter().all(begins_with_it))
        .then_some(shared)
}

impl Shared {
    /// Whether an argument is the number, by the name that it is bound to.
    pub(in crate::distribute) fn is_given(&self, job: &Job<'_>, file: FileId, argument: &Argument) -> bool {
        let mut uses = job.facts.module(file).uses.iter();
        file == self.file
            && argument.value == self.number
            && uses.any(|own| own.range == argument.range && own.variable == Some(self.variable))
    }
}
