//! The names that a stretch of code binds, and who reads them: what rank 0 alone executes leaves them unbound elsewhere.

use rustc_hash::FxHashSet;

use crate::semantic::{Call, Definition, Module, StatementId, Use, Value, ValueId};
use crate::syntax::TextRange;

/// The names that a stretch binds and that are read outside of it.
pub(super) fn read_elsewhere(module: &Module, range: TextRange) -> Vec<String> {
    let read = within(module, range)
        .filter(|own| module.uses.iter().any(|reading| reads(module, range, own, reading)));
    let mut names: Vec<String> = Vec::new();
    for own in read {
        let name = module.variable_name(own.variable).to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The definitions of a stretch.
pub(super) fn within(module: &Module, range: TextRange) -> impl Iterator<Item = &Definition> {
    module.definitions.iter().filter(move |own| range.contains_range(own.range))
}

/// Whether a use outside of a stretch may read what is bound within.
fn reads(module: &Module, range: TextRange, own: &Definition, reading: &Use) -> bool {
    reading.variable == Some(own.variable)
        && !range.contains_range(reading.range)
        && (reading.scope != own.scope || may_be(module, reading.value, own.value))
}

/// Whether one value may be another.
pub(super) fn may_be(module: &Module, value: ValueId, other: ValueId) -> bool {
    let mut work = vec![value];
    let mut seen = FxHashSet::default();
    while let Some(value) = work.pop() {
        if value == other {
            return true;
        }
        if let Value::Phi(parts) = &module.value(value).value
            && seen.insert(value)
        {
            work.extend(parts);
        }
    }
    false
}

/// The last of the statements beside that of a call in which the variable is read that its result is assigned to; none
/// if other code may read it.
pub(super) fn end_of_use(module: &Module, call: &Call) -> Option<StatementId> {
    let own = module.definitions.iter().find(|own| own.value == call.result)?;
    let uses = module.uses.iter().filter(|reading| reading.variable == Some(own.variable));
    let mut last = call.range;
    for reading in uses {
        if reading.scope != own.scope {
            return None;
        }
        if may_be(module, reading.value, own.value) && reading.range.start() > last.start() {
            last = reading.range;
        }
    }
    let around = module.statement(call.statement).parent;
    let mut beside = (0..module.statements.len()).map(StatementId::new);
    beside.find(|&id| {
        let statement = module.statement(id);
        statement.parent == around && statement.range.contains_range(last)
    })
}
