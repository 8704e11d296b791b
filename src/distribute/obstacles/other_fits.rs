//! `model.fit(x, y)` where the model may be one of scikit-learn or the like, whose `fit` takes neither callbacks nor `verbose`: a
//! class of the project's has a model of Keras or such a one, as it is given.

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::finding::Rule;
use crate::program::{Object, TrainingLoop};

/// The packages with models that have a `fit` of their own.
const PACKAGES: [&str; 4] = ["catboost", "lightgbm", "sklearn", "xgboost"];

/// The loops that may be such a `fit`.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let loops = job.program.loops.iter().filter(|own| job.is_fit(own) && may_be_others(job, own));
    let step = |own: &TrainingLoop| {
        let (file, call) = (own.caller.file, own.call);
        let finding = obstacle(rule, job.at_call(file, call), "this may be the `fit` of another library")
            .help("keep models of Keras and others in classes or attributes of their own")
            .in_scope(job.scope_of(file, call));
        Step::blocked(finding, "It would not take what Keras needs to train on several ranks.")
    };
    loops.take(1).map(step).collect()
}

fn may_be_others(job: &Job<'_>, own: &TrainingLoop) -> bool {
    let facts = job.facts;
    let file = own.caller.file;
    let Some(receiver) = facts.receiver(file, facts.module(file).call(own.call)) else { return false };
    facts.objects(file, receiver).any(|(_, object)| match object {
        Object::External(external) | Object::Created(external, _) | Object::Member(_, external) => {
            let path = &facts.solution.externals.get(external).path;
            PACKAGES.contains(&path.split('.').next().unwrap_or_default())
        }
        _ => false,
    })
}
