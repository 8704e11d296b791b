//! Programs that train with a Keras outside of TensorFlow, of the time of TensorFlow 1: its optimizers, their rates and its session are
//! others than those of `tf.keras`, to which Horovod's module for TensorFlow's Keras belongs.

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::finding::Rule;
use crate::program::{LoopKind, Object};
use crate::project::FileId;

/// The first call that trains so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let mut loops = job.program.loops.iter().filter(|own| own.kind == LoopKind::KerasFit);
    let Some(first) = loops.next() else { return Vec::new() };
    // Who takes the model from TensorFlow may take a helper from the other.
    let takes = |package| job.program.files().into_iter().any(|file| takes_from(job, file, package));
    if !job.facts.is_program_of_tensorflow_1(job.program) || !takes(KERAS) || takes(OF_TENSORFLOW) {
        return Vec::new();
    }
    let (file, call) = (first.caller.file, first.call);
    let message = "the program trains with a Keras outside of TensorFlow, of the time of TensorFlow 1";
    let finding = obstacle(rule, job.at_call(file, call), message)
        .help("take Keras from TensorFlow, `from tensorflow import keras`, and what TensorFlow 2 has, or use `horovod.keras` by hand")
        .in_scope(job.scope_of(file, call));
    vec![Step::blocked(
        finding,
        "Its optimizers and its session are not those that `horovod.tensorflow.keras` knows.",
    )]
}

/// How the paths of members of the package `keras` itself begin, and of TensorFlow's.
const KERAS: &str = "keras.";
const OF_TENSORFLOW: &str = "tensorflow.keras.";

/// Whether a file uses something with a path that begins so.
fn takes_from(job: &Job<'_>, file: FileId, package: &str) -> bool {
    job.facts.objects_in(file).iter().any(|&object| {
        let Object::External(external) = job.facts.solution.object(object) else { return false };
        job.facts.solution.externals.get(external).path.starts_with(package)
    })
}
