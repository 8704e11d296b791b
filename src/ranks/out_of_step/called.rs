//! Calls of one function on one rank and of another one elsewhere: `(lead if hvd.rank() == 0 else follow)()`.

use super::super::model::Model;
use super::super::values::{Cause, Difference};
use super::{CHECK, source};
use crate::finding::{Finding, Label, Level};
use crate::program::{Caller, Object, Place};
use crate::semantic::{CallId, CallKind, Flow, Value};

/// How far it is followed where a value comes from.
const STEPS: usize = 8;

/// The finding of a call that means functions which communicate in different ways. `follows` tells whether more is
/// communicated when the calling function returns.
pub(super) fn finding(model: &Model<'_>, caller: Caller, id: CallId, follows: bool) -> Option<Finding> {
    let facts = model.facts;
    let file = caller.file;
    let call = facts.module(file).call(id);
    if call.kind != CallKind::Expression {
        return None;
    }
    let functions: Vec<Caller> =
        facts.called_functions(file, id).map(|function| facts.code_of(function)).collect();
    if functions.len() < 2 {
        return None;
    }
    let own = chosen(model, (file, call.callee), STEPS)?;
    let mut ways = functions.iter().filter_map(|&code| model.comms.way(code, Flow::ENTRY));
    let first = ways.next()?;
    let is_traced = model.traced.contains(&caller);
    let parting = ways.find_map(|other| model.comms.parting(first, other, is_traced, follows))?;
    let location = model.at_call(file, id);
    let message = "the ranks call different functions here, which do not communicate alike";
    let origin = source(model, own);
    let mut finding = Finding::new(&CHECK.rule, Level::Error, location, message)
        .here("ranks part here")
        .help("call the same on all ranks, or take the collective out of what only some of them call")
        .in_scope(facts.scope_name(caller));
    let mut flow = vec![origin, Label { location, message: "decides here".to_owned() }];
    for (site, what) in [(parting.one, "one rank communicates"), (parting.other, "another rank communicates")]
    {
        if let Some(location) = site {
            finding = finding.label(location, what);
            flow.push(Label { location, message: what.to_owned() });
        }
    }
    finding.flow = flow;
    Some(finding)
}

/// Why ranks choose differently among values that are the same on all of them.
fn chosen(model: &Model<'_>, place: Place, steps: usize) -> Option<Difference> {
    let steps = steps.checked_sub(1)?;
    let facts = model.facts;
    let (file, value) = place;
    let differs = |value| model.difference((file, value));
    let by_rank = |own: Option<Difference>| own.filter(|own| own.cause == Cause::Rank);
    match &facts.module(file).value(value).value {
        Value::Phi(parts) if parts.iter().all(|&part| differs(part).is_none()) => by_rank(differs(value)),
        Value::Item { base, key, .. } if differs(*base).is_none() => by_rank(differs(*key)),
        // `{0: lead}.get(hvd.rank(), follow)`
        Value::Call(id) => {
            let call = facts.module(file).call(*id);
            let is_lookup = facts
                .callees(file, *id)
                .iter()
                .any(|edge| matches!(facts.solution.object(edge.callee), Object::BuiltinMethod(..)));
            let container = facts.receiver(file, call).filter(|&own| is_lookup && differs(own).is_none());
            container.and(call.arguments.first()).and_then(|key| by_rank(differs(key.value)))
        }
        Value::Attribute { base, narrowed: None, .. } if model.same(place).is_none() => {
            chosen(model, (file, *base), steps)
        }
        _ => model.same(place).and_then(|same| chosen(model, same, steps)),
    }
}
