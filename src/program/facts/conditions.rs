//! On what it depends whether code runs.

use rustc_hash::FxHashSet;

use super::super::solver::Caller;
use super::Facts;
use crate::project::FileId;
use crate::semantic::{
    BlockId, Branch, BranchKind, ControlDependence, Definition, Module, StatementId, StatementKind, Value,
    ValueId, Variable,
};

/// A branch that decides whether something runs, with the scope whose code branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Who branches.
    pub caller: Caller,
    /// On what.
    pub branch: Branch,
}

impl Facts<'_> {
    /// The branches that decide whether a block of a scope runs, nearest first; the guard of a main module is
    /// none.
    #[must_use]
    pub fn conditions(&self, caller: Caller, block: BlockId) -> Vec<Condition> {
        let module = self.module(caller.file);
        let flow = &module.scope(caller.scope).flow;
        if !self.concerned.contains(&caller.file) {
            return Vec::new();
        }
        let branches =
            self.control(caller).of(block).into_iter().filter_map(|block| flow.blocks[block.index()].branch);
        branches
            .filter(|branch| !self.is_main_guard(caller.file, branch))
            .map(|branch| Condition { caller, branch })
            .collect()
    }

    /// The branches that choose which of several values one is: of a conditional expression, and of the statements that bind the
    /// variable which is read.
    #[must_use]
    pub fn choosing(&self, file: FileId, value: ValueId) -> Vec<Condition> {
        let module = self.module(file);
        let chosen = module.value(value);
        let Value::Phi(parts) = &chosen.value else { return Vec::new() };
        let caller = Caller { file, scope: module.code_scope(chosen.scope) };
        let blocks = &module.scope(caller.scope).flow.blocks;
        let written = blocks.iter().filter_map(|block| block.branch).filter(|own| {
            own.kind == BranchKind::If && chosen.range.contains_range(own.range) && chosen.range != own.range
        });
        let mut found: Vec<Condition> = written.map(|branch| Condition { caller, branch }).collect();
        let reads = module.uses.iter().filter(|own| own.value == value);
        let variables: FxHashSet<Variable> = reads.filter_map(|own| own.variable).collect();
        // A constant stands for all that are written alike.
        let is_bound = |own: &&Definition| {
            own.scope == caller.scope
                && parts.contains(&own.value)
                && (variables.contains(&own.variable) || !module.value(own.value).is_shared())
        };
        for definition in module.definitions.iter().filter(is_bound) {
            let conditions = self.conditions(caller, definition.block).into_iter();
            found.extend(conditions.filter(|own| own.branch.kind == BranchKind::If));
        }
        found
    }

    /// Who decides whether the blocks of a scope run.
    #[must_use]
    pub fn control(&self, caller: Caller) -> &ControlDependence {
        let number = self.calls.scopes.of(caller.file, caller.scope.index());
        let flow = &self.module(caller.file).scope(caller.scope).flow;
        self.control[number].get_or_init(|| flow.control_dependence())
    }

    /// Whether a branch asks `__name__ == "__main__"`.
    #[must_use]
    pub fn is_main_guard(&self, file: FileId, branch: &Branch) -> bool {
        self.module(file).is_main_guard(branch)
    }

    /// Whether a block of a module runs only if the module is run itself.
    #[must_use]
    pub fn is_block_of_main(&self, file: FileId, block: BlockId) -> bool {
        let flow = &self.module(file).scope(Module::TOP).flow;
        let branches = self.control(Caller { file, scope: Module::TOP }).of(block).into_iter();
        branches
            .filter_map(|branch| flow.blocks[branch.index()].branch)
            .any(|branch| self.is_main_guard(file, &branch))
    }

    /// Whether a statement stands under `if __name__ == "__main__"`.
    #[must_use]
    pub fn in_main_guard(&self, file: FileId, statement: StatementId) -> bool {
        let module = self.module(file);
        let mut next = Some(statement);
        while let Some(id) = next {
            let statement = module.statement(id);
            if statement.kind == StatementKind::If {
                let branch = module.scope(statement.scope).flow.blocks.iter().find_map(|block| {
                    block.branch.filter(|branch| branch.statement == id && branch.kind == BranchKind::If)
                });
                if branch.is_some_and(|branch| self.is_main_guard(file, &branch)) {
                    return true;
                }
            }
            next = statement.parent;
        }
        false
    }
}
