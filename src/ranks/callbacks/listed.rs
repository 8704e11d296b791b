//! In which order callbacks come into their list: Keras calls them one after the other.

use crate::api::{Effect, Parameter};
use crate::program::{Facts, ObjectId};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId, ScopeId, Value, ValueId};
use crate::syntax::TextRange;

/// Where a callback comes into a list.
struct Joining {
    /// What the list may be.
    lists: Vec<ObjectId>,
    /// The display that it stands in, or the call that adds it.
    range: TextRange,
    scope: ScopeId,
    block: Option<BlockId>,
}

/// Whether one callback comes into the list behind another: in a list that is written out, or that grows.
pub(super) fn comes_later(
    facts: &Facts<'_>,
    (file, one): (FileId, CallId),
    (of, other): (FileId, CallId),
) -> bool {
    let module = facts.module(file);
    if file != of || module.call(one).range.start() <= module.call(other).range.start() {
        return false;
    }
    let (Some(late), Some(early)) = (joining(facts, file, one), joining(facts, file, other)) else {
        return false;
    };
    if late.range == early.range {
        return true;
    }
    let is_one_list = late.scope == early.scope && late.lists.iter().any(|own| early.lists.contains(own));
    let flow = &module.scope(late.scope).flow;
    let is_in_loop = |block: BlockId| flow.leads(block, block);
    is_one_list
        && late.range.start() >= early.range.end()
        && late.block.is_some_and(|block| !is_in_loop(block))
        && early.block.is_none_or(|block| !is_in_loop(block))
}

fn joining(facts: &Facts<'_>, file: FileId, callback: CallId) -> Option<Joining> {
    let module = facts.module(file);
    let range = module.call(callback).range;
    let appending = module.calls.iter().enumerate().filter_map(|(index, call)| {
        let is_given = call.arguments.iter().any(|own| own.range.contains_range(range));
        let appends = is_given && appends(facts, file, CallId::new(index));
        appends.then(|| (call, facts.receiver(file, call)))
    });
    let lists = |value: ValueId| facts.objects(file, value).map(|(id, _)| id).collect();
    let innermost = appending.min_by_key(|(call, _)| call.range.len());
    if let Some((call, receiver)) = innermost {
        let (scope, block) = (call.scope, Some(call.block));
        return Some(Joining { lists: lists(receiver?), range: call.range, scope, block });
    }
    let displays = module
        .values
        .iter()
        .enumerate()
        .filter(|(_, own)| matches!(own.value, Value::Display(..)) && own.range.contains_range(range));
    let (index, display) = displays.min_by_key(|(_, own)| own.range.len())?;
    let lists = lists(ValueId::new(index));
    Some(Joining { lists, range: display.range, scope: display.scope, block: None })
}

/// Whether a call adds its only argument, or the elements of that, to the end of a list.
fn appends(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let methods = facts.callees(file, call).iter().filter_map(|edge| facts.builtin_method(edge.callee));
    methods.map(|(_, method)| method).any(|method| {
        let is_needed = |own: &Parameter| own.default().is_none();
        method.has(Effect::Resizes) && matches!(method.parameters(), [only] if is_needed(only))
    })
}
