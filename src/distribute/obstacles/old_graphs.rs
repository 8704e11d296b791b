//! Programs in the graphs of TensorFlow 1 that Keras trains, or of which nobody sees the session: variables are broadcast by what
//! has the session that trains them.

use super::super::job::Job;
use super::super::step::Step;
use super::{first_call, obstacle};
use crate::api::Kind;
use crate::finding::Rule;
use crate::program::{LoopKind, TrainingLoop};

/// Such loops.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let mut found = trained_by_keras(job, rule);
    found.extend(sessions_unknown(job, rule));
    found
}

/// `tf.compat.v1.disable_eager_execution()` in front of `fit`: Horovod's callbacks for Keras need to run operations at
/// once.
fn trained_by_keras(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let mut loops = job.program.loops.iter().filter(|own| own.kind == LoopKind::KerasFit);
    let Some(first) = loops.clone().next() else { return Vec::new() };
    let has_fit = loops.any(|own| job.is_fit(own));
    let (message, reason) = if has_fit {
        (
            "the program trains with `fit` in graphs of TensorFlow 1",
            "Horovod's callbacks ask Keras for its session, which it has no more.",
        )
    } else {
        // In a graph a broadcast is an operation, which somebody has to run.
        (
            "the program trains with `train_on_batch` in graphs of TensorFlow 1",
            "Keras has the session in which variables would have to be broadcast.",
        )
    };
    let step = |(file, call)| {
        let finding = obstacle(rule, job.at_call(file, call), message)
            .help("leave it out, or train in a session")
            .in_scope(job.scope_of(file, call));
        Step::blocked(finding, reason)
    };
    if let Some(call) = first_call(job, GRAPHS) {
        return vec![step(call)];
    }
    let is_of_tensorflow_1 =
        || job.program.files().into_iter().any(|file| job.facts.is_of_tensorflow_1(file));
    if has_fit || !is_of_tensorflow_1() {
        return Vec::new();
    }
    vec![step((first.caller.file, first.call))]
}

/// `optimizer.minimize(loss)` makes an operation of a graph. The session that runs it is where a program trains.
fn sessions_unknown(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    let is_session = |kind: Kind| matches!(kind, Kind::Session | Kind::MonitoredSession);
    let makes_session =
        || facts.creations.iter().any(|made| is_session(made.kind) && job.runs(made.file, made.call));
    let of_graph = |own: &TrainingLoop| own.kind == LoopKind::Minimize;
    let Some(own) = job.program.loops.iter().find(|own| of_graph(own)) else { return Vec::new() };
    if first_call(job, GRAPHS).is_none() && !makes_session() {
        return Vec::new();
    }
    let location = job.at_call(own.caller.file, own.call);
    let finding = obstacle(rule, location, "it can't be seen which session runs this step")
        .help("run it in a session that is made by `tf.Session()` in the program")
        .in_scope(job.scope_of(own.caller.file, own.call));
    vec![Step::blocked(finding, "In a graph, variables are broadcast by the session that trains them.")]
}

/// What brings the graphs of TensorFlow 1 back.
const GRAPHS: [&str; 2] =
    ["tensorflow.compat.v1.disable_eager_execution", "tensorflow.compat.v1.disable_v2_behavior"];
