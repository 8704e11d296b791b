//! Steps that a generator makes, and that what asks it for them stops by a rank's own results: `any(step(batch) < limit for batch
//! in data)` ends at the first that is.

use super::super::job::Job;
use super::super::step::Step;
use super::choices::rests_on_own_results;
use super::obstacle;
use crate::finding::Rule;
use crate::project::FileId;
use crate::semantic::{Argument, CallId, Container, Element, Value};

/// What asks an iterator for no more elements because of one of them.
const STOPPING: [&str; 3] = ["builtins.all", "builtins.any", "itertools.takewhile"];

/// The calls that stop such generators.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let stopping = STOPPING.map(|name| facts.library.lookup(name));
    let mut found = Vec::new();
    for (file, id) in job.calls() {
        let mut called = facts.called_symbols(file, id).chain(facts.called_builtins(file, id));
        if !called.any(|own| stopping.contains(&Some(own))) {
            continue;
        }
        let call = facts.module(file).call(id);
        if let Some(steps) = call.arguments.iter().find(|own| makes_steps(job, file, own)) {
            let message = "whether the program goes on training depends on this rank's own results";
            let finding = obstacle(rule, facts.location(file, call.callee_range), message)
                .label(facts.location(file, steps.range), "makes steps of training")
                .help("make all steps in a loop, and look at what they gave behind it")
                .in_scope(job.scope_of(file, id));
            let reason = "The ranks would make different numbers of steps, and wait for each other for ever.";
            found.push(Step::blocked(finding, reason));
        }
    }
    found
}

/// Whether an argument is a generator whose elements are a rank's own results, and come of steps of training.
fn makes_steps(job: &Job<'_>, file: FileId, argument: &Argument) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let own = module.value(argument.value);
    let Value::Display(Container::Generator, elements) = &own.value else { return false };
    let training = job.leading_to_steps();
    let is_step = |id: CallId| {
        training.calls.contains(&(file, id))
            || facts.called_functions(file, id).any(|own| training.code.contains(&facts.code_of(own)))
    };
    elements.iter().any(|element| match *element {
        Element::At(_, value) | Element::Any(value) => rests_on_own_results(job, (file, value)),
        _ => false,
    }) && job.calls_in(file).any(|id| own.range.contains_range(module.call(id).range) && is_step(id))
}
