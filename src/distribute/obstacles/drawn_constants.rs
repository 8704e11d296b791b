//! Constants that a layer draws when it is made: `self.matrix = tf.random.normal((2, 64))`. They are no variables, so that no
//! broadcast makes them equal: each rank would train another function.

use super::super::data::draws::draws_unseeded;
use super::super::job::Job;
use super::super::step::Step;
use super::layer_code::{is_of_layer, results_of_layers};
use super::obstacle;
use crate::api::Kind;
use crate::finding::Rule;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{CallId, ScopeId, Store, StoreKey};

/// The attributes of layers that hold such constants.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    // What makes a layer is called by Keras as soon as the layer is a part of a model.
    let calls = job.program.files().into_iter().flat_map(|file| {
        let count = facts.module(file).calls.len();
        (0..count).map(move |index| (file, CallId::new(index)))
    });
    let draws: Vec<Place> = calls
        .filter(|&(file, call)| is_made_there(job, file, facts.module(file).call(call).scope))
        .filter(|&(file, call)| draws_unseeded(job, file, call))
        .map(|(file, call)| (file, facts.module(file).call(call).result))
        .collect();
    if draws.is_empty() {
        return Vec::new();
    }
    let drawn = facts.influence().forwards(&draws, |place| !is_constant(job, place));
    let mut stored: Vec<(FileId, &Store)> = Vec::new();
    for file in job.program.files() {
        let module = facts.module(file);
        let is_drawn = |own: &&Store| {
            let place = (file, own.value);
            matches!(own.key, StoreKey::Attribute(_)) && drawn.contains(&place) && is_constant(job, place)
        };
        let made = module.stores.iter().filter(is_drawn).filter(|own| is_made_there(job, file, own.scope));
        stored.extend(made.map(|own| (file, own)));
    }
    if stored.is_empty() {
        return Vec::new();
    }
    let computing = facts.influence().backwards(&results_of_layers(job), |_| false);
    let step = |(file, own): (FileId, &Store)| {
        let message = "each rank draws a constant of its own, with which a layer computes";
        let finding = obstacle(rule, facts.location(file, own.range), message)
            .help("draw it with a constant seed, or keep it in a weight that is not trainable");
        Step::blocked(finding, "No broadcast makes it equal, and each rank would train another function.")
    };
    stored.into_iter().filter(|(file, own)| computing.contains(&(*file, own.value))).map(step).collect()
}

/// Whether a value is a number, an array or a tensor: neither a variable, nor something that was made with what was drawn.
fn is_constant(job: &Job<'_>, (file, value): Place) -> bool {
    const MADE: [Kind; 7] = [
        Kind::Variable,
        Kind::Layer,
        Kind::Model,
        Kind::Optimizer,
        Kind::Dataset,
        Kind::Callback,
        Kind::Random,
    ];
    !MADE.into_iter().any(|kind| job.facts.may_be(file, value, kind))
}

/// Whether a scope is where a layer is made, and not where it computes.
fn is_made_there(job: &Job<'_>, file: FileId, scope: ScopeId) -> bool {
    let code = Caller { file, scope };
    is_of_layer(job, code)
        && (job.facts.is_constructor(code)
            || job.facts.function_of(code).is_some_and(|own| job.facts.is_built_once(own)))
}
