//! What is done within a statement that rank 0 alone is to execute, and that all ranks have to do: `np.save(path, next(batches))`
//! takes a batch, `build().summary()` makes layers, which Keras numbers, and `plt.imshow(model(x))` makes the model's variables.

use super::super::job::Job;
use super::left_behind::changes_objects;
use crate::api::{Effect, Kind};
use crate::finding::Edit;
use crate::normalise;
use crate::program::Doing;
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{CallId, StatementId};
use crate::syntax::TextRange;

/// Why a statement can't be left to one rank.
pub(super) const NOT_APART: &str = "The statement also changes what all ranks have to change alike, and it can't be seen how to do that first: compute \
     it in a statement of its own, and write the result.";

/// The calls within a stretch, beside those that write, which all ranks have to make.
pub(super) fn done_by_all(
    job: &Job<'_>,
    file: FileId,
    within: TextRange,
    writing: &[CallId],
) -> Vec<TextRange> {
    let facts = job.facts;
    let module = facts.module(file);
    let inner = job.calls_in(file).filter(|&id| {
        within.contains_range(module.call(id).range) && !writing.contains(&id) && !is_print(job, file, id)
    });
    let by_all = |&id: &CallId| {
        facts.making(file, id).is_some()
            || facts.doings(file, id, within).iter().any(is_for_all)
            || changes_objects(job, file, id, within)
    };
    inner.filter(by_all).map(|id| module.call(id).range).collect()
}

/// Whether it puts the ranks out of step, if one of them does it alone.
fn is_for_all(doing: &Doing) -> bool {
    const TRAINED: [Kind; 5] = [Kind::Optimizer, Kind::Variable, Kind::Metric, Kind::Model, Kind::Layer];
    let has = |effect| doing.effects.contains(effect);
    let is_trained = doing.subject.is_some_and(|kind| TRAINED.contains(&kind));
    let is_run = matches!(doing.subject, Some(Kind::Session | Kind::MonitoredSession));
    [Effect::Trains, Effect::AppliesGradients, Effect::Minimizes, Effect::Collective].into_iter().any(has)
        || is_run && (has(Effect::TakesGradients) || !doing.perhaps.is_empty())
        || has(Effect::UpdatesState) && (is_trained || has(Effect::ConsumesIterator))
}

/// Whether a call is a `print`, whose arguments have a check of their own.
fn is_print(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let print = job.facts.library.lookup("builtins.print");
    job.facts.called_symbols(file, call).any(|own| Some(own) == print)
}

/// The edits that do it first, in front of the guard; none where the order would be another one.
pub(super) fn first(
    job: &Job<'_>,
    text: Text<'_>,
    statement: StatementId,
    expressions: &[TextRange],
) -> Option<Vec<Edit>> {
    let named = normalise::named(job.facts, text, statement, expressions, "value")?;
    // The guard indents the lines of one that has several.
    if named.iter().any(|(range, _)| text.slice(*range).contains(['\n', '\r'])) {
        return None;
    }
    let lines: Vec<String> =
        named.iter().map(|(range, name)| format!("{name} = {}", text.slice(*range))).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut edits = text.above(statement, &lines);
    edits.extend(named.iter().map(|(range, name)| text.replace(*range, name.as_str())));
    Some(edits)
}
