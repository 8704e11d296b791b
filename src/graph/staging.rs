//! Which branches and loops become operations of the graph: those that a tensor or a dataset decides.

use rustc_hash::{FxHashMap, FxHashSet};

use super::natures::Natures;
use crate::api::Effect;
use crate::program::{Caller, Facts, Place, Tracing};
use crate::project::FileId;
use crate::semantic::{Branch, BranchKind, Flow, Module, StatementId, StatementKind, Suite, Value, ValueId};

/// A branch that a tensor decides.
#[derive(Clone, Copy, Debug)]
pub struct Staged {
    /// Whose code branches.
    pub caller: Caller,
    /// The branch.
    pub branch: Branch,
    /// Whether a statement branches or an expression: `if`, or `a if b else c`, `and`, a comprehension.
    pub is_statement: bool,
}

/// All staged branches of traced code.
#[derive(Debug, Default)]
pub struct Staging {
    /// In the order of the traced scopes.
    pub branches: Vec<Staged>,
    /// The staged statements, with what they are.
    statements: FxHashMap<(FileId, StatementId), BranchKind>,
}

impl Staging {
    /// Finds the branches whose condition is a tensor and the loops over tensors and datasets.
    #[must_use]
    pub fn new(facts: &Facts<'_>, tracing: &Tracing, natures: &Natures) -> Self {
        let mut staging = Self::default();
        for &caller in tracing.scopes() {
            let module = facts.module(caller.file);
            for block in &module.scope(caller.scope).flow.blocks {
                let Some(branch) = block.branch else { continue };
                let Some(condition) = branch.condition else { continue };
                let statement = module.statement(branch.statement);
                let nature = natures.of(caller.file, condition);
                let decides = match branch.kind {
                    BranchKind::If
                    | BranchKind::While
                    | BranchKind::And
                    | BranchKind::Or
                    | BranchKind::Match
                    | BranchKind::Case => nature.is_tensor(),
                    BranchKind::For => {
                        nature.is_tensor()
                            || facts.is_dataset(caller.file, condition)
                            || is_range_of_tensor(facts, natures, caller.file, condition)
                    }
                    BranchKind::Try | BranchKind::Assert => false,
                };
                if !decides {
                    continue;
                }
                let is_statement = matches!(
                    (statement.kind, branch.kind),
                    (StatementKind::If, BranchKind::If)
                        | (StatementKind::While, BranchKind::While)
                        | (StatementKind::For, BranchKind::For)
                ) && is_header(&module.scope(caller.scope).flow, &branch);
                if is_statement {
                    staging.statements.insert((caller.file, branch.statement), branch.kind);
                }
                staging.branches.push(Staged { caller, branch, is_statement });
            }
        }
        staging
    }

    /// The staged statements: `if`, `while` and `for`.
    pub fn statements(&self) -> impl Iterator<Item = &Staged> {
        self.branches.iter().filter(|staged| staged.is_statement)
    }

    /// What a statement is staged as.
    #[must_use]
    pub fn kind(&self, file: FileId, statement: StatementId) -> Option<BranchKind> {
        self.statements.get(&(file, statement)).copied()
    }

    /// The staged statements around a statement within its scope, from the inside, itself excluded.
    pub fn around<'s>(
        &'s self,
        module: &'s Module,
        file: FileId,
        statement: StatementId,
    ) -> impl Iterator<Item = (StatementId, BranchKind)> + 's {
        let scope = module.statement(statement).scope;
        module
            .ancestor_ids(statement)
            .take_while(move |&around| module.statement(around).scope == scope)
            .filter_map(move |around| Some((around, self.kind(file, around)?)))
    }
}

/// Whether a branch is the statement's own and none of an expression in its header, which is a part of it.
fn is_header(flow: &Flow, branch: &Branch) -> bool {
    let around = |other: &Branch| {
        other.statement == branch.statement
            && other.range != branch.range
            && other.range.contains_range(branch.range)
    };
    !flow.blocks.iter().any(|block| block.branch.as_ref().is_some_and(around))
}

fn is_range_of_tensor(facts: &Facts<'_>, natures: &Natures, file: FileId, value: ValueId) -> bool {
    let Value::Call(call) = facts.module(file).value(value).value else { return false };
    let own = facts.module(file).call(call);
    let mut symbols = facts.called_builtins(file, call);
    symbols.any(|symbol| symbol.has(Effect::Converts) && !symbol.has(Effect::ReadsValue))
        && own.arguments.iter().any(|argument| natures.of(file, argument.value).is_tensor())
}

/// Values that staged statements put together from several ways: TensorFlow makes a tensor of each.
#[must_use]
pub fn merged(facts: &Facts<'_>, staging: &Staging) -> FxHashSet<Place> {
    let mut found = FxHashSet::default();
    for staged in staging.statements() {
        let file = staged.caller.file;
        let module = facts.module(file);
        let statement = module.statement(staged.branch.statement);
        let inside: FxHashSet<ValueId> = module
            .definitions
            .iter()
            .filter(|definition| {
                definition.scope == staged.caller.scope && statement.range.contains_range(definition.range)
            })
            .map(|definition| definition.value)
            .collect();
        let is_loop = staged.branch.kind != BranchKind::If;
        for reading in module.uses.iter().filter(|reading| reading.scope == staged.caller.scope) {
            let is_behind = reading.range.start() >= statement.range.end();
            let is_within = is_loop && statement.range.contains_range(reading.range);
            if let Value::Phi(values) = &module.value(reading.value).value
                && (is_behind || is_within)
                && values.iter().any(|value| inside.contains(value))
            {
                found.insert((file, reading.value));
            }
        }
    }
    found
}

/// Whether a statement stands in a suite that is an alternative of `around`: behind `else` or `elif`.
#[must_use]
pub fn suite_within(module: &Module, statement: StatementId, around: StatementId) -> Option<Suite> {
    let mut current = statement;
    loop {
        let own = module.statement(current);
        let parent = own.parent?;
        if parent == around {
            return Some(own.suite);
        }
        current = parent;
    }
}
