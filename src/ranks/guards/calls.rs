//! Which ranks come to the code of a function: what all its calls say of the rank, all the way from the beginning of the
//! program.

use super::super::lengths::range_limits;
use super::super::model::Model;
use super::Guard;
use crate::api::Returns;
use crate::program::{CallEdge, Caller, Facts, FunctionRef, Object, Pattern, Place};
use crate::project::FileId;
use crate::semantic::{Argument, BlockId, CallId, Statement, StatementKind, ValueId};

impl Model<'_> {
    /// What the calls of a scope's code say of the rank, all the way from the beginning of the program.
    #[must_use]
    pub fn scope_guard(&self, caller: Caller) -> Guard {
        self.guards.scopes.get(&caller).cloned().unwrap_or_default()
    }

    /// Follows the guards from callers to those that they call. Functions that call each other are gone through until
    /// nothing changes: what holds for all ways to a function only gets less.
    pub(in crate::ranks) fn follow_calls(&mut self) {
        loop {
            let mut is_stable = true;
            for index in (0..self.comms.order.len()).rev() {
                let caller = self.comms.order[index];
                if let Some(guard) = self.called_under(caller)
                    && self.guards.scopes.get(&caller) != Some(&guard)
                {
                    is_stable = false;
                    self.guards.scopes.insert(caller, guard);
                }
            }
            if is_stable {
                return;
            }
        }
    }

    /// The guard of a scope, as far as it is known yet.
    pub(in crate::ranks) fn known_guard(&self, caller: Caller) -> Option<&Guard> {
        self.guards.scopes.get(&caller)
    }

    /// What all ways to a scope's code have in common: its calls, and for a method the places that make its receiver.
    fn called_under(&self, caller: Caller) -> Option<Guard> {
        let Some(function) = self.facts.function_of(caller) else { return Some(Guard::default()) };
        Some(self.calls_under(function)?.and(&self.made_under(function)))
    }

    /// What all calls of a function have in common, as far as their own scopes are known.
    fn calls_under(&self, function: FunctionRef) -> Option<Guard> {
        let mut calls: Vec<(Caller, BlockId)> = Vec::new();
        let is_run = |edge: &CallEdge| self.programs.iter().any(|program| self.facts.is_run(program, edge));
        let trains = |edge: &CallEdge| {
            let mut training = self.programs.iter().filter(|program| program.pattern != Pattern::None);
            training.any(|program| self.facts.is_run(program, edge))
        };
        // Tools share the code of programs that train and start Horovod too, but are seldom run by several ranks.
        let is_of_training = self.facts.incoming(function).iter().any(trains);
        // What no code of the programs calls is called by a library, a command by `click`.
        if !self.facts.incoming(function).iter().any(is_run) {
            return Some(Guard::default());
        }
        for edge in self.facts.incoming(function) {
            let Some(call) = edge.call else { return Some(Guard::default()) };
            if is_of_training && !trains(edge) || !is_run(edge) || self.only_wraps(edge) {
                continue;
            }
            if self.overrides.is_replaced(edge.caller.file, call, function)
                || self.is_guarded_by_override(edge, function)
            {
                continue;
            }
            let block = self.facts.module(edge.caller.file).call(call).block;
            if self.unreached.is_block(edge.caller, block) {
                continue;
            }
            calls.push((edge.caller, block));
        }
        // Other commands and modes of the program run by themselves: what they leave open says nothing of the ranks.
        keep_if_any(&mut calls, |caller, _| self.is_together(caller));
        keep_if_any(&mut calls, |caller, block| self.is_of_ranks_together(caller, block));
        let known = |(caller, block): (Caller, BlockId)| {
            let of_scope = self.guards.scopes.get(&caller)?;
            Some(self.own_guard(caller, block).and(of_scope))
        };
        calls.into_iter().filter_map(known).reduce(|joined, own| joined.both(&own))
    }

    /// Whether a call means a method that others take the place of, one of which calls it on some ranks only: in the
    /// distributed form of a class `if hvd.rank() == 0: super().save()`.
    fn is_guarded_by_override(&self, edge: &CallEdge, function: FunctionRef) -> bool {
        let facts = self.facts;
        let Some(call) = edge.call else { return false };
        let mut others = facts.called_functions(edge.caller.file, call).filter(|&other| other != function);
        others.any(|other| {
            let of = facts.code_of(other);
            facts.incoming(function).iter().any(|edge| {
                edge.caller == of
                    && edge.call.is_some_and(|call| {
                        let block = facts.module(of.file).call(call).block;
                        !self.own_guard(of, block).is_all()
                    })
            })
        })
    }
}

/// Keeps the calls at some places, if there are any.
fn keep_if_any(calls: &mut Vec<(Caller, BlockId)>, is_kept: impl Fn(Caller, BlockId) -> bool) {
    if calls.len() > 1 && calls.iter().any(|&(caller, block)| is_kept(caller, block)) {
        calls.retain(|&(caller, block)| is_kept(caller, block));
    }
}

/// What a call of a function returns, if that is one value: others stand behind conditions that the constants which it
/// passes rule out.
pub(super) fn returned(
    facts: &Facts<'_>,
    (file, call): (FileId, CallId),
    function: FunctionRef,
) -> Option<Place> {
    let returns = &facts.module(function.file).function(function.function).returns;
    if let [only] = returns[..] {
        return Some((function.file, only));
    }
    let is_it = |edge: &&CallEdge| facts.solution.object(edge.callee) == Object::Function(function);
    let edge = facts.callees(file, call).iter().find(is_it)?;
    let code = facts.code_of(function);
    let module = facts.module(code.file);
    let block = |value: ValueId| {
        let range = module.value(value).range;
        let mut statements = module.statements.iter();
        let is_of = |own: &&Statement| {
            own.kind == StatementKind::Return && own.scope == code.scope && own.range.contains_range(range)
        };
        statements.find(is_of).map(|own| own.block)
    };
    let mut left = returns
        .iter()
        .filter(|&&value| block(value).is_none_or(|block| !facts.rules_out(edge, function, block)));
    left.next().filter(|_| left.next().is_none()).map(|&only| (function.file, only))
}

/// The argument that a library's function gives back, such as a progress bar what it goes through.
pub(super) fn given_back<'f>(facts: &Facts<'f>, file: FileId, id: CallId) -> Option<&'f Argument> {
    let mut symbols = facts.called_symbols(file, id);
    let symbol = symbols.next().filter(|_| symbols.next().is_none())?;
    let Returns::Argument(name) = symbol.returns() else { return None };
    facts.argument(file, facts.module(file).call(id), symbol, name)
}

/// The limits of a `range`, with what it is called: one with the same limits has as many elements, wherever it is made.
pub(super) fn range(facts: &Facts<'_>, file: FileId, id: CallId) -> Option<(&'static str, Vec<ValueId>)> {
    Some(("builtins.range", range_limits(facts, file, id)?))
}
