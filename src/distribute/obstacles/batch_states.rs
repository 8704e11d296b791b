//! Variables that a step sets by the rank's own batch, and with which the model computes: the codebook of a quantiser that follows
//! the means of its codes. Nothing averages them, so that each rank comes to train another function.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::step::Step;
use super::layer_code::{calls_of_layers, is_of_layer, results_of_layers};
use super::obstacle;
use super::own_results::depends;
use crate::api::{Effect, Kind};
use crate::finding::Rule;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::CallId;

/// The calls that set such variables.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let set: Vec<(FileId, CallId)> =
        training_calls(job).filter(|&(file, call)| sets_variable(job, file, call)).collect();
    if set.is_empty() {
        return Vec::new();
    }
    let batches = batches(job);
    let given = |&(file, call): &(FileId, CallId)| -> Vec<Place> {
        let arguments = &facts.module(file).call(call).arguments;
        arguments.iter().take(1).map(|argument| (file, argument.value)).collect()
    };
    // The calls that make the variables which a call sets.
    let makers = |&(file, call): &(FileId, CallId)| -> Vec<Place> {
        let variable = facts.receiver(file, facts.module(file).call(call));
        let objects = variable.into_iter().flat_map(|own| facts.objects(file, own));
        let made = objects.filter_map(|(object, _)| facts.made_at(object));
        made.map(|(file, made)| (file, facts.module(file).call(made).result)).collect()
    };
    // What is set by the batch is also what is set by variables that are.
    let mut of_batch: FxHashSet<Place> = FxHashSet::default();
    let mut left: Vec<(FileId, CallId)> = set.clone();
    loop {
        let before = left.len();
        left.retain(|own| {
            let given = given(own);
            let is_of_batch = given.iter().any(|&place| depends(job, place)) || {
                let behind = facts.influence().backwards(&given, |_| false);
                behind.iter().any(|place| batches.contains(place) || of_batch.contains(place))
            };
            if is_of_batch {
                of_batch.extend(makers(own));
            }
            !is_of_batch
        });
        if left.len() == before {
            break;
        }
    }
    let computing = facts.influence().backwards(&results_of_layers(job), |_| false);
    let computes = |own: &(FileId, CallId)| makers(own).iter().any(|place| computing.contains(place));
    let step = |(file, call): (FileId, CallId)| {
        let message = "each rank sets a variable by its own batch, with which the model computes";
        let finding = obstacle(rule, job.at_call(file, call), message)
            .help("average what is assigned over the ranks: `hvd.allreduce(value)`")
            .in_scope(job.scope_of(file, call));
        Step::blocked(finding, "No gradient brings it together, and each rank would train another function.")
    };
    set.into_iter().filter(|own| computes(own) && !left.contains(own)).map(step).collect()
}

/// The calls of the program, and those of its layers, which Keras calls.
fn training_calls<'j>(job: &'j Job<'_>) -> impl Iterator<Item = (FileId, CallId)> + 'j {
    let facts = job.facts;
    job.program.files().into_iter().flat_map(move |file| {
        let calls = facts.module(file).calls.iter().enumerate();
        let run = calls.filter(move |(_, call)| {
            let caller = Caller { file, scope: call.scope };
            job.program.reached.contains(&caller) || is_of_layer(job, caller)
        });
        run.map(move |(index, _)| (file, CallId::new(index)))
    })
}

/// Whether a call assigns to a variable.
fn sets_variable(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    facts.called_symbols(file, call).any(|own| own.has(Effect::UpdatesState))
        && facts
            .receiver(file, facts.module(file).call(call))
            .is_some_and(|own| facts.may_be(file, own, Kind::Variable))
}

/// What the layers of the program are called with: what has no default, behind the layer itself.
fn batches(job: &Job<'_>) -> FxHashSet<Place> {
    let given = calls_of_layers(job).into_iter().flat_map(|own| {
        let parameters = &job.facts.module(own.file).function(own.function).parameters;
        let needed = parameters.iter().skip(1).filter(|parameter| parameter.default.is_none());
        needed.map(move |parameter| (own.file, parameter.value))
    });
    given.collect()
}
