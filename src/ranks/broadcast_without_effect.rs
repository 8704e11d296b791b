//! Broadcasts of variables that are written down but send nothing, or not when they should.
//!
//! Each file of the folder is one reason.

mod dropped;
mod flag;
mod spent;
mod unbuilt;
mod undone;

use crate::api::{Effect, Symbol};
use crate::checks::{Context, check};
use crate::finding::{Finding, Fix, Level, Location};
use crate::program::{Caller, Facts};
use crate::project::FileId;
use crate::semantic::{Argument, Call, CallId};
use crate::syntax::TextRange;

check!("HVD304", "broadcast-without-effect", Ranks, Error, run);

/// A broadcast of variables.
#[derive(Clone, Copy)]
struct Broadcast<'c> {
    context: Context<'c>,
    facts: &'c Facts<'c>,
    file: FileId,
    id: CallId,
    call: &'c Call,
    symbol: &'c Symbol,
}

/// Why a broadcast has no effect, and where that is seen.
struct Reason {
    /// Whose code it is.
    caller: Caller,
    range: TextRange,
    message: &'static str,
    here: &'static str,
    help: &'static str,
    labels: Vec<(Location, &'static str)>,
    fix: Option<Fix>,
}

fn run(context: Context<'_>) -> Vec<Finding> {
    let facts = context.facts;
    let mut calls: Vec<Broadcast<'_>> = Vec::new();
    for (file, id) in facts.calls_with(Effect::Broadcasts) {
        let call = facts.module(file).call(id);
        let sends = |symbol: &&Symbol| symbol.has(Effect::Broadcasts) && symbol.has(Effect::UpdatesState);
        if let Some(symbol) = facts.called_symbols(file, id).find(sends) {
            calls.push(Broadcast { context, facts, file, id, call, symbol });
        }
    }
    let mut reasons = undone::reasons(context, &calls);
    reasons.extend(flag::reasons(context, &calls).into_iter().map(|(_, reason)| reason));
    reasons.extend(calls.iter().filter_map(|call| reason(call, &calls)));
    reasons.into_iter().map(|reason| finding(facts, reason)).collect()
}

fn reason(call: &Broadcast<'_>, calls: &[Broadcast<'_>]) -> Option<Reason> {
    dropped::reason(call).or_else(|| spent::reason(call)).or_else(|| unbuilt::reason(call, calls))
}

fn finding(facts: &Facts<'_>, reason: Reason) -> Finding {
    let location = facts.location(reason.caller.file, reason.range);
    let mut finding = Finding::new(&CHECK.rule, Level::Error, location, reason.message)
        .here(reason.here)
        .help(reason.help)
        .in_scope(facts.scope_name(reason.caller));
    for (location, label) in reason.labels {
        finding = finding.label(location, label);
    }
    finding.fix = reason.fix;
    finding
}

impl<'c> Broadcast<'c> {
    /// What is sent.
    fn variables(&self) -> Option<&'c Argument> {
        self.facts.argument(self.file, self.call, self.symbol, "variables")
    }

    fn caller(&self) -> Caller {
        Caller { file: self.file, scope: self.call.scope }
    }

    fn location(&self) -> Location {
        self.facts.location(self.file, self.call.range)
    }
}
