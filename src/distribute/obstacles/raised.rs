//! Exceptions that a rank raises because of its own results and that the program catches: they end a loop, or leave out
//! steps, on that rank alone. One that nobody catches ends all ranks.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::step::Step;
use super::{is_conditional, obstacle};
use crate::api::Effect;
use crate::finding::Rule;
use crate::program::Caller;
use crate::project::FileId;
use crate::semantic::{CallId, Module, StatementId, StatementKind, Suite, Value};

/// The exceptions that part the ranks of a program.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let mut found = Vec::new();
    for file in job.program.files() {
        let module = job.facts.module(file);
        for (index, statement) in module.statements.iter().enumerate() {
            if statement.kind != StatementKind::Raise {
                continue;
            }
            let id = StatementId::new(index);
            let (scope, block) = module.code_block(id);
            let caller = Caller { file, scope };
            if !job.program.reached.contains(&caller) || !is_conditional(job, caller, block) {
                continue;
            }
            if let Some((in_file, catching)) = caught(job, file, id) {
                let message = "whether the program goes on training depends on this rank's own results";
                let finding = obstacle(rule, job.at_header(file, id), message)
                    .label(job.at_header(in_file, catching), "caught here")
                    .help("decide by something that is equal on all ranks, such as the number of the step");
                let reason =
                    "One rank would leave the loop by the exception, and the others wait for it for ever.";
                found.push(Step::blocked(finding, reason));
            }
        }
    }
    found
}

/// The statement that catches what another one raises, if that changes which steps are made.
fn caught(job: &Job<'_>, file: FileId, raise: StatementId) -> Option<(FileId, StatementId)> {
    let facts = job.facts;
    let mut seen: FxHashSet<Caller> = FxHashSet::default();
    let mut work = vec![(file, raise)];
    while let Some((file, statement)) = work.pop() {
        let module = facts.module(file);
        let caller = Caller { file, scope: module.code_scope(module.statement(statement).scope) };
        if let Some(catching) = catching(job, file, statement) {
            // Within the same code the raising is a way out of the loop like others.
            if statement != raise && parts(job, caller, catching) {
                return Some((file, catching));
            }
            continue;
        }
        if seen.insert(caller)
            && let Some(function) = facts.function_of(caller)
        {
            let edges = facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge));
            let calls = edges.filter_map(|edge| {
                let call = facts.module(edge.caller.file).call(edge.call?);
                Some((edge.caller.file, call.statement))
            });
            work.extend(calls);
        }
    }
    None
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
pub(super) fn suppressing<'j>(
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
pub(super) fn handled(module: &Module, catching: StatementId) -> impl Iterator<Item = StatementId> + '_ {
    let all = (0..module.statements.len()).map(StatementId::new);
    all.filter(move |&id| {
        let own = module.statement(id);
        own.parent == Some(catching) && own.suite == Suite::Handler
    })
}

/// Whether steps of training stand in a statement that catches, so that they end with it, or a handler goes elsewhere than on
/// behind it.
fn parts(job: &Job<'_>, caller: Caller, catching: StatementId) -> bool {
    let module = job.facts.module(caller.file);
    let within = module.statement(catching).range;
    let goes_elsewhere = |id: StatementId| {
        let range = module.statement(id).range;
        module.statements.iter().any(|own| {
            range.contains_range(own.range)
                && matches!(own.kind, StatementKind::Break | StatementKind::Continue | StatementKind::Return)
        })
    };
    job.calls_in(caller.file)
        .any(|id| within.contains_range(module.call(id).range) && job.comes_to_step(caller.file, id))
        || handled(module, catching).any(goes_elsewhere)
}
