//! Code of the program's own that changes gradients or weights in a step behind the average over the ranks, and draws: optimizers and
//! constraints, and functions that an optimizer of a library is given.

use rustc_hash::FxHashSet;

use super::super::data::draws::drawn_in;
use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::api::{Kind, Symbol};
use crate::finding::Rule;
use crate::program::{Ancestor, Caller, ClassRef, Object, code};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

/// The methods that compute gradients, before they are averaged.
const BEFORE_AVERAGE: [&str; 3] = ["_compute_gradients", "compute_gradients", "get_gradients"];

/// What changes weights behind each step.
const CONSTRAINT: &str = "tensorflow.keras.constraints.Constraint";

/// The draws of such code.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let step = |(file, call): (FileId, CallId)| {
        let message = "each rank mixes what it draws by itself into the common step";
        let finding = obstacle(rule, job.at_call(file, call), message)
            .help("draw it with a constant seed")
            .in_scope(job.scope_of(file, call));
        Step::blocked(finding, "Each rank would make another step, and the ranks drift apart.")
    };
    let mut code = methods(job);
    code.extend(transformers(job));
    drawn_in(job, code).into_iter().map(step).collect()
}

/// The methods by which the objects of such classes change variables.
fn methods(job: &Job<'_>) -> Vec<Caller> {
    let facts = job.facts;
    let constraint = facts.library.lookup(CONSTRAINT);
    let updates =
        |own: &Symbol| facts.library.kind_of_class(own) == Kind::Optimizer || Some(own) == constraint;
    let mut classes: FxHashSet<ClassRef> = FxHashSet::default();
    for (file, call) in job.calls() {
        for (_, object) in facts.objects(file, facts.module(file).call(call).callee) {
            if let Object::Class(class) = object
                && facts.library_base(class).is_some_and(updates)
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

/// The functions that change the gradients of a library's optimizer: `Adam(gradient_transformers=[clip])`.
fn transformers(job: &Job<'_>) -> Vec<Caller> {
    let facts = job.facts;
    let mut found = Vec::new();
    for (file, id) in job.calls() {
        let module = facts.module(file);
        let given =
            facts.called_symbols(file, id).filter(|own| facts.library.kind_of_class(own) == Kind::Optimizer);
        let mut given = given.filter_map(|own| facts.argument(file, module.call(id), own, TRANSFORMERS));
        if let Some(Value::Display(_, elements)) = given.next().map(|own| &module.value(own.value).value) {
            let functions = elements.iter().filter_map(|own| own.written_out());
            let functions =
                functions.flat_map(|own| facts.objects(file, own)).filter_map(|(_, own)| code(own));
            found.extend(functions.map(|own| facts.code_of(own)));
        }
    }
    found
}

/// The parameter for them.
const TRANSFORMERS: &str = "gradient_transformers";
