//! Gradients that the program averages itself between an optimizer's `compute_gradients` and its `apply_gradients`:
//! `pairs[i] = (hvd.allreduce(gradient), variable)`.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use crate::api::{Effect, Symbol};
use crate::program::{Caller, Literal, Object, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// Which of the gradients that a call takes are averaged by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Averaged {
    All,
    /// Those that a condition on them or on their variables chooses.
    Chosen,
    None,
}

/// Which of the gradients that a call takes are averaged before they are applied. All that is applied of them has to
/// rest on averages of them.
pub(super) fn averaged(job: &Job<'_>, (file, call): (FileId, CallId)) -> Averaged {
    let facts = job.facts;
    if !job.program.already_distributed {
        return Averaged::None;
    }
    let is = |(file, call): (FileId, CallId), is_wanted: &dyn Fn(&Symbol) -> bool| {
        facts.called_symbols(file, call).any(is_wanted)
    };
    let given = |(file, call): (FileId, CallId)| {
        facts.module(file).call(call).arguments.iter().map(move |own| (file, own.value))
    };
    let taken = (file, facts.module(file).call(call).result);
    let behind = facts.influence().forwards(&[taken], |_| false);
    let applies =
        |symbol: &Symbol| symbol.has(Effect::AppliesGradients) && !symbol.has(Effect::TakesGradients);
    let applied: Vec<(FileId, CallId)> = job
        .calls()
        .filter(|&own| is(own, &applies) && given(own).any(|place| behind.contains(&place)))
        .collect();
    let averages = |symbol: &Symbol| symbol.has(Effect::Averages) && symbol.has(Effect::Collective);
    let of_any = without_single(job, taken);
    let (chosen, all): (Vec<_>, Vec<_>) = facts
        .calls_with(Effect::Averages)
        .filter(|&own| is(own, &averages) && given(own).any(|place| of_any.contains(&place)))
        .partition(|&(file, call)| is_chosen(job, &behind, file, call));
    let is_averaged = |by: &[(FileId, CallId)]| {
        let results = by.iter().map(|&(file, call)| (file, facts.module(file).call(call).result));
        let rests = facts.influence().forwards(&results.collect::<Vec<Place>>(), |_| false);
        !applied.is_empty() && applied.iter().all(|&own| given(own).any(|place| rests.contains(&place)))
    };
    if is_averaged(&all) {
        Averaged::All
    } else if is_averaged(&[chosen, all].concat()) {
        Averaged::Chosen
    } else {
        Averaged::None
    }
}

/// What depends on gradients other than by one that is taken out of their list by its number: `pairs[0]`.
fn without_single(job: &Job<'_>, taken: Place) -> FxHashSet<Place> {
    let facts = job.facts;
    let is_join = |(file, value): Place| matches!(facts.module(file).value(value).value, Value::Phi(_));
    let lists = facts.influence().forwards(&[taken], |place| !is_join(place));
    let is_list = |place: Place| place == taken || is_join(place) && lists.contains(&place);
    let is_single = |(file, value): Place| match facts.module(file).value(value).value {
        Value::Item { base, key, .. } => {
            is_list((file, base))
                && facts.objects(file, key).any(|(_, own)| matches!(own, Object::Literal(Literal::Int(_))))
        }
        _ => false,
    };
    let singles: FxHashSet<Place> = lists.iter().copied().filter(|&place| is_single(place)).collect();
    let found = facts.influence().forwards(&[taken], |place| singles.contains(&place));
    found.into_iter().filter(|place| !singles.contains(place)).collect()
}

/// Whether a condition on the gradients or their variables decides whether a call runs. That there is one is no choice:
/// `if gradient is not None`.
fn is_chosen(job: &Job<'_>, behind: &FxHashSet<Place>, file: FileId, call: CallId) -> bool {
    let module = job.facts.module(file);
    let data = module.call(call);
    let caller = Caller { file, scope: module.code_scope(data.scope) };
    job.facts.conditions(caller, data.block).into_iter().any(|own| {
        own.branch.kind.outcome(0).is_some()
            && own
                .branch
                .condition
                .is_some_and(|value| behind.contains(&(file, value)) && module.none_test(value).is_none())
    })
}
