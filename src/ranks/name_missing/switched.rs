//! Ranks that switch off what uses a name, `if rank == 0: start = time() else: debug = False`, and a use under
//! `if debug`; or that switch it on, `if rank == 0: start, debug = time(), True`.

use super::super::guards::{Guard, Literal};
use super::super::model::Model;
use crate::program::Caller;
use crate::semantic::{BlockId, Constant, Definition, Method, Module, Operator, Value, ValueId};

/// How many conditions around a use are asked.
const DEPTH: usize = 8;

/// What the conditions around a block say of the ranks by the constants that some of them, and no others, put in the
/// place of a condition's value.
pub(super) fn guard(model: &Model<'_>, caller: Caller, mut block: BlockId) -> Guard {
    let module = model.facts.module(caller.file);
    let flow = &module.scope(caller.scope).flow;
    let mut found = Guard::default();
    for _ in 0..DEPTH {
        // Behind several ways no condition is certain.
        let [way] = model.control(caller).direct(block) else { break };
        block = way.branch;
        let Some(branch) = flow.blocks[block.index()].branch else { break };
        let Some(condition) = branch.condition.filter(|_| branch.kind.outcome(way.arm) == Some(true)) else {
            continue;
        };
        let condition = asked(module, condition);
        found.0.extend(switched_on(model, caller, condition));
        let Value::Phi(parts) = &module.value(condition).value else { continue };
        let off = parts.iter().filter(|&&part| is_false(&module.value(part).value));
        found.0.extend(off.filter_map(|&part| switched_off(model, caller, parts, part)));
    }
    found
}

/// The value whose truth is asked for: `debug` of `debug == True`.
fn asked(module: &Module, condition: ValueId) -> ValueId {
    match module.value(condition).value {
        Value::Operator { operator: Operator::Compare(Method::EQ), left, right }
            if matches!(module.value(right).value, Value::Constant(Constant::Bool(true))) =>
        {
            left
        }
        _ => condition,
    }
}

/// What holds of the ranks that bind a variable to something true, if all places that do so say it.
fn switched_on(model: &Model<'_>, caller: Caller, condition: ValueId) -> Vec<Literal> {
    let module = model.facts.module(caller.file);
    let reading = module.uses.iter().find(|own| own.value == condition && own.scope == caller.scope);
    let Some(variable) = reading.and_then(|own| own.variable) else { return Vec::new() };
    let bound = module.definitions.iter().filter(|own| own.variable == variable);
    let on: Vec<&Definition> = bound.filter(|own| !is_false(&module.value(own.value).value)).collect();
    // What another scope binds stands in blocks of its own.
    if on.iter().any(|own| own.scope != caller.scope) {
        return Vec::new();
    }
    let mut guards = on.iter().map(|own| model.own_guard(caller, own.block));
    let Some(Guard(mut said)) = guards.next() else { return Vec::new() };
    for guard in guards {
        said.retain(|literal| guard.implies(literal));
    }
    said
}

/// What holds of the ranks that don't put `off` in the place of a value that is one of these parts.
fn switched_off(model: &Model<'_>, caller: Caller, parts: &[ValueId], off: ValueId) -> Option<Literal> {
    let module = model.facts.module(caller.file);
    let of = |part: ValueId| -> Option<&Definition> {
        module.definitions.iter().find(|own| own.value == part && own.scope == caller.scope)
    };
    // All ranks of which this is said come there: nothing else decides.
    let block = of(off)?.block;
    if model.facts.conditions(caller, block).len() != 1 {
        return None;
    }
    let guard = model.own_guard(caller, block);
    let [only] = &guard.0[..] else { return None };
    let is_theirs =
        |part: ValueId| of(part).is_none_or(|own| model.own_guard(caller, own.block).implies(only));
    let mut others = parts.iter().filter(|&&part| !is_false(&module.value(part).value));
    (!others.any(|&part| is_theirs(part))).then(|| Literal { atom: only.atom.clone(), holds: !only.holds })
}

fn is_false(value: &Value) -> bool {
    matches!(value, Value::Constant(Constant::Bool(false) | Constant::None | Constant::Int(0)))
}
