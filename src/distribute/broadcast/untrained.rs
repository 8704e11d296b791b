//! Models that a loop computes its losses with and does not train: `tf.square(target(x) - predictor(x))`. Their random weights
//! are each rank's own, so that they are broadcast with the models that are trained.

use super::super::job::Job;
use super::super::untrained::Untrained;
use super::copied::broadcast_beside;
use super::site::Site;

/// Adds models that are not trained to the broadcasts of those that are, as far as code that calls both names them.
pub(super) fn add(job: &Job<'_>, sites: &mut [Site]) {
    for own in Untrained::all(job) {
        let Some(text) = job.text(own.file) else { continue };
        let module = job.facts.module(own.file);
        for &other in &own.beside {
            let (model, call) = (module.call(other), module.call(own.call));
            broadcast_beside(sites, |spoken| spoken.beside_called(text, model, call));
        }
    }
}
