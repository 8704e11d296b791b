//! Variables that a step sets by the rank's own batch, and with which the model computes: the codebook of a quantiser that follows
//! the means of its codes. Nothing averages them, so that each rank comes to train another function.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::step::Step;
use super::changed_gradients::losses;
use super::layer_code::{calls_of_layers, is_of_layer, results_of_layers};
use super::obstacle;
use super::own_results::depends;
use crate::api::{Effect, Kind, Symbol};
use crate::finding::Rule;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{BranchKind, CallId, ValueId};

/// The calls that set such variables.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    // Gradients are averaged.
    let by_hand: FxHashSet<(FileId, CallId)> =
        job.program.loops.iter().flat_map(|own| own.by_hand.iter().copied()).collect();
    let is_set = |own: &(FileId, CallId)| !by_hand.contains(own) && assignment(job, own.0, own.1).is_some();
    let set: Vec<(FileId, CallId)> = training_calls(job).filter(is_set).collect();
    if set.is_empty() {
        return Vec::new();
    }
    let batches = batches(job);
    let given = |&(file, call): &(FileId, CallId)| -> Vec<Place> {
        assignment(job, file, call).into_iter().map(|(_, given)| (file, given)).collect()
    };
    // The calls that make the variables which a call sets.
    let makers = |&(file, call): &(FileId, CallId)| -> Vec<Place> {
        let variable = assignment(job, file, call).map(|(variable, _)| variable);
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
                let is_averaged =
                    |place| facts.gives(place, &[Effect::TakesGradients]) || !job.evaluates(place);
                let behind = facts.influence().backwards(&given, is_averaged);
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
    let mut computed = results_of_layers(job);
    computed.extend(job.tape_loops().flat_map(|own| losses(job, own)));
    let computing = facts.influence().backwards(&computed, |place| !job.evaluates(place));
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

/// The variable that a call assigns to, and what it assigns: `variable.assign(value)`, `K.update(variable, value)`.
fn assignment(job: &Job<'_>, file: FileId, id: CallId) -> Option<(ValueId, ValueId)> {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let mut given = call.arguments.iter().map(|own| own.value);
    let updates = |own: &Symbol| UPDATING.iter().any(|&name| facts.library.lookup(name) == Some(own));
    let variable = if facts.called_symbols(file, id).any(updates) {
        given.next()
    } else {
        let is_method = facts.called_symbols(file, id).any(|own| own.has(Effect::UpdatesState));
        facts.receiver(file, call).filter(|_| is_method)
    };
    let variable = variable.filter(|&own| facts.may_be(file, own, Kind::Variable))?;
    Some((variable, given.next()?))
}

/// The functions that assign to variables.
const UPDATING: [&str; 4] = [
    "tensorflow.keras.backend.moving_average_update",
    "tensorflow.keras.backend.update",
    "tensorflow.keras.backend.update_add",
    "tensorflow.keras.backend.update_sub",
];

/// The batches: what the layers of the program are called with, without a default and behind the layer itself, and the elements of
/// datasets in loops that make steps.
fn batches(job: &Job<'_>) -> FxHashSet<Place> {
    let facts = job.facts;
    let given = calls_of_layers(job).into_iter().flat_map(|own| {
        let parameters = &facts.module(own.file).function(own.function).parameters;
        let needed = parameters.iter().skip(1).filter(|parameter| parameter.default.is_none());
        needed.map(move |parameter| (own.file, parameter.value))
    });
    let mut found: FxHashSet<Place> = given.collect();
    for &Caller { file, scope } in &job.leading_to_steps().code {
        let module = facts.module(file);
        let branches = module.scope(scope).flow.blocks.iter().filter_map(|own| own.branch);
        let loops = branches.filter(|own| own.kind == BranchKind::For).filter_map(|own| own.condition);
        let of_data = loops.filter(|&own| facts.may_be(file, own, Kind::Dataset));
        found.extend(of_data.flat_map(|own| facts.influence().dependents((file, own))));
    }
    found
}
