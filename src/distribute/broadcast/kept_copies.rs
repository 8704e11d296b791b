//! Variables that begin as copies of what is trained: `shadow = [tf.Variable(v) for v in model.trainable_variables]`. They
//! are made in front of the broadcast, so that each rank would keep a copy of its own weights: the model is broadcast
//! in front of them, too.

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::super::layer_variables::VARIABLES;
use super::super::obstacles::is_conditional;
use super::super::started::runs_started;
use super::super::step::Step;
use super::super::unstarted::Runs;
use super::copied::UNNAMED;
use super::site::is_statement_repeated;
use crate::api::{Effect, Kind, Symbol};
use crate::finding::{Finding, Location, Rule};
use crate::program::{Caller, ObjectId, Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{CallId, StatementId, Value, ValueId};

/// The broadcasts in front of copies.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let facts = job.facts;
    if job.program.already_distributed {
        return Vec::new();
    }
    let variables = variables_of(job, job.program.loops.iter().filter(|own| !job.is_fit(own)));
    if variables.is_empty() {
        return Vec::new();
    }
    let copies = facts.influence().forwards(&variables, |place| is_made(job, place));
    let is_copied = |place: Place| copies.contains(&place) && !is_made(job, place);
    let mut found = Vec::new();
    let mut seen: FxHashSet<(FileId, StatementId)> = FxHashSet::default();
    for made in &facts.creations {
        let (file, id) = (made.file, made.call);
        let call = facts.module(file).call(id);
        let is_copy = made.kind == Kind::Variable
            && !made.derived
            && job.runs(file, id)
            && call.arguments.first().map(|initial| (file, initial.value)).is_some_and(is_copied)
            && !is_statement_repeated(job, file, id)
            && trains_behind(job, file, id);
        if is_copy && seen.insert((file, call.statement)) {
            found.extend(broadcast(job, rule, (file, id), &copies));
        }
    }
    found
}

/// The variables of the models that loops train, where they are asked for.
pub(in crate::distribute) fn variables_of<'j>(
    job: &Job<'_>,
    loops: impl Iterator<Item = &'j TrainingLoop>,
) -> Vec<Place> {
    let facts = job.facts;
    let trained: FxHashSet<ObjectId> = loops.flat_map(|own| own.models.iter().copied()).collect();
    let mut found = Vec::new();
    for file in job.program.files() {
        if !facts.has_any(file, |kind| kind == Kind::Model) {
            continue;
        }
        let module = facts.module(file);
        for (index, evaluation) in module.values.iter().enumerate() {
            if let Value::Attribute { base, name, .. } = evaluation.value
                && VARIABLES.contains(&module.names.text(name))
                && facts.objects(file, base).any(|(id, _)| trained.contains(&id))
            {
                found.push((file, ValueId::new(index)));
            }
        }
    }
    found
}

/// The package of Python's own functions.
const BUILTINS: &str = "builtins";

/// Whether a value is made anew by the library, such as `tf.zeros_like(weight)`, and does not hold what it is given.
fn is_made(job: &Job<'_>, (file, value): Place) -> bool {
    let Value::Call(call) = job.facts.module(file).value(value).value else { return false };
    // `zip(weights, names)`
    let lists = |own: &Symbol| own.has(Effect::KeepsLength) && own.package() == BUILTINS;
    let hands_on = |own: &Symbol| own.has(Effect::KeepsValue) || lists(own);
    !job.facts.called_symbols(file, call).all(hands_on)
}

/// Whether a step of training may follow a call.
pub(in crate::distribute) fn trains_behind(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let mut steps = job.leading_to_steps().calls.iter();
    steps.any(|&step| job.facts.may_follow(job.program, (file, call), step))
}

fn finding(rule: &'static Rule, at: Location) -> Finding {
    let message = "each rank copies the weights that it begins with itself";
    Step::missing(rule, at, message)
        .here("copies of the rank's own")
        .help("broadcast the variables of rank 0 before they are copied")
}

/// `hvd.broadcast_variables(model.trainable_variables, root_rank=0)` in front of the statement that copies them; `copies` are
/// the variables of models and what hands them on.
fn broadcast(
    job: &Job<'_>,
    rule: &'static Rule,
    (file, id): (FileId, CallId),
    copies: &FxHashSet<Place>,
) -> Option<Step> {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let finding = finding(rule, job.at_call(file, id)).in_scope(job.scope_of(file, id));
    let text = job.text(file)?;
    let code = job.code(file, call.scope);
    let caller = Caller { file, scope: call.scope };
    let within = text.module.statement(call.statement).range;
    let named = text.module.values.iter().enumerate().find_map(|(index, evaluation)| {
        let place = (file, ValueId::new(index));
        let range = evaluation.range;
        let is_list =
            !matches!(evaluation.value, Value::Iteration(_) | Value::Unpack { .. } | Value::Item { .. });
        (within.contains_range(range) && is_list && copies.contains(&place) && text.is_chain(range))
            .then_some(range)
    });
    match named {
        Some(name)
            if runs_started(job, file, id)
                && code.runs == Runs::Started
                && !is_conditional(job, caller, call.block)
                && !job.traced.contains(&caller) =>
        {
            let line = format!("{}.broadcast_variables({}, root_rank=0)", code.horovod, text.slice(name));
            let edits = text.above(call.statement, &[&line]);
            Some(code.step(Step::change(finding, "broadcast what is copied", edits, vec![code.import])))
        }
        _ => Some(Step::blocked(finding, UNNAMED)),
    }
}
