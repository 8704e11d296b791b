//! Optimizers of the program's own that draw in a step: `apply_gradients` of a class that adds noise to the gradients. They do it
//! behind the average over the ranks, each rank with numbers of its own.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::super::data::draws::draws_unseeded;
use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::api::Kind;
use crate::finding::Rule;
use crate::program::{Ancestor, Caller, ClassRef, Object};
use crate::project::FileId;
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
    let files: BTreeSet<FileId> = code.iter().map(|own| own.file).collect();
    let calls = files.into_iter().flat_map(|file| {
        let calls = facts.module(file).calls.iter().enumerate();
        calls.map(move |(index, call)| (Caller { file, scope: call.scope }, CallId::new(index)))
    });
    let is_own =
        |(caller, call): &(Caller, CallId)| code.contains(caller) && draws_unseeded(job, caller.file, *call);
    let step = |(Caller { file, .. }, call): (Caller, CallId)| {
        let message = "each rank mixes what it draws by itself into the averaged gradients";
        let finding = obstacle(rule, job.at_call(file, call), message)
            .help("draw it with a constant seed")
            .in_scope(job.scope_of(file, call));
        Step::blocked(finding, "Each rank would make another step, and the ranks drift apart.")
    };
    calls.filter(is_own).map(step).collect()
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
