//! The optimizer that Keras steps with averages its gradients over the ranks.
//!
//! The seed's rule `optimizer` of the Keras pattern (section 2.3): `optimizer = hvd.DistributedOptimizer(optimizer)`
//! behind its assignment, and the same where it is made in another way, named by a string, or left out. Models with a
//! `train_step` of their own keep a plain one: there the tape is distributed.

mod by_hand;
mod configuration;
pub(super) mod forms;
mod frozen;
mod graph_gradients;
mod instances;
mod loading;
pub(super) mod maker;
mod pickled;
mod rank_local;
mod recompiled;
pub(super) mod remade;
mod replaced;

use rustc_hash::FxHashSet;

use super::distribution_rule;
use super::job::Job;
use super::keras::{Compile, Given, Moment, StepOf, compiles, given, models_of};
use super::obstacles::old_graphs::makes_session;
use super::session::runs;
use super::step::Step;
use super::tape::is_given_distributed;
use crate::api::{Effect, Kind, Symbol};
use crate::finding::{Confidence, Finding, Label};
use crate::program::{Literal, LoopKind, Object, ObjectId, Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, ValueId};
use by_hand::Averaged;
use frozen::{REASON, frozen};
use maker::{OPTIMIZER, Origin, makers_of_kept, may_be_distributed_instead};
use recompiled::Recompiled;
use remade::{Averages, Making, described, named, named_later, omitted, wrapped};
use replaced::{REPLACED, is_replaced, replacing};

distribution_rule!("HVD204", "optimizer-not-distributed", steps);

fn steps(job: &Job<'_>) -> Vec<Step> {
    let compiles = compiles(job);
    let mut found = Vec::new();
    let mut done: Vec<(FileId, CallId)> = Vec::new();
    let loops = || job.program.loops.iter().chain(&job.program.steps_of_fit);
    for own in loops() {
        if forms::is_of_others(job, own) || job.facts.averages_weights(job.program, own) {
            continue;
        }
        match own.kind {
            LoopKind::KerasFit if StepOf::of(job, own) != StepOf::Tape => {
                for_models(job, own, &compiles, &mut done, &mut found);
            }
            LoopKind::Minimize => {
                let (file, call) = (own.caller.file, own.call);
                if is_given_distributed(job.facts, file, call) {
                    continue;
                }
                let Some(receiver) = job.facts.receiver(file, job.facts.module(file).call(call)) else {
                    continue;
                };
                match Origin::of(job, file, receiver) {
                    Origin::Made(makers) => {
                        let optimizer = ((file, receiver), Confidence::Certain);
                        distribute_those_of(job, own, optimizer, makers, &mut done, &mut found);
                    }
                    _ => found.extend(unseen(job, file, call)),
                }
            }
            LoopKind::Session | LoopKind::MonitoredSession => {
                for (file, call) in job.calls() {
                    takes_gradients(job, own, (file, call), &mut done, &mut found);
                }
            }
            LoopKind::GradientTape | LoopKind::KerasFit => {}
        }
    }
    found.extend(loading::from_archives(job, &RULE.rule));
    found.extend(pickled::steps(job, &RULE.rule));
    // What is certain of one loop is so whatever is possible of others.
    if job.program.already_distributed && job.facts.keeps_models_apart(job.program) {
        for step in &mut found {
            step.finding.confidence = Confidence::Possible;
        }
    }
    found.sort_by_key(|step| step.finding.confidence != Confidence::Certain);
    let mut seen = FxHashSet::default();
    found.retain(|step| {
        step.finding.confidence == Confidence::Certain || seen.insert(step.finding.primary.location)
    });
    found
}

/// The parameter for the optimizer of what makes a step by itself.
const GIVEN: &str = "optimizer";

/// The steps for an optimizer that a graph takes gradients with: `optimizer.compute_gradients(loss)`.
fn takes_gradients(
    job: &Job<'_>,
    own: &TrainingLoop,
    (file, call): (FileId, CallId),
    done: &mut Vec<(FileId, CallId)>,
    found: &mut Vec<Step>,
) {
    let facts = job.facts;
    if !facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::TakesGradients))
        || facts.is_ruled_out(job.program, file, call)
        || job.is_alone(file, call)
        || job.program.already_distributed && !is_applied(job, file, call)
    {
        return;
    }
    let data = facts.module(file).call(call);
    let is_optimizer = |&own: &ValueId| facts.may_be(file, own, Kind::Optimizer);
    // `slim.learning.create_train_op(loss, optimizer)`, which may be told a class or a name.
    let mut symbols = facts.called_symbols(file, call);
    let given = symbols.find_map(|symbol| facts.argument(file, data, symbol, GIVEN)).map(|own| own.value);
    if given.is_some_and(|own| !is_optimizer(&own)) {
        found.extend(unseen(job, file, call));
        return;
    }
    let optimizer = facts.receiver(file, data).filter(is_optimizer).or(given);
    match optimizer.map(|optimizer| (optimizer, Origin::of(job, file, optimizer))) {
        Some((_, Origin::Made(makers))) if makers.iter().all(|maker| done.contains(maker)) => {}
        Some((optimizer, Origin::Made(makers))) => {
            let averaged = by_hand::averaged(job, (file, call));
            if averaged == Averaged::All {
                return;
            }
            let is_doubtful = job.program.already_distributed
                && (averaged == Averaged::Chosen || runs::are_of_some_ranks(job, (file, call)));
            let sureness = if is_doubtful { Confidence::Possible } else { Confidence::Certain };
            let before = found.len();
            distribute_those_of(job, own, ((file, optimizer), sureness), makers, done, found);
            // Of several sessions this one alone may run what the gradients are for.
            if job.program.already_distributed {
                for step in &mut found[before..] {
                    let location = job.at_call(file, call);
                    step.finding.labels.push(Label { location, message: "takes the gradients".to_owned() });
                }
            }
        }
        Some(_) => found.extend(unseen(job, file, call)),
        None if job.program.already_distributed => {}
        None if facts.optimizers_apply(job.program, (file, call)) => {
            if !done.contains(&(file, call)) {
                done.push((file, call));
                found.extend(graph_gradients::step(job, finding(job, file, call, own), (file, call)));
            }
        }
        None if own.steps.is_empty() => {}
        None => {
            let reason = "Gradients that no optimizer takes are not averaged: use `compute_gradients`.";
            found.push(Step::blocked(finding(job, file, call, own), reason));
        }
    }
}

/// Whether what a call gives may come to a step: gradients that are only looked at need no average.
fn is_applied(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    if facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Minimizes)) {
        return true;
    }
    let given = facts.influence().forwards(&[(file, facts.module(file).call(call).result)], |_| false);
    let mut changes = job.calls().filter(|&(file, id)| {
        let applies = facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::AppliesGradients));
        applies || facts.may_update(file, id)
    });
    changes.any(|(file, id)| {
        let mut arguments = facts.module(file).call(id).arguments.iter();
        arguments.any(|own| given.contains(&(file, own.value)))
    })
}

/// The steps for the models that a call trains.
fn for_models(
    job: &Job<'_>,
    own: &TrainingLoop,
    compiles: &[Compile<'_>],
    done: &mut Vec<(FileId, CallId)>,
    found: &mut Vec<Step>,
) {
    let (file, call) = (own.caller.file, own.call);
    let trained = Moment::of(job, file, call);
    if own.models.is_empty() {
        found.extend(unseen(job, file, call));
    }
    for &model in &own.models {
        let mut before: Vec<Compile<'_>> = compiles
            .iter()
            .copied()
            .filter(|compile| models_of(job, compile.file, compile.call).contains(&model))
            .filter(|compile| Moment::of(job, compile.file, compile.call).may_precede(job, trained))
            .collect();
        instances::keep_those_of(job, model, own, &mut before);
        if before.is_empty() {
            match loaded(job, model) {
                // `hvd.load_model(path) if distributed else keras.models.load_model(path)`
                Some(_) if own.models.iter().any(|&other| is_loaded_distributed(job, other)) => {}
                Some(place) if !done.contains(&place) => {
                    done.push(place);
                    found.extend(load(job, own, place));
                }
                Some(_) => {}
                None => found.extend(unseen(job, file, call)),
            }
        }
        if !job.program.already_distributed
            && let Some(place) = frozen(job, model, &before)
        {
            let finding = finding(job, file, call, own).label(place, "frozen here");
            found.push(Step::blocked(finding, REASON));
            continue;
        }
        if job.program.already_distributed && is_replaced(job, model) {
            continue;
        }
        if !job.program.already_distributed
            && let Some(place) = replacing(job, model, own)
        {
            let finding = finding(job, file, call, own).label(place, "takes the place of the compiled one");
            found.push(Step::blocked(finding, REPLACED));
            continue;
        }
        let recompiled = Recompiled::new(job, &before, own);
        for &compile in before.iter().filter(|&&compile| !recompiled.is(compile)) {
            for_compile(job, own, compile, done, found);
        }
    }
}

/// The steps for the optimizer that one call of `compile` gives.
fn for_compile(
    job: &Job<'_>,
    own: &TrainingLoop,
    compile: Compile<'_>,
    done: &mut Vec<(FileId, CallId)>,
    found: &mut Vec<Step>,
) {
    let Compile { file, call, symbol } = compile;
    if let Given::Argument(option) = given(job, file, call, symbol, "jit_compile")
        && !done.contains(&(file, call))
        && is_true(job, file, option)
    {
        done.push((file, call));
        let finding =
            finding(job, file, call, own).label(job.facts.location(file, option.range), "compiled with XLA");
        let reason = "XLA does not compile Horovod's averaging: `jit_compile=True` has to go.";
        found.push(Step::blocked(finding, reason));
        return;
    }
    let argument = match given(job, file, call, symbol, OPTIMIZER) {
        Given::Argument(argument) => Some(argument),
        // A `compile` of the model's own keeps the optimizers itself.
        Given::Nothing if job.program.already_distributed && is_of_base(job, file, call) => return,
        Given::Nothing => None,
        Given::Hidden => {
            if let Some(makers) = makers_of_kept(job, &models_of(job, file, call)) {
                return distribute(job, own, makers, done, found);
            }
            if !done.contains(&(file, call)) {
                done.push((file, call));
                found.extend(unseen(job, file, call));
            }
            return;
        }
    };
    let origin = argument.map(|argument| (argument, Origin::of(job, file, argument.value)));
    if let Some((argument, Origin::Made(makers))) = origin {
        let optimizer = ((file, argument.value), Confidence::Certain);
        return distribute_those_of(job, own, optimizer, makers, done, found);
    }
    if done.contains(&(file, call)) {
        return;
    }
    done.push((file, call));
    let making = match &origin {
        None => omitted(job, file, call, symbol),
        Some((argument, Origin::Named(name))) => {
            named(job, (file, call), argument, name, Averages::Optimizer)
        }
        Some((argument, Origin::NamedLater)) => named_later(job, file, call, argument),
        Some((argument, Origin::Described(of, value))) => {
            described(job, (file, call), argument, (*of, *value))
        }
        Some((_, Origin::Made(_) | Origin::Unseen)) => {
            found.extend(unseen(job, file, call));
            return;
        }
    };
    let location =
        argument.map_or_else(|| job.at_call(file, call), |argument| job.facts.location(file, argument.range));
    let mut finding = finding(job, file, call, own);
    finding.primary.location = location;
    found.push(step(finding, making));
}

/// Whether a method calls that of its base class: `super().compile(...)`.
fn is_of_base(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let receiver = job.facts.receiver(file, job.facts.module(file).call(call));
    receiver.is_some_and(|receiver| {
        job.facts.objects(file, receiver).any(|(_, object)| matches!(object, Object::Super(..)))
    })
}

/// The steps for the optimizers of a value, which are made by these calls.
fn distribute_those_of(
    job: &Job<'_>,
    own: &TrainingLoop,
    (optimizer, sureness): (Place, Confidence),
    makers: Vec<(FileId, CallId)>,
    done: &mut Vec<(FileId, CallId)>,
    found: &mut Vec<Step>,
) {
    let is_doubtful = |&maker: &(FileId, CallId)| {
        sureness == Confidence::Possible
            || job.program.already_distributed && may_be_distributed_instead(job, optimizer, maker)
    };
    let (doubtful, others): (Vec<_>, Vec<_>) = makers.into_iter().partition(is_doubtful);
    distribute(job, own, others, done, found);
    if doubtful.is_empty() {
        return;
    }
    // Another loop may train with no other.
    let first = found.len();
    distribute(job, own, doubtful, &mut done.clone(), found);
    found[first..].iter_mut().for_each(|step| step.finding.confidence = Confidence::Possible);
}

/// The steps for optimizers that are made by these calls.
fn distribute(
    job: &Job<'_>,
    own: &TrainingLoop,
    makers: Vec<(FileId, CallId)>,
    done: &mut Vec<(FileId, CallId)>,
    found: &mut Vec<Step>,
) {
    for (file, call) in makers {
        // A function that several programs share gives back what each of them gives it.
        let is_run = job.facts.runs(job.program, file, call);
        if is_run && !done.contains(&(file, call)) && !job.is_alone(file, call) {
            done.push((file, call));
            let made = job.facts.of_kind(file, job.facts.module(file).call(call).result, Kind::Optimizer);
            if made.iter().any(|&optimizer| forms::may_be_averaged(job, optimizer)) {
                continue;
            }
            found.push(match made.into_iter().find_map(|optimizer| forms::form(job, optimizer)) {
                Some(form) => form.step(job, own),
                None if own.kind == LoopKind::KerasFit && is_of_graphs(job, file, call) => {
                    Step::blocked(finding(job, file, call, own), OF_GRAPHS)
                }
                None => step(finding(job, file, call, own), wrapped(job, file, call)),
            });
        }
    }
}

/// Whether a call makes an optimizer of TensorFlow 1, `tf.train.AdamOptimizer()`.
fn is_of_graphs(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let library = job.facts.library;
    let base = library.lookup("tensorflow.compat.v1.train.Optimizer");
    job.facts
        .called_symbols(file, call)
        .any(|own| own.is_class() && base.is_some_and(|base| library.is_subclass(own, base)))
}

/// Why such a one can't be given to Keras.
const OF_GRAPHS: &str = "Horovod's module for Keras makes optimizers again by their settings, which those of `tf.train` don't tell: \
                         give `compile` an optimizer of Keras.";

fn step(finding: Finding, making: Making) -> Step {
    match making {
        Making::Edits(edits, uses, everywhere) => {
            Step::change(finding, "distribute the optimizer", edits, uses).right_everywhere_in(everywhere)
        }
        Making::Fails(reason) => Step::blocked(finding, reason),
    }
}

fn finding(job: &Job<'_>, file: FileId, call: CallId, own: &TrainingLoop) -> Finding {
    let finding = forms::not_averaged(
        job,
        &RULE.rule,
        job.at_call(file, call),
        "the gradients of this optimizer are not averaged over the ranks",
    )
    .here("each rank would train by itself")
    .help("distribute the optimizer: `hvd.DistributedOptimizer(optimizer)`")
    .in_scope(job.scope_of(file, call));
    if (own.caller.file, own.call) == (file, call) {
        return finding;
    }
    finding.label(job.facts.location(own.caller.file, own.range), "trains with it")
}

/// The step for an optimizer that nobody sees; in a program that uses Horovod it may be right.
fn unseen(job: &Job<'_>, file: FileId, call: CallId) -> Option<Step> {
    // What makes a session for itself has another reason, which is told.
    if job.program.already_distributed || makes_session(job, file, call) {
        return None;
    }
    let finding = forms::not_averaged(
        job,
        &RULE.rule,
        job.at_call(file, call),
        "it can't be seen with which optimizer the model is trained",
    )
    .here("optimizer unknown")
    .help("give `compile` an optimizer that is made by a call of its class")
    .in_scope(job.scope_of(file, call));
    Some(Step::blocked(finding, "An optimizer that can't be found can't be distributed."))
}

fn is_true(job: &Job<'_>, file: FileId, argument: &Argument) -> bool {
    let mut objects = job.facts.objects(file, argument.value);
    objects.any(|(_, object)| object == Object::Literal(Literal::Bool(true)))
}

// ---- models from a file ----

/// The call that loaded a model, with the optimizer that it was saved with.
fn loaded(job: &Job<'_>, model: ObjectId) -> Option<(FileId, CallId)> {
    let (file, call) = job.facts.made_at(model)?;
    let loads = |symbol: &Symbol| symbol.has(Effect::LoadsModel);
    job.facts.called_symbols(file, call).any(loads).then_some((file, call))
}

fn is_loaded_distributed(job: &Job<'_>, model: ObjectId) -> bool {
    let distributes = |(file, call)| {
        job.facts.called_symbols(file, call).any(|symbol: &Symbol| symbol.has(Effect::Distributes))
    };
    loaded(job, model).is_some_and(distributes)
}

/// The step for a model that is loaded and trained on.
fn load(job: &Job<'_>, own: &TrainingLoop, (file, call): (FileId, CallId)) -> Option<Step> {
    let facts = job.facts;
    let symbol = facts.called_symbols(file, call).find(|symbol| symbol.has(Effect::LoadsModel))?;
    // What is loaded behind the training, such as to evaluate it, is not trained on.
    let trains = (own.caller.file, own.call);
    let is_over = || {
        facts.may_follow(job.program, trains, (file, call))
            && !facts.may_follow(job.program, (file, call), trains)
    };
    if symbol.has(Effect::Distributes)
        || job.is_alone(file, call)
        || loading::makes_distributed(job, file, call)
        || is_over()
    {
        return None;
    }
    let finding = forms::not_averaged(
        job,
        &RULE.rule,
        job.at_call(file, call),
        "the model is loaded with an optimizer that does not average gradients over the ranks",
    )
    .here("each rank would train by itself")
    .help("load it by `hvd.load_model`, which distributes its optimizer")
    .label(facts.location(own.caller.file, own.range), "trained here")
    .in_scope(job.scope_of(file, call));
    Some(step(finding, loading::by_horovod(job, file, call)))
}
