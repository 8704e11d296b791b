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
use crate::semantic::{
    BlockId, BranchKind, BuiltinType, DefinitionKind, Evaluation, Module, ScopeId, StoreKey, Value, ValueId,
    Variable,
};
use crate::syntax::TextRange;

pub(super) fn reasons<'b, 'c>(
    context: Context<'c>,
    broadcasts: &'b [Broadcast<'c>],
) -> Vec<(&'b Broadcast<'c>, Reason)> {
    let facts = context.facts;
    let traced = facts.traced();
    let mut found: Vec<(&Broadcast<'_>, Reason)> = Vec::new();
    for broadcast in broadcasts {
        let caller = broadcast.caller();
        if !traced.contains(&caller) {
            continue;
        }
        let Some((tester, test, flip)) = flagged(facts, caller, broadcast.call.block, &traced) else {
            continue;
        };
        let label = (broadcast.location(), "in one trace only");
        let same =
            |(_, reason): &&mut (&Broadcast<'_>, Reason)| reason.caller == tester && reason.range == test;
        if let Some((_, reason)) = found.iter_mut().find(same) {
            reason.labels.push(label);
            continue;
        }
        let reason = Reason {
            caller: tester,
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

/// How many calls away a flag is looked for.
const CALLS: usize = 4;

/// The test of a flag on the way to a block, in its own code or in traced code that calls it, and the change.
fn flagged(
    facts: &Facts<'_>,
    caller: Caller,
    block: BlockId,
    traced: &FxHashSet<Caller>,
) -> Option<(Caller, TextRange, Location)> {
    let mut work = vec![(caller, block)];
    for _ in 0..CALLS {
        let mut next = Vec::new();
        for (caller, block) in work {
            let conditions = facts.conditions(caller, block);
            let found = conditions.iter().find_map(|condition| flipped(facts, condition, traced));
            if let Some((test, flip)) = found {
                return Some((caller, test, flip));
            }
            let callers = facts.function_of(caller).map_or(&[][..], |function| facts.incoming(function));
            next.extend(callers.iter().filter(|edge| traced.contains(&edge.caller)).filter_map(|edge| {
                Some((edge.caller, facts.module(edge.caller.file).call(edge.call?).block))
            }));
        }
        work = next;
    }
    None
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
    let test = condition.branch.range;
    let flags = readings(facts.module(file), condition.caller.scope, test);
    let flip = flags.into_iter().find_map(|flag| change(facts, file, flag, traced))?;
    Some((test, flip))
}

/// The names, attributes and items that a test reads.
fn readings(module: &Module, scope: ScopeId, test: TextRange) -> Vec<ValueId> {
    let names = module.uses.iter().filter(|reading| test.contains_range(reading.range));
    let is_attribute = |own: &Evaluation| {
        own.scope == scope
            && matches!(own.value, Value::Attribute { .. } | Value::Item { .. })
            && test.contains_range(own.range)
    };
    let attributes = module.values.iter().enumerate().filter(|(_, own)| is_attribute(own));
    names.map(|reading| reading.value).chain(attributes.map(|(index, _)| ValueId::new(index))).collect()
}

/// Where traced code gives a flag another value, if it is a plain value of Python's that outlives the call.
fn change(facts: &Facts<'_>, file: FileId, flag: ValueId, traced: &FxHashSet<Caller>) -> Option<Location> {
    let module = facts.module(file);
    // Of what callers outside of the project may have stored nothing is known.
    let mut stored = facts.objects(file, flag).filter(|(_, object)| *object != Object::Unknown).peekable();
    let is_plain = stored.peek().is_some()
        && stored.all(|(_, object)| {
            matches!(
                object,
                Object::Literal(Literal::Bool(_) | Literal::Int(_) | Literal::None)
                    | Object::Type(BuiltinType::Bool | BuiltinType::Int)
            )
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
        // `done[0]`, of a list or a dictionary.
        Value::Item { base, .. } => {
            let objects = facts.solution.values(file, base);
            let store = module.stores.iter().find(|store| {
                matches!(store.key, StoreKey::Item(_))
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
