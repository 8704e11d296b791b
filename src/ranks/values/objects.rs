//! Of objects that ranks make by calls of one class, what is made of the same arguments is the same: `trainer.step` of
//! `Trainer(writer, step=0)` on rank 0 and `Trainer(None, step=0)` on the others.

use rustc_hash::FxHashSet;

use super::super::blocks::Blocks;
use super::parts::Part;
use super::sameness::is_same_number;
use crate::program::{Facts, FunctionRef, Object, Place};
use crate::project::FileId;
use crate::semantic::{CallId, StoreKey, Value, ValueId};

/// How deep arguments are compared.
const DEPTH: u32 = 8;

/// How much differs of an object that is made by one of these calls, and by another one on another rank; `None` if they are
/// no calls of one class of the project.
pub(super) fn of_made(facts: &Facts<'_>, blocks: &Blocks, file: FileId, made: &[ValueId]) -> Option<Part> {
    let calls = made.iter().map(|&value| call_of(facts, file, value)).collect::<Option<Vec<_>>>()?;
    let (&(first, initialiser), others) = calls.split_first()?;
    if others.is_empty() || others.iter().any(|&(_, own)| own != initialiser) {
        return None;
    }
    let target = facts.module(initialiser.file).function(initialiser.function);
    let mut differing = Vec::new();
    for (position, parameter) in target.parameters.iter().enumerate().skip(1) {
        let given = |call: CallId| facts.passed_to_initialiser(file, call, initialiser, position);
        let is_same = |call: CallId| match (given(first), given(call)) {
            (Some(one), Some(other)) => are_same(facts, one, other),
            _ => false,
        };
        if !others.iter().all(|&(call, _)| is_same(call)) {
            differing.push((initialiser.file, parameter.value));
        }
    }
    Some(Part::perhaps(attributes(facts, blocks, &differing)))
}

/// The call that makes an object of a class of the project and of nothing else, with the class's `__init__`.
fn call_of(facts: &Facts<'_>, file: FileId, value: ValueId) -> Option<(CallId, FunctionRef)> {
    let Value::Call(call) = facts.module(file).value(value).value else { return None };
    let mut objects = facts.objects(file, facts.module(file).call(call).callee);
    let (Some((_, Object::Class(class))), None) = (objects.next(), objects.next()) else { return None };
    // What `__new__` returns may be anything.
    let is_plain = facts.method(class, "__new__").is_none();
    Some((call, facts.method(class, "__init__").filter(|_| is_plain)?))
}

fn are_same(facts: &Facts<'_>, one: Place, other: Place) -> bool {
    one == other || one.0 == other.0 && is_same_number(facts, one.0, one.1, other.1, DEPTH)
}

/// The names of the attributes that hold what is made of values, or are stored where these decide.
fn attributes<'a>(facts: &Facts<'a>, blocks: &Blocks, values: &[Place]) -> FxHashSet<&'a str> {
    let made = facts.influence().forwards(values, |_| false);
    let mut found = FxHashSet::default();
    for &place @ (file, value) in &made {
        let module = facts.module(file);
        if let Value::Attribute { base, name, .. } = module.value(value).value
            && !made.contains(&(file, base))
        {
            found.insert(module.names.text(name));
        }
        for &(caller, branch) in blocks.decided_by(place) {
            let module = facts.module(caller.file);
            for block in blocks.region(caller, branch) {
                let stores =
                    blocks.of(caller, block).stores.iter().map(|&index| &module.stores[index as usize]);
                found.extend(stores.filter_map(|store| match store.key {
                    StoreKey::Attribute(name) => Some(module.names.text(name)),
                    _ => None,
                }));
            }
        }
    }
    found
}
