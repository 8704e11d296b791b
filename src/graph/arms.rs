//! The arms of a staged `if`: what each assigns and how it ends.

use super::Graph;
use crate::program::Caller;
use crate::semantic::{BranchKind, Module, Reaching, StatementId, StatementKind};
use crate::syntax::{TextRange, TextSize};

/// One test with its two ways: `AutoGraph` sees `elif` as an `if` in the `else` of the test before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// The statement.
    pub statement: StatementId,
    /// The line that errors name: the `if` or the `elif`.
    pub header: TextRange,
    /// What runs if the test holds.
    pub then: TextRange,
    /// What runs if it does not: further tests and the `else`; empty without one.
    pub otherwise: Option<TextRange>,
    /// Behind all arms.
    pub end: TextSize,
}

impl Graph<'_> {
    /// The tests that a tensor decides, of the `if` statements of a scope, innermost first.
    pub(super) fn levels(&self, caller: Caller) -> Vec<Level> {
        let module = self.module(caller.file);
        let mut found = Vec::new();
        for staged in self.staging.statements() {
            if staged.caller != caller || staged.branch.kind != BranchKind::If {
                continue;
            }
            let id = staged.branch.statement;
            let statement = module.statement(id);
            let clauses = module.clauses_of(id);
            let at = clauses.iter().position(|clause| clause.test == Some(staged.branch.range));
            let next = at.map_or(0, |at| at + 1);
            let (header, start) = match at {
                Some(at) => (
                    TextRange::new(clauses[at].range.start(), staged.branch.range.end()),
                    staged.branch.range.end(),
                ),
                None => (statement.header, statement.header.end()),
            };
            let end = clauses.get(next).map_or(statement.range.end(), |clause| clause.range.start());
            found.push(Level {
                statement: id,
                header,
                then: TextRange::new(start, end.max(start)),
                otherwise: clauses
                    .get(next)
                    .map(|clause| TextRange::new(clause.range.start(), statement.range.end())),
                end: statement.range.end(),
            });
        }
        found.sort_by_key(|level| std::cmp::Reverse(level.header.start()));
        found
    }
}

/// Whether an arm leaves for good: a `return`, `raise`, `break` or `continue` ends it.
pub(super) fn leaves(module: &Module, statement: StatementId, arm: TextRange) -> bool {
    statements_in(module, statement, arm).any(|kind| {
        matches!(
            kind,
            StatementKind::Return | StatementKind::Raise | StatementKind::Break | StatementKind::Continue
        )
    })
}

/// The statements that stand directly in an arm.
pub(super) fn statements_in(
    module: &Module,
    statement: StatementId,
    arm: TextRange,
) -> impl Iterator<Item = StatementKind> + '_ {
    let first = statement.index() + 1;
    module.statements[first..]
        .iter()
        .take_while(move |own| own.range.start() < arm.end())
        .filter(move |own| own.parent == Some(statement) && arm.contains_range(own.range))
        .map(|own| own.kind)
}

/// A variable that an arm assigns and that is read behind the `if`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assigned {
    pub variable: crate::semantic::Variable,
    /// An assignment, an index into [`Module::definitions`].
    pub definition: usize,
    /// Where it is read behind the `if`.
    pub read: TextRange,
}

/// The variables that the arms of a test assign and that are live behind the `if`, each once.
pub(super) fn live_behind(
    module: &Module,
    reaching: &Reaching<'_>,
    caller: Caller,
    level: &Level,
) -> Vec<Assigned> {
    let whole = TextRange::new(level.then.start(), level.end);
    let mut found: Vec<Assigned> = Vec::new();
    for (index, definition) in module.definitions.iter().enumerate() {
        if definition.scope != caller.scope
            || definition.variable.scope != caller.scope
            || !whole.contains_range(definition.range)
            || found.iter().any(|own| own.variable == definition.variable)
        {
            continue;
        }
        let uses = reaching.uses(index);
        let read =
            uses.iter().map(|&reading| module.uses[reading].range).find(|range| range.start() >= level.end);
        if let Some(read) = read {
            found.push(Assigned { variable: definition.variable, definition: index, read });
        }
    }
    found
}
