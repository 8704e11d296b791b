//! Programs in the graphs of TensorFlow 1 that Keras or another library trains, or of which nobody sees the session: variables are
//! broadcast by what has the session that trains them.

use super::super::job::Job;
use super::super::step::Step;
use super::{first_call, obstacle};
use crate::api::{Effect, Kind, Role, Symbol};
use crate::finding::Rule;
use crate::program::{LoopKind, TrainingLoop};
use crate::project::FileId;
use crate::semantic::CallId;

/// Such loops.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let mut found = trained_by_keras(job, rule);
    found.extend(trained_by_others(job, rule));
    found.extend(sessions_unknown(job, rule));
    found
}

/// `tf.compat.v1.disable_eager_execution()` in front of `fit`: Horovod's callbacks for Keras need to run operations at
/// once.
fn trained_by_keras(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let trained = job.program.loops.iter().filter(|own| own.kind == LoopKind::KerasFit);
    let mut loops = trained.filter(|own| !makes_session(job, own.caller.file, own.call));
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
    if has_fit || !job.facts.is_program_of_tensorflow_1(job.program) {
        return Vec::new();
    }
    vec![step((first.caller.file, first.call))]
}

/// `estimator.train(inputs)`, `slim.learning.train(step, folder)`: what makes a session for itself is told by a hook, or at the start.
fn trained_by_others(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let trained = job.program.loops.iter().filter(|own| own.kind == LoopKind::KerasFit);
    let own = trained.map(|own| (own.caller.file, own.call));
    let step = |(file, call)| {
        let message = "a library makes the session that trains here";
        let finding = obstacle(rule, job.at_call(file, call), message)
            .help("distribute it by hand: wrap the optimizer, and give `hooks=[hvd.BroadcastGlobalVariablesHook(0)]` or broadcast where the session begins")
            .in_scope(job.scope_of(file, call));
        Step::blocked(
            finding,
            "The variables are broadcast in the session that trains them, which the program does not see.",
        )
    };
    own.filter(|&(file, call)| makes_session(job, file, call)).map(step).collect()
}

/// Whether a call trains by what is no model of Keras and makes a session for itself: an estimator, or a function of a library.
pub(in crate::distribute) fn makes_session(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let is_estimator = |value| facts.may_be(file, value, Kind::Estimator);
    let trains = |own: &Symbol| own.has(Effect::Trains);
    facts.called_symbols(file, id).any(trains)
        && (facts.receiver(file, call).is_some_and(is_estimator)
            || call.arguments.iter().any(|own| is_estimator(own.value))
            || facts
                .called_symbols(file, id)
                .any(|own| trains(own) && *own.role() == Role::Function && own.parameter(TRAIN_OP).is_some()))
}

/// The parameter of functions that train for the operation that makes a step.
const TRAIN_OP: &str = "train_op";

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
