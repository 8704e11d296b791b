//! The code of the layers and models that a program defines.

use super::super::job::Job;
use crate::api::{Calls, Kind, Symbol};
use crate::program::{Caller, ClassRef, FunctionRef, Place};

/// Whether code is that of a model or layer, which a step goes through.
pub(in crate::distribute) fn is_of_layer(job: &Job<'_>, caller: Caller) -> bool {
    let facts = job.facts;
    let Some(function) = facts.function_of(caller) else { return false };
    let data = facts.module(function.file).function(function.function);
    let class = data.class.map(|class| ClassRef { file: function.file, class });
    class.is_some_and(|class| base_of_layer(job, class).is_some())
}

/// The library's class that a class of layers or models inherits from.
fn base_of_layer<'j>(job: &'j Job<'_>, class: ClassRef) -> Option<&'j Symbol> {
    let base = job.facts.library_base(class)?;
    matches!(job.facts.library.kind_of_class(base), Kind::Layer | Kind::Model).then_some(base)
}

/// The functions that compute what the layers of the program return when they are called.
pub(super) fn calls_of_layers(job: &Job<'_>) -> Vec<FunctionRef> {
    let facts = job.facts;
    let mut found = Vec::new();
    for file in job.program.files() {
        let module = facts.module(file);
        for function in facts.modules.functions_of(file) {
            let own = module.function(function.function);
            let class = own.class.map(|class| ClassRef { file, class });
            let Some(base) = class.and_then(|class| base_of_layer(job, class)) else { continue };
            let called = facts.library.member(base, CALLED).map_or(&[][..], Symbol::calls);
            let name = module.names.text(own.name);
            if called.iter().any(|calls| matches!(calls, Calls::Receiver(method) if **method == *name)) {
                found.push(function);
            }
        }
    }
    found
}

/// The functions that layers of the library are given, as `Lambda` is.
fn given_to_layers(job: &Job<'_>) -> Vec<FunctionRef> {
    let facts = job.facts;
    let makes = |own: &Symbol| own.is_class() && facts.library.kind_of_class(own) == Kind::Layer;
    let layers = job.calls().filter(|&(file, call)| facts.called_symbols(file, call).any(makes));
    layers.flat_map(|(file, call)| facts.called_functions(file, call)).collect()
}

/// What these functions return.
pub(in crate::distribute) fn results_of_layers(job: &Job<'_>) -> Vec<Place> {
    let results = calls_of_layers(job).into_iter().chain(given_to_layers(job)).flat_map(|own| {
        let returns = &job.facts.module(own.file).function(own.function).returns;
        returns.iter().map(move |&value| (own.file, value))
    });
    results.collect()
}

/// The method of layers that their being called is.
const CALLED: &str = "__call__";
