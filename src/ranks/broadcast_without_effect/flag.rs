//! A broadcast under a flag of Python's in traced code.
//!
//! TensorFlow traces a function that makes variables twice. The flag falls in the first trace, and the graph of the
//! second one, which runs, has no broadcast. Where all variables are there before, the only trace has it, and every
//! step sends them again.

use rustc_hash::FxHashSet;

use super::{Broadcast, Reason};
use crate::checks::Context;
use crate::finding::Location;
use crate::program::{Caller, Condition, Facts, Literal, Object};
use crate::project::FileId;
use crate::semantic::{BranchKind, DefinitionKind, Module, Operator, StoreKey, Value, ValueId, Variable};
use crate::syntax::TextRange;

pub(super) fn reasons<'b, 'c>(
    context: Context<'c>,
    broadcasts: &'b [Broadcast<'c>],
) -> Vec<(&'b Broadcast<'c>, Reason)> {
    let facts = context.facts;
    let traced = facts.traced();
    let mut found: Vec<(&Broadcast<'_>, Reason)> = Vec::new();
    for broadcast in broadcasts {
        let caller = Caller { file: broadcast.file, scope: broadcast.call.scope };
        if !traced.contains(&caller) {
            continue;
        }
        let conditions = facts.conditions(caller, broadcast.call.block);
        let flagged = conditions.iter().find_map(|condition| flipped(facts, condition, &traced));
        let Some((test, flip)) = flagged else { continue };
        let label = (broadcast.location(), "in one trace only");
        let same = |(other, reason): &&mut (&Broadcast<'_>, Reason)| {
            other.file == broadcast.file && reason.range == test
        };
        if let Some((_, reason)) = found.iter_mut().find(same) {
            reason.labels.push(label);
            continue;
        }
        let reason = Reason {
            range: test,
            message: "the flag of this broadcast is tested when the graph is made, and not when it runs",
            here: "tested while tracing",
            help: "broadcast where the traced function is called, behind the first step",
            labels: vec![(flip, "changed while tracing"), label],
            fix: None,
        };
        found.push((broadcast, reason));
    }
    found
}

/// Where a condition tests a flag that traced code changes: the test and the change.
fn flipped(
    facts: &Facts<'_>,
    condition: &Condition,
    traced: &FxHashSet<Caller>,
) -> Option<(TextRange, Location)> {
    if condition.branch.kind != BranchKind::If {
        return None;
    }
    let file = condition.caller.file;
    let flags = operands(facts.module(file), condition.branch.condition?);
    let flip = flags.into_iter().find_map(|flag| change(facts, file, flag, traced))?;
    Some((condition.branch.range, flip))
}

/// What a test reads, through `not` and comparisons.
fn operands(module: &Module, test: ValueId) -> Vec<ValueId> {
    match module.value(test).value {
        Value::Operator { operator: Operator::Not, left, .. } => operands(module, left),
        Value::Operator { operator: Operator::Compare(_), left, right } => {
            [operands(module, left), operands(module, right)].concat()
        }
        _ => vec![test],
    }
}

/// Where traced code gives a flag another value, if it is a plain value of Python's that outlives the call.
fn change(facts: &Facts<'_>, file: FileId, flag: ValueId, traced: &FxHashSet<Caller>) -> Option<Location> {
    let module = facts.module(file);
    // Of what callers outside of the project may have stored nothing is known.
    let mut stored = facts.objects(file, flag).filter(|(_, object)| *object != Object::Unknown).peekable();
    let is_plain = stored.peek().is_some()
        && stored.all(|(_, object)| {
            matches!(object, Object::Literal(Literal::Bool(_) | Literal::Int(_) | Literal::None))
        });
    if !is_plain {
        return None;
    }
    match module.value(flag).value {
        Value::Cell(variable) => rebinding(facts, file, variable, traced),
        Value::Attribute { base, name, .. } => {
            let objects = facts.solution.values(file, base);
            let store = module.stores.iter().find(|store| {
                store.key == StoreKey::Attribute(name)
                    && traced.contains(&Caller { file, scope: store.scope })
                    && facts.solution.values(file, store.base).iter().any(|object| objects.contains(object))
            })?;
            Some(facts.location(file, store.range))
        }
        _ => None,
    }
}

/// Where traced code binds a variable of a scope around it.
fn rebinding(
    facts: &Facts<'_>,
    file: FileId,
    variable: Variable,
    traced: &FxHashSet<Caller>,
) -> Option<Location> {
    let definition = facts.module(file).definitions.iter().find(|definition| {
        definition.variable == variable
            && definition.scope != variable.scope
            && definition.kind != DefinitionKind::Import
            && traced.contains(&Caller { file, scope: definition.scope })
    })?;
    Some(facts.location(file, definition.range))
}
