//! Which ranks run what a graph steps with: what one rank trains by itself has nobody to average with.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::job::Job;
use super::super::ranked::is_for_one_rank;
use super::runs;
use crate::program::{Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};

/// Whether a call has a session run what makes a step of training.
pub(in crate::distribute) fn steps(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let fetched = job.facts.module(file).call(id).arguments.first();
    fetched.is_some_and(|own| runs(job, file, id) && job.facts.may_be_of_step((file, own.value)))
}

/// Whether only some ranks run an operation of a graph, as far as its sessions are seen: all that run it do so under a
/// guard, and it is given to nobody else who might.
pub(in crate::distribute) fn are_of_some_ranks(job: &Job<'_>, (file, operation): (FileId, CallId)) -> bool {
    let behind = behind(job, (file, job.facts.module(file).call(operation).result));
    let is_given = |&(file, call): &(FileId, CallId)| {
        let arguments = &job.facts.module(file).call(call).arguments;
        arguments.iter().any(|own| behind.contains(&(file, own.value)))
    };
    let mut users = job.calls().filter(is_given).filter(|&(file, call)| may_run(job, file, call)).peekable();
    users.peek().is_some()
        && users.all(|(file, call)| runs(job, file, call) && is_for_one_rank(job, file, call))
}

/// Whether a call that is given an operation may run it: that of a session, or one that nobody knows.
fn may_run(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    if runs(job, file, call) {
        return true;
    }
    let edges = facts.callees(file, call);
    edges.is_empty()
        || edges.iter().any(|edge| match facts.solution.object(edge.callee) {
            Object::Unknown => true,
            object @ Object::External(_) => {
                facts.symbol(object).is_none_or(|symbol| symbol.parameter(TRAIN_OP).is_some())
            }
            _ => false,
        })
}

/// The parameter of what steps for the program: of a specification of an estimator.
const TRAIN_OP: &str = "train_op";

/// All that an operation is part of before a session runs it, also by containers that attributes keep:
/// `self.operations["train"] = operation`.
fn behind(job: &Job<'_>, operation: Place) -> FxHashSet<Place> {
    let facts = job.facts;
    let results: FxHashSet<Place> = job
        .calls()
        .filter(|&(file, call)| runs(job, file, call))
        .map(|(file, call)| (file, facts.module(file).call(call).result))
        .collect();
    let kept = job.kept_containers();
    let mut seen: FxHashSet<ObjectId> = FxHashSet::default();
    let mut found: FxHashSet<Place> = FxHashSet::default();
    let mut from = vec![operation];
    while !from.is_empty() {
        let news =
            facts.influence().forwards(&from, |place| results.contains(&place) || found.contains(&place));
        let holders = news.iter().filter(|&&(file, value)| is_kept(&facts.module(file).value(value).value));
        let changed = holders.flat_map(|&(file, value)| facts.solution.values(file, value));
        let changed: Vec<ObjectId> = changed.copied().filter(|&own| seen.insert(own)).collect();
        found.extend(news);
        from = changed.iter().filter_map(|own| kept.get(own)).flatten().copied().collect();
        from.retain(|place| !found.contains(place));
    }
    found
}

/// Where attributes and variables of other scopes are read that hold containers, by container.
pub(in crate::distribute) fn kept_containers(job: &Job<'_>) -> FxHashMap<ObjectId, Vec<Place>> {
    let facts = job.facts;
    let mut found: FxHashMap<ObjectId, Vec<Place>> = FxHashMap::default();
    for file in job.program.files() {
        for (index, _) in facts.module(file).values.iter().enumerate().filter(|(_, own)| is_kept(&own.value))
        {
            let place = (file, ValueId::new(index));
            let containers = facts.objects(file, place.1);
            for (id, _) in containers.filter(|(_, own)| matches!(own, Object::Container(..))) {
                found.entry(id).or_default().push(place);
            }
        }
    }
    found
}

fn is_kept(value: &Value) -> bool {
    matches!(value, Value::Attribute { .. } | Value::Cell(_))
}
