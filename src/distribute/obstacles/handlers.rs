//! Who catches exceptions: the handlers of `try` statements, and managers such as `contextlib.suppress(ValueError)`.

use super::super::job::Job;
use crate::api::Effect;
use crate::program::{Caller, Place, Spot};
use crate::project::FileId;
use crate::semantic::{BuiltinType, CallId, Module, StatementId, StatementKind, Suite, Value, ValueId};
use crate::syntax::TextRange;

/// A handler of a `try` statement, or a manager that catches.
pub(super) struct Handler {
    pub(super) file: FileId,
    /// The statement that it belongs to.
    pub(super) catching: StatementId,
    /// The classes that it catches; none if it catches all.
    pub(super) classes: Vec<ValueId>,
    /// The word that it begins with, or the call of the manager.
    pub(super) keyword: TextRange,
    /// The statements of its suite.
    suite: Vec<StatementId>,
    /// Where the program goes on when it has caught something.
    pub(super) goes_on: Spot,
}

impl Handler {
    /// The handlers of a statement that catches.
    pub(super) fn of(job: &Job<'_>, file: FileId, catching: StatementId) -> Vec<Self> {
        let mut found = clauses(job, file, catching);
        found.extend(managers(job, file, catching));
        found
    }

    /// Whether it may catch an exception, of which nothing may be known.
    pub(super) fn may_catch(&self, job: &Job<'_>, raised: Option<Place>) -> bool {
        let mut classes = self.classes.iter().map(|&classes| (self.file, classes));
        self.classes.is_empty()
            || raised.is_none_or(|raised| classes.any(|classes| job.facts.may_catch(classes, raised)))
    }

    /// The statements of its suite that raise.
    pub(super) fn raising(&self, job: &Job<'_>) -> impl Iterator<Item = StatementId> {
        let module = job.facts.module(self.file);
        self.suite.iter().copied().filter(|&id| module.statement(id).kind == StatementKind::Raise)
    }

    /// Whether its suite raises, or ends the process.
    pub(super) fn gives_up(&self, job: &Job<'_>) -> bool {
        self.raising(job).next().is_some() || self.exits(job)
    }

    /// Whether its suite raises whatever it does else, so that nothing is caught in the end. A rank that exits leaves the others
    /// alone.
    pub(super) fn raises_again(&self, job: &Job<'_>) -> bool {
        self.raising(job).next().is_some() && !self.exits(job) && !self.leaves(job)
    }

    /// Whether its suite ends the process.
    fn exits(&self, job: &Job<'_>) -> bool {
        job.calls_in(self.file).any(|call| {
            self.suite.contains(&job.facts.module(self.file).call(call).statement)
                && job.facts.called_symbols(self.file, call).any(|own| own.has(Effect::Exits))
        })
    }

    /// Whether its suite goes elsewhere than on behind the statement.
    pub(super) fn leaves(&self, job: &Job<'_>) -> bool {
        let module = job.facts.module(self.file);
        self.suite.iter().map(|&id| module.statement(id).range).any(|range| {
            module.statements.iter().any(|own| {
                range.contains_range(own.range)
                    && matches!(
                        own.kind,
                        StatementKind::Break | StatementKind::Continue | StatementKind::Return
                    )
            })
        })
    }
}

/// The `except` clauses of a `try` statement.
fn clauses(job: &Job<'_>, file: FileId, catching: StatementId) -> Vec<Handler> {
    let module = job.facts.module(file);
    let around = module.statement(catching).range;
    let clauses = module.values.iter().filter_map(|own| match own.value {
        Value::Caught(classes) => Some((own.range, Some(classes))),
        Value::Instance(BuiltinType::Exception) => Some((own.range, None)),
        _ => None,
    });
    let handler = |(whole, classes): (TextRange, Option<ValueId>)| {
        let suite: Vec<StatementId> = handled(module, catching)
            .filter(|&id| whole.contains_range(module.statement(id).range))
            .collect();
        // `except`
        let keyword = TextRange::at(whole.start(), 6.into());
        let &first = suite.first()?;
        let (scope, block) = module.code_block(first);
        let start = TextRange::empty(module.statement(first).range.start());
        let goes_on = (Caller { file, scope }, block, start);
        Some(Handler { file, catching, classes: Vec::from_iter(classes), keyword, suite, goes_on })
    };
    clauses.filter(|(whole, _)| around.contains_range(*whole)).filter_map(handler).collect()
}

/// `with contextlib.suppress(ValueError):`, behind which the program goes on.
fn managers(job: &Job<'_>, file: FileId, catching: StatementId) -> Vec<Handler> {
    let module = job.facts.module(file);
    let (scope, block) = module.code_block(catching);
    let end = TextRange::empty(module.statement(catching).range.end());
    let goes_on = (Caller { file, scope }, block, end);
    let manager = |call| {
        let call = module.call(call);
        let classes = call.arguments.iter().map(|own| own.value).collect();
        Handler { file, catching, classes, keyword: call.range, suite: Vec::new(), goes_on }
    };
    suppressing(job, file, catching).map(manager).collect()
}

/// The nearest statement of the same code that may catch what another one within raises: a `try` statement with handlers, in
/// whose first suite it stands, or `with contextlib.suppress(ValueError):`.
pub(in crate::distribute) fn catching(
    job: &Job<'_>,
    file: FileId,
    statement: StatementId,
) -> Option<StatementId> {
    let module = job.facts.module(file);
    let mut child = module.statement(statement);
    while let Some(parent) = child.parent {
        let own = module.statement(parent);
        if matches!(own.kind, StatementKind::Function | StatementKind::Class) {
            return None;
        }
        let is_tried = own.kind == StatementKind::Try
            && child.suite == Suite::Body
            && handled(module, parent).next().is_some();
        if is_tried || suppressing(job, file, parent).next().is_some() {
            return Some(parent);
        }
        child = own;
    }
    None
}

/// The calls that make the managers of a `with` statement which catch what is raised in it.
fn suppressing<'j>(
    job: &'j Job<'_>,
    file: FileId,
    statement: StatementId,
) -> impl Iterator<Item = CallId> + 'j {
    let module = job.facts.module(file);
    module.managers_of(statement).filter_map(move |manager| match module.value(manager).value {
        Value::Call(call) => {
            let mut symbols = job.facts.called_symbols(file, call);
            symbols.any(|own| own.has(Effect::Catches)).then_some(call)
        }
        _ => None,
    })
}

/// The statements of the handlers of a `try` statement.
fn handled(module: &Module, catching: StatementId) -> impl Iterator<Item = StatementId> + '_ {
    let all = (0..module.statements.len()).map(StatementId::new);
    all.filter(move |&id| {
        let own = module.statement(id);
        own.parent == Some(catching) && own.suite == Suite::Handler
    })
}
