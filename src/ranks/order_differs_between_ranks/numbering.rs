//! Elements that are numbered in an order that is another one on each rank: `{word: number for number, word in
//! enumerate(set(words))}`, or by a counter in a loop.

use super::super::disorder::{self, Why};
use super::super::lengths::is_called;
use super::super::model::Model;
use super::{Use, finding};
use crate::finding::Finding;
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::{
    BranchKind, Call, CallId, Container, Element, ScopeId, Store, StoreKey, Value, ValueId,
};
use crate::syntax::TextRange;

/// The numberings in a file.
pub(super) fn findings(model: &Model<'_>, file: FileId) -> Vec<Finding> {
    let module = model.facts.module(file);
    let mut found = Vec::new();
    for evaluation in &module.values {
        let Value::Display(Container::Dict, elements) = &evaluation.value else { continue };
        for element in elements {
            let Element::Key(key, value) = element else { continue };
            let Some(numbered) = numbered(model, file, *key, *value) else { continue };
            let elements = &numbered.arguments[0];
            found.extend(of_elements(model, file, (elements.value, elements.range), evaluation.scope));
        }
    }
    for store in &module.stores {
        if let Some(elements) = counted(model, file, store) {
            found.extend(of_elements(model, file, elements, store.scope));
        }
    }
    found
}

/// The finding for elements that code numbers one after the other.
fn of_elements(
    model: &Model<'_>,
    file: FileId,
    (elements, range): (ValueId, TextRange),
    scope: ScopeId,
) -> Option<Finding> {
    let module = model.facts.module(file);
    // Code of a helper that only other programs run is nobody's concern.
    let code = Caller { file, scope: module.code_scope(scope) };
    if !model.programs.iter().any(|program| program.reached.contains(&code)) {
        return None;
    }
    let disorder = disorder::of(model, (file, elements)).filter(|own| own.why != Why::Shuffled)?;
    Some(finding(model, file, range, scope, &disorder, Use::Numbered))
}

/// The call of `enumerate` that gives both of two values, of which one is the number.
fn numbered<'c>(model: &Model<'c>, file: FileId, key: ValueId, value: ValueId) -> Option<&'c Call> {
    let facts = model.facts;
    let module = facts.module(file);
    let source = |value: ValueId| match module.value(value).value {
        Value::Unpack { base, index: Some(index), .. } => Some((base, index)),
        _ => None,
    };
    let ((base, first), (other, second)) = (source(key)?, source(value)?);
    let Value::Iteration(iterated) = module.value(base).value else { return None };
    let Value::Call(call) = module.value(iterated).value else { return None };
    let is_enumerate = is_called(facts, file, call, "builtins.enumerate");
    let call = module.call(call);
    (is_enumerate && base == other && first != second && !call.arguments.is_empty()).then_some(call)
}

/// What a loop goes over that keeps a number for each element: `table[word] = number`, where the number is counted up or that
/// of the elements so far.
fn counted(model: &Model<'_>, file: FileId, store: &Store) -> Option<(ValueId, TextRange)> {
    let facts = model.facts;
    let module = facts.module(file);
    let StoreKey::Item(key) = store.key else { return None };
    if let Value::Unpack { .. } = module.value(key).value {
        let call = numbered(model, file, key, store.value)?;
        return Some((call.arguments[0].value, call.arguments[0].range));
    }
    let Value::Iteration(elements) = module.value(key).value else { return None };
    if !is_counter(model, file, store.value) && !is_count(model, file, store) {
        return None;
    }
    let blocks = &module.scope(module.code_scope(store.scope)).flow.blocks;
    let mut turns = blocks.iter().filter_map(|block| block.branch).filter(|own| own.kind == BranchKind::For);
    let turns = turns.find(|own| own.condition == Some(elements))?;
    Some((elements, turns.range))
}

/// Whether a value is counted up: it is computed from itself, by addition.
fn is_counter(model: &Model<'_>, file: FileId, value: ValueId) -> bool {
    let facts = model.facts;
    let module = facts.module(file);
    let Value::Phi(parts) = &module.value(value).value else { return false };
    parts.iter().any(|&part| match module.value(part).value {
        Value::Operator { left, right, .. } => left == value || right == value,
        _ => false,
    })
}

/// Whether what is stored is how much the container has: `table[word] = len(table)`.
fn is_count(model: &Model<'_>, file: FileId, store: &Store) -> bool {
    let facts = model.facts;
    let module = facts.module(file);
    let is_length = |id: CallId| {
        let [counted] = &module.call(id).arguments[..] else { return false };
        let objects = facts.solution.values(file, counted.value);
        is_called(facts, file, id, "builtins.len")
            && facts.solution.values(file, store.base).iter().any(|own| objects.contains(own))
    };
    let parts = facts.influence().operands((file, store.value)).filter(|&(of, _)| of == file);
    parts.map(|(_, part)| part).chain([store.value]).any(|part| match module.value(part).value {
        Value::Call(id) => is_length(id),
        _ => false,
    })
}
