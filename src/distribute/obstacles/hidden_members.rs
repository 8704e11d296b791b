//! What a program asks an optimizer of TensorFlow 1 for, and Horovod's own optimizer around it has not: `optimizer._lr`,
//! `optimizer.swapping_saver()`.

use super::super::job::Job;
use super::super::session::is_session;
use super::super::step::Step;
use super::obstacle;
use crate::finding::Rule;
use crate::program::Place;
use crate::semantic::{Value, ValueId};

/// The class of optimizers, whose members that of Horovod has.
const OPTIMIZER: &str = "tensorflow.compat.v1.train.Optimizer";

/// The first such member in each file.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    if !job.program.loops.iter().any(is_session) {
        return Vec::new();
    }
    let files = job.program.files().into_iter();
    let first = files.filter_map(|file| {
        let values = (0..job.facts.module(file).values.len()).map(ValueId::new);
        values.map(|value| (file, value)).find(|&place| is_hidden(job, place))
    });
    let step = |(file, value)| {
        let range = job.facts.module(file).value(value).range;
        let finding =
            obstacle(rule, job.facts.location(file, range), "the optimizer of Horovod does not have this")
                .help("ask for it by other means, such as the variable that holds the rate");
        Step::blocked(
            finding,
            "The optimizer is distributed by one of Horovod's, which has the methods of all optimizers only.",
        )
    };
    first.map(step).collect()
}

/// Whether a value is an attribute of such an optimizer that not all optimizers have.
fn is_hidden(job: &Job<'_>, (file, value): Place) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let Value::Attribute { base, name, .. } = module.value(value).value else { return false };
    let Some(optimizer) = facts.library.lookup(OPTIMIZER) else { return false };
    let name = module.names.text(name);
    facts.library.member(optimizer, name).is_none()
        && facts.objects(file, base).any(|(id, object)| {
            let class = facts.symbol(object).filter(|own| own.is_class());
            class.is_some_and(|class| facts.library.is_subclass(class, optimizer))
                && facts.made_at(id).is_some_and(|(file, call)| job.runs(file, call))
        })
}
