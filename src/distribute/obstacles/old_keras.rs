//! Programs that train with a Keras outside of TensorFlow, of the time of TensorFlow 1: its optimizers, their rates and its session are
//! others than those of `tf.keras`, to which Horovod's module for TensorFlow's Keras belongs.

use super::super::job::Job;
use super::super::step::Step;
use super::obstacle;
use crate::finding::Rule;
use crate::program::{LoopKind, Object};
use crate::project::FileId;
use crate::semantic::{CallId, Passing};

/// The first call that trains so.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let mut loops = job.program.loops.iter().filter(|own| own.kind == LoopKind::KerasFit);
    let Some(first) = loops.next() else { return Vec::new() };
    // Who takes the model from TensorFlow may take a helper from the other.
    let takes = |package| job.program.files().into_iter().any(|file| takes_from(job, file, package));
    let is_old = || job.facts.is_program_of_tensorflow_1(job.program) || uses_old_keras(job);
    if !takes(KERAS) || takes(OF_TENSORFLOW) || !is_old() {
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
pub(in crate::distribute) const KERAS: &str = "keras.";
const OF_TENSORFLOW: &str = "tensorflow.keras.";

/// Whether a file uses something with a path that begins so.
fn takes_from(job: &Job<'_>, file: FileId, package: &str) -> bool {
    paths(job, file).any(|path| path.starts_with(package))
}

/// The paths of what a file takes from libraries.
fn paths<'j>(job: &'j Job<'_>, file: FileId) -> impl Iterator<Item = &'j str> {
    job.facts.objects_in(file).iter().filter_map(|&object| match job.facts.solution.object(object) {
        Object::External(external) => Some(&*job.facts.solution.externals.get(external).path),
        _ => None,
    })
}

/// Whether a program uses what only a Keras has that stands on TensorFlow 1.
fn uses_old_keras(job: &Job<'_>) -> bool {
    let is_old = |path: &str| OLD_MEMBERS.contains(&path) || path.starts_with(ON_OLD_KERAS);
    let says_old = |(file, id): (FileId, CallId)| {
        let module = job.facts.module(file);
        let mut arguments = module.call(id).arguments.iter();
        let is_of_keras = || {
            let mut symbols = job.facts.called_symbols(file, id);
            symbols.any(|own| own.name().starts_with(OF_TENSORFLOW))
        };
        arguments.any(|own| match own.passing {
            Passing::Keyword(name) => OLD_ARGUMENTS.contains(&module.names.text(name)),
            _ => false,
        }) && is_of_keras()
    };
    job.program.files().into_iter().any(|file| paths(job, file).any(is_old)) || job.calls().any(says_old)
}

/// What Keras has up to version 2.2, or only with TensorFlow 1.
const OLD_MEMBERS: [&str; 8] = [
    "keras.backend.get_session",
    "keras.backend.set_session",
    "keras.backend.tf",
    "keras.backend.image_dim_ordering",
    "keras.backend.set_image_dim_ordering",
    "keras.backend.tensorflow_backend",
    "keras.layers.Merge",
    "keras.layers.merge.Merge",
];

/// How the paths of a package begin that stands on private members of such a Keras.
const ON_OLD_KERAS: &str = "keras_contrib";

/// Arguments of Keras 1, which version 2 takes up to 2.2.
const OLD_ARGUMENTS: [&str; 18] = [
    "W_constraint",
    "W_regularizer",
    "b_constraint",
    "b_regularizer",
    "border_mode",
    "dim_ordering",
    "filter_length",
    "init",
    "inner_activation",
    "inner_init",
    "input",
    "nb_col",
    "nb_epoch",
    "nb_filter",
    "nb_row",
    "nb_val_samples",
    "output",
    "samples_per_epoch",
];
