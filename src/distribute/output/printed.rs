//! Lines that are printed within an expression: `lambda epoch, logs: print(epoch)`. There is no statement to put under
//! a condition.

use super::super::job::Job;
use super::super::ranked::is_for_one_rank;
use super::super::started::runs_started;
use super::super::step::Step;
use super::inputs::own_effects;
use super::writes::is_of_own_file;
use crate::api::{Effect, EffectSet, Returns};
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::{CallId, CallKind, Role, ScopeKind, StatementKind};

/// The lines that every rank prints so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let printing = job.calls().filter(|&(file, call)| {
        prints(job, file, call) && runs_started(job, file, call) && !is_for_one_rank(job, file, call)
    });
    printing.filter_map(|(file, call)| guarded(job, rule, file, call)).collect()
}

/// Whether a call only prints, gives nothing, and is no statement of its own.
fn prints(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let module = job.facts.module(file);
    let call = module.call(id);
    let statement = module.statement(call.statement);
    let is_statement = call.role == Role::Statement && statement.range == call.range;
    if call.kind != CallKind::Expression || is_statement {
        return false;
    }
    let effects = own_effects(job, file, id);
    effects.contains(Effect::Prints)
        && !effects.contains(Effect::WritesFile)
        && !effects.intersects(EffectSet::of_every_rank())
        && job.facts.called_symbols(file, id).all(|symbol| *symbol.returns() == Returns::Nothing)
        && !is_of_own_file(job, file, id)
}

/// `print(line) if hvd.rank() == 0 else None`
fn guarded(job: &Job<'_>, rule: &'static Rule, file: FileId, id: CallId) -> Option<Step> {
    let module = job.facts.module(file);
    let call = module.call(id);
    let text = job.text(file)?;
    let code = job.code(file, call.scope);
    let other = format!(" if {} else None", code.is_first());
    let is_lambda = matches!(module.scope(call.scope).kind, ScopeKind::Lambda(_));
    let is_whole = call.role == Role::Returned
        && (is_lambda || module.statement(call.statement).kind == StatementKind::Return);
    let edits = if is_whole {
        vec![text.insert(call.range.end(), other)]
    } else {
        text.wrap(call.range, "(", &format!("{other})"))
    };
    let finding = Step::missing(rule, job.at_call(file, id), "every rank prints")
        .confidence(job.taste())
        .here("printed by each rank")
        .help("let rank 0 do it: `... if hvd.rank() == 0 else None`")
        .in_scope(job.scope_of(file, id));
    Some(code.step(Step::change(finding, "let rank 0 do it", edits, vec![code.import])))
}
