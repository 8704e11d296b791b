//! Names that are bound on all ways to where a function is made that uses them: whoever calls it finds them bound.

use rustc_hash::FxHashSet;

use crate::semantic::{
    BlockId, Definition, Flow, Module, ScopeKind, Statement, StatementKind, Use, Variable,
};

/// Whether all ways to the function within the variable's scope that a use stands in bind the variable.
pub(super) fn is_bound(
    module: &Module,
    reading: &Use,
    variable: Variable,
    definitions: &[&Definition],
) -> bool {
    let Some(made) = made(module, reading, variable) else { return false };
    let own = definitions.iter().filter(|own| own.scope == variable.scope && !is_tried(module, own));
    let is_before = |own: &&&Definition| own.block != made.block || own.range.end() <= made.range.start();
    let binding: FxHashSet<BlockId> = own.filter(is_before).map(|own| own.block).collect();
    let flow = &module.scope(variable.scope).flow;
    let mut seen = binding;
    let mut work: Vec<BlockId> = Some(Flow::ENTRY).into_iter().filter(|&entry| seen.insert(entry)).collect();
    while let Some(block) = work.pop() {
        if block == made.block {
            return false;
        }
        let next = flow.blocks[block.index()].successors.iter().copied();
        work.extend(next.filter(|&next| seen.insert(next)));
    }
    true
}

/// The statement of the variable's scope that makes the function which a use stands in.
fn made<'m>(module: &'m Module, reading: &Use, variable: Variable) -> Option<&'m Statement> {
    let mut inner = reading.scope;
    loop {
        let around = module.code_scope(module.scope(inner).parent?);
        if around == variable.scope {
            break;
        }
        inner = around;
    }
    let ScopeKind::Function(function) = module.scope(inner).kind else { return None };
    module.function(function).statement.map(|id| module.statement(id))
}

/// Whether an exception may keep a name from being bound, and the code behind it not from being run.
fn is_tried(module: &Module, definition: &Definition) -> bool {
    definition.statement.is_none_or(|statement| {
        module.ancestor_ids(statement).any(|own| module.statement(own).kind == StatementKind::Try)
    })
}
