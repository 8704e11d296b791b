//! Code that trains and that `AutoGraph` is told to convert: `train = tf.autograph.to_graph(train)`. It converts what the code
//! calls as well, Horovod's own included, whose averages are lost in the loops of the graph.

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::api::{Effect, Symbol};
use crate::finding::Rule;
use crate::program::Object;
use crate::project::FileId;
use crate::semantic::CallId;

/// What converts a function, and the parameter for it.
const CONVERTING: [&str; 2] = ["tensorflow.autograph.to_graph", "tensorflow.compat.v1.autograph.to_graph"];
const CONVERTED: &str = "entity";

/// The first such conversion.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Option<Step> {
    let converting = CONVERTING.map(|name| job.facts.library.lookup(name));
    let (file, call) = job.calls().find(|&(file, id)| {
        let mut symbols = job.facts.called_symbols(file, id);
        symbols.any(|own| converting.contains(&Some(own)) && trains(job, file, id, own))
    })?;
    let finding = obstacle(rule, job.at_call(file, call), "what trains is made a graph by AutoGraph here")
        .help("let `tf.function` make the graph, or train without one");
    Some(Step::blocked(
        finding,
        "AutoGraph converts Horovod's own code with what calls it, and the ranks' weights drift apart.",
    ))
}

fn trains(job: &Job<'_>, file: FileId, id: CallId, converting: &Symbol) -> bool {
    let facts = job.facts;
    let steps = |function| {
        let effects = facts.effects().of_scope(facts.code_of(function)).effects;
        [Effect::Minimizes, Effect::AppliesGradients].into_iter().any(|own| effects.contains(own))
    };
    facts.argument(file, facts.module(file).call(id), converting, CONVERTED).is_some_and(|converted| {
        let mut objects = facts.objects(file, converted.value);
        objects.any(|(_, own)| match own {
            Object::Function(function) | Object::Bound(_, function) => steps(function),
            _ => false,
        })
    })
}
