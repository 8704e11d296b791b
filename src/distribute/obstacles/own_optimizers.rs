//! Optimizers of the program's own that draw in a step: `apply_gradients` of a class that adds noise to the gradients. They do it
//! behind the average over the ranks, each rank with numbers of its own.

use rustc_hash::FxHashSet;

use super::super::data::draws::draws_unseeded;
use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::api::Kind;
use crate::finding::Rule;
use crate::program::{Ancestor, Caller, ClassRef, Object};
use crate::semantic::CallId;

/// The methods that compute gradients, before they are averaged.
const BEFORE_AVERAGE: [&str; 3] = ["_compute_gradients", "compute_gradients", "get_gradients"];

/// The draws of such optimizers.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let mut code: FxHashSet<Caller> = FxHashSet::default();
    let mut work = methods(job);
    while let Some(caller) = work.pop() {
        if code.insert(caller) {
            work.extend(facts.reached_functions(caller).map(|(_, function)| facts.code_of(function)));
        }
    }
    let mut code: Vec<Caller> = code.into_iter().collect();
    code.sort_unstable();
    let mut found = Vec::new();
    for Caller { file, scope } in code {
        let calls = facts.module(file).calls.iter().enumerate().filter(|(_, call)| call.scope == scope);
        let calls = calls.map(|(index, _)| CallId::new(index));
        for call in calls.filter(|&call| draws_unseeded(job, file, call)) {
            let message = "each rank mixes what it draws by itself into the averaged gradients";
            let finding = obstacle(rule, job.at_call(file, call), message)
                .help("draw it with a constant seed")
                .in_scope(job.scope_of(file, call));
            found.push(Step::blocked(
                finding,
                "Each rank would make another step, and the ranks drift apart.",
            ));
        }
    }
    found
}

/// The methods of the classes of optimizers that the program makes, by which they change variables.
fn methods(job: &Job<'_>) -> Vec<Caller> {
    let facts = job.facts;
    let mut classes: FxHashSet<ClassRef> = FxHashSet::default();
    for (file, call) in job.calls() {
        for (_, object) in facts.objects(file, facts.module(file).call(call).callee) {
            if let Object::Class(class) = object
                && facts
                    .library_base(class)
                    .is_some_and(|own| facts.library.kind_of_class(own) == Kind::Optimizer)
            {
                let bases = facts.hierarchy.order(class).iter();
                classes.extend(bases.filter_map(|own| match own {
                    &Ancestor::Project(own) => Some(own),
                    Ancestor::External(_) | Ancestor::Builtin(_) | Ancestor::Unknown => None,
                }));
            }
        }
    }
    let functions = classes.into_iter().flat_map(|class| {
        let module = facts.module(class.file);
        facts.modules.functions_of(class.file).filter(move |own| {
            let own = module.function(own.function);
            own.class == Some(class.class) && !BEFORE_AVERAGE.contains(&module.names.text(own.name))
        })
    });
    functions.map(|own| facts.code_of(own)).filter(|&code| !facts.is_constructor(code)).collect()
}
