//! Errors of a step that the program survives and goes on training: the rank that one happens on is a step behind the
//! others, or makes other ones.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use super::raised::{catching, handled, suppressing};
use crate::api::Effect;
use crate::finding::Rule;
use crate::program::{CallEdge, Caller, Spot};
use crate::project::FileId;
use crate::semantic::{BuiltinType, StatementId, StatementKind, Value, ValueId};
use crate::syntax::TextRange;

/// The handlers of errors behind which training goes on.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let is_run = |edge: &CallEdge| facts.is_run(job.program, edge);
    let trained = OnceCell::new();
    let goes_on = |handler: &Handler| {
        let trained: &Vec<Spot> = trained.get_or_init(|| {
            let mut calls: Vec<_> = job.leading_to_steps().calls.iter().copied().collect();
            calls.sort_unstable();
            facts.leading_to(calls.into_iter().map(|call| facts.spot(call)).collect(), is_run)
        });
        let behind = facts.leading_to(vec![handler.goes_on], is_run);
        behind.iter().any(|&here| trained.iter().any(|&then| facts.leads(here, then)))
    };
    let survived = around_steps(job)
        .into_iter()
        .filter(|handler| !is_of_all_ranks(job, handler) && !gives_up(job, handler) && goes_on(handler));
    let step = |handler: Handler| {
        let message = "training goes on behind an error of a step, which may happen on one rank alone";
        let finding = obstacle(rule, facts.location(handler.file, handler.keyword), message)
            .label(job.at_header(handler.file, handler.catching), "around steps of training")
            .help("let the error end the program: Horovod ends it on all ranks then");
        let reason = "The rank that fails would leave steps out, or make others, and the ranks wait for each other for ever.";
        Step::blocked(finding, reason)
    };
    survived.map(step).collect()
}

/// A handler of a `try` statement, or a manager that catches.
struct Handler {
    file: FileId,
    catching: StatementId,
    /// The classes that it catches; none if it catches all.
    classes: Vec<ValueId>,
    /// The word that it begins with, or the call of the manager.
    keyword: TextRange,
    /// The statements of its suite.
    suite: Vec<StatementId>,
    /// Where the program goes on when it has caught something.
    goes_on: Spot,
}

/// The handlers of what steps of training may raise.
fn around_steps(job: &Job<'_>) -> Vec<Handler> {
    let facts = job.facts;
    let mut found = Vec::new();
    for file in job.program.files() {
        let module = facts.module(file);
        let mut seen: FxHashSet<StatementId> = FxHashSet::default();
        for id in job.calls_in(file) {
            if !job.comes_to_step(file, id) {
                continue;
            }
            let mut around = catching(job, file, module.call(id).statement);
            while let Some(own) = around.filter(|&own| seen.insert(own)) {
                found.extend(handlers(job, file, own));
                found.extend(managers(job, file, own));
                around = catching(job, file, own);
            }
        }
    }
    found
}

fn handlers(job: &Job<'_>, file: FileId, catching: StatementId) -> Vec<Handler> {
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

/// Whether it catches only what comes to all ranks alike.
fn is_of_all_ranks(job: &Job<'_>, handler: &Handler) -> bool {
    let facts = job.facts;
    let caught: Vec<_> =
        handler.classes.iter().flat_map(|&classes| facts.elements(handler.file, classes)).collect();
    let is_alike = |object| facts.symbol(object).is_some_and(|own| facts.library.is_raised_on_all_ranks(own));
    !caught.is_empty() && caught.iter().all(|&id| is_alike(facts.solution.object(id)))
}

/// Whether its suite raises, or ends the process.
fn gives_up(job: &Job<'_>, handler: &Handler) -> bool {
    let module = job.facts.module(handler.file);
    handler.suite.iter().any(|&id| module.statement(id).kind == StatementKind::Raise)
        || job.calls_in(handler.file).any(|call| {
            handler.suite.contains(&module.call(call).statement)
                && job.facts.called_symbols(handler.file, call).any(|own| own.has(Effect::Exits))
        })
}
