//! Distributed forms of tapes and optimizers: whose place they take, and which of them nobody uses.
//! `hvd.DistributedOptimizer(optimizer)` gives a new object and leaves the old one as it is.

use super::super::job::Job;
use super::super::ranked::is_for_one_rank;
use super::super::step::Step;
use super::rank_local;
use crate::api::{Effect, Kind};
use crate::finding::{Confidence, Finding, Level, Location, Rule};
use crate::program::{CallEdge, Facts, Object, ObjectId, Place, TrainingLoop};
use crate::project::FileId;
use crate::ranks::gradients_not_averaged;
use crate::semantic::{CallId, CallKind, Role, Value, ValueId};

/// A call that makes a distributed form which nobody uses.
#[derive(Clone, Copy, Debug)]
pub(in crate::distribute) struct Form {
    file: FileId,
    call: CallId,
}

/// Whether among the objects that a value may be there is a distributed form of one of them: it is used where it was
/// made, `if distributed: optimizer = hvd.DistributedOptimizer(optimizer)`.
pub(in crate::distribute) fn takes_place(facts: &Facts<'_>, objects: &[ObjectId], of: ObjectId) -> bool {
    objects.iter().filter_map(|&form| facts.made_at(form)).any(|(file, call)| {
        let arguments = &facts.module(file).call(call).arguments;
        is_form(facts, file, call)
            && arguments
                .first()
                .is_some_and(|argument| facts.solution.values(file, argument.value).contains(&of))
    })
}

/// Whether a tape of a distributed program may have been made by a library that nobody knows, which may distribute it.
pub(in crate::distribute) fn may_be_of_others(job: &Job<'_>, file: FileId, value: ValueId) -> bool {
    let is_other = |(id, object): (ObjectId, Object)| {
        matches!(object, Object::Created(..)) && job.facts.kind(id) != Some(Kind::Tape)
    };
    job.program.already_distributed && job.facts.objects(file, value).any(is_other)
}

/// Whether in a distributed program a library that nobody knows has chosen the variables that gradients are taken of:
/// it may keep other ones on each rank.
pub(in crate::distribute) fn are_chosen_by_others(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let data = facts.module(file).call(call);
    let mut sources = facts.called_symbols(file, call);
    let sources = sources.find_map(|symbol| facts.argument(file, data, symbol, "sources"));
    let Some(sources) = sources.filter(|_| job.program.already_distributed) else { return false };
    let is_unknown_library = |(file, value): Place| match facts.module(file).value(value).value {
        Value::Call(call) => facts.callees(file, call).iter().any(|edge| {
            let callee = facts.solution.object(edge.callee);
            matches!(callee, Object::External(_)) && facts.symbol(callee).is_none()
        }),
        _ => false,
    };
    let behind = facts.influence().backwards(&[(file, sources.value)], |_| false);
    behind.into_iter().any(is_unknown_library)
}

/// Whether a function of a distributed program is given an optimizer, and averages by itself somewhere in its text:
/// `average_gradients_of(optimizer)` puts methods in the place of the optimizer's own.
pub(super) fn may_be_averaged(job: &Job<'_>, optimizer: ObjectId) -> bool {
    let facts = job.facts;
    if !job.program.already_distributed {
        return false;
    }
    let averages: Vec<Location> = facts
        .calls_with(Effect::Averages)
        .filter(|&(file, call)| facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Collective)))
        .map(|(file, call)| job.at_call(file, call))
        .collect();
    let takes = |&(file, call): &(FileId, CallId)| {
        let arguments = &facts.module(file).call(call).arguments;
        arguments.iter().any(|own| facts.solution.values(file, own.value).contains(&optimizer))
    };
    !averages.is_empty()
        && job.calls().filter(takes).flat_map(|(file, call)| facts.called_functions(file, call)).any(
            |function| {
                let module = facts.module(function.file);
                let text = module.function(function.function).statement.map(|id| module.statement(id).range);
                text.is_some_and(|text| {
                    let own = facts.location(function.file, text);
                    averages.iter().any(|at| at.file == own.file && text.contains_range(at.text_range()))
                })
            },
        )
}

/// How sure it is that a distributed program does not average the gradients of a loop: what nobody knows on their way to
/// the step may do it, `optimizer._aggregate_gradients(gradients)`.
pub(in crate::distribute) fn sureness(job: &Job<'_>, own: &TrainingLoop) -> Confidence {
    let facts = job.facts;
    if !job.program.already_distributed {
        return Confidence::Certain;
    }
    if facts.keeps_models_apart(job.program) {
        return Confidence::Possible;
    }
    let taken = own.gradients.iter().map(|&(file, call)| (file, facts.module(file).call(call).result));
    let steps = own.steps.iter().chain(&own.by_hand).flat_map(|&(file, call)| {
        facts.module(file).call(call).arguments.iter().map(move |argument| (file, argument.value))
    });
    let behind = facts.influence().forwards(&taken.collect::<Vec<Place>>(), |_| false);
    let before = facts.influence().backwards(&steps.collect::<Vec<Place>>(), |_| false);
    let is_between = |&(file, call): &(FileId, CallId)| {
        let data = facts.module(file).call(call);
        before.contains(&(file, data.result))
            && data.arguments.iter().any(|own| behind.contains(&(file, own.value)))
    };
    let mut between = job.calls().filter(is_between);
    if between.any(|(file, call)| is_unknown(facts, file, call)) || rank_local::may_be_trained(job, own) {
        Confidence::Possible
    } else {
        Confidence::Certain
    }
}

/// Whether nobody knows what a call calls: another library's function, or a method that no optimizer is known to have.
fn is_unknown(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let edges = facts.callees(file, call);
    let receiver = facts.receiver(file, facts.module(file).call(call));
    let is_of_optimizer = || receiver.is_some_and(|own| facts.may_be(file, own, Kind::Optimizer));
    let is_unknown = |edge: &CallEdge| match facts.solution.object(edge.callee) {
        Object::Unknown => true,
        object @ Object::External(external) => {
            let path = &facts.solution.externals.get(external).path;
            facts.symbol(object).is_none() && (is_of_optimizer() || !facts.library.is_training_library(path))
        }
        _ => false,
    };
    edges.is_empty() || edges.iter().any(is_unknown)
}

/// Whether a call makes a distributed form of an object.
fn is_form(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    facts
        .called_symbols(file, call)
        .any(|symbol| symbol.has(Effect::Distributes) && !symbol.has(Effect::LoadsModel))
}

/// The unused form of an object, if there is one.
pub(in crate::distribute) fn form(job: &Job<'_>, object: ObjectId) -> Option<Form> {
    let facts = job.facts;
    let mut forms = job.calls().filter(|&(file, call)| {
        let data = facts.module(file).call(call);
        is_form(facts, file, call)
            && data
                .arguments
                .first()
                .is_some_and(|argument| facts.objects(file, argument.value).any(|(id, _)| id == object))
            && is_unused(job, file, call)
    });
    forms.next().map(|(file, call)| Form { file, call })
}

/// Whether nobody reads what a call gives.
fn is_unused(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let data = facts.module(file).call(call);
    let is_read = || {
        // Where ways join the value may go on under its name; that alone is no reading.
        let reached = facts.influence().forwards(&[(file, data.result)], |_| false);
        let is_name = |&(of, value): &Place| {
            (of, value) == (file, data.result)
                || of == file && matches!(facts.module(of).value(value).value, Value::Phi(_))
        };
        !reached.iter().all(is_name)
            || facts.module(file).uses.iter().any(|reading| reached.contains(&(file, reading.value)))
    };
    match data.role {
        _ if data.kind != CallKind::Expression => false,
        Role::Statement => true,
        Role::Assigned => !is_read(),
        _ => false,
    }
}

/// What is said of gradients that are not averaged: a step that is missing, or, of a program that communicates already,
/// that its ranks train by themselves.
pub(in crate::distribute) fn not_averaged(
    job: &Job<'_>,
    rule: &'static Rule,
    location: Location,
    message: impl Into<String>,
) -> Finding {
    if job.program.already_distributed {
        return Finding::new(&gradients_not_averaged::RULE, Level::Error, location, message);
    }
    Step::missing(rule, location, message)
}

impl Form {
    /// The step that uses the form: it takes the place of what it was made of.
    pub(in crate::distribute) fn step(self, job: &Job<'_>, own: &TrainingLoop) -> Step {
        let Self { file, call } = self;
        let data = job.facts.module(file).call(call);
        let finding = Finding::new(
            &gradients_not_averaged::RULE,
            Level::Error,
            job.at_call(file, call),
            "the distributed form is not used: the gradients are not averaged over the ranks",
        )
        .here("a new object")
        .label(place(job, own), "trains with the old one")
        .help("give the new object the name of the old one")
        .in_scope(job.scope_of(file, call));
        let name = job.text(file).and_then(|text| {
            let argument = data.arguments.first()?;
            let is_name = data.role == Role::Statement && text.is_chain(argument.range);
            is_name.then(|| (text.slice(argument.range), text))
        });
        let Some((name, text)) = name else {
            return Step::blocked(
                finding,
                "Which object the program is to train with has to be decided by hand.",
            );
        };
        let edits = vec![text.insert(data.range.start(), format!("{name} = "))];
        Step::change(finding, "train with the distributed form", edits, Vec::new())
    }
}

/// Where a loop is reported: in a program that is distributed already, where it changes variables.
pub(in crate::distribute) fn place(job: &Job<'_>, own: &TrainingLoop) -> Location {
    match own.steps.iter().chain(&own.by_hand).next() {
        Some(&(file, call)) if job.program.already_distributed => job.at_call(file, call),
        _ => job.facts.location(own.caller.file, own.range),
    }
}

/// Whether a loop of a distributed program trains on one rank only, so that there is nothing to average with, or the
/// program may see to it in another way.
pub(in crate::distribute) fn is_of_others(job: &Job<'_>, own: &TrainingLoop) -> bool {
    let (file, call) = (own.caller.file, own.call);
    job.program.already_distributed
        && (is_for_one_rank(job, file, call)
            || job.is_alone(file, call)
            || job.facts.is_distributed_elsewhere(own))
}
