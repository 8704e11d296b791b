//! The tape whose gradients update variables averages them over the ranks.
//!
//! The seed's rule `GradientTape` (section 2.4): `tape = hvd.DistributedGradientTape(tape)` behind the block. A tape
//! whose gradients are those of inputs (a penalty, an adversarial example) stays as it is: averaging them would mix
//! the examples of different ranks.

use super::distribution_rule;
use super::job::Job;
use super::keras::STEP;
use super::layer_variables::{SINGLE, VARIABLES, is_of_layer};
use super::optimizer::forms;
use super::step::Step;
use crate::api::{Effect, Kind, Symbol};
use crate::finding::{Edit, Finding};
use crate::program::{Facts, Object, ObjectId, TrainingLoop};
use crate::project::FileId;
use crate::rewrite::{Moved, Text};
use crate::semantic::{
    CallId, Container, DefinitionKind, Element, StatementId, StatementKind, StoreKey, Value, ValueId,
};
use crate::syntax::TextRange;

distribution_rule!("HVD205", "tape-not-distributed", steps);

fn steps(job: &Job<'_>) -> Vec<Step> {
    job.tape_loops()
        .filter(|own| !averages(job, own) && !forms::is_of_others(job, own))
        .filter(|own| !job.facts.averages_weights(job.program, own) && !leaves_step_to_library(job, own))
        .filter_map(|own| match own.tape.and_then(|tape| forms::form(job, tape)) {
            Some(form) => Some(form.step(job, own)),
            None => step(job, own),
        })
        .collect()
}

/// Whether what a tape gives is not applied in the code that makes it, and Keras' own step is made there instead: `super().train_step(data)`
/// with examples that were made worse along a gradient.
fn leaves_step_to_library(job: &Job<'_>, own: &TrainingLoop) -> bool {
    let facts = job.facts;
    let is_step = |symbol: &Symbol| symbol.last_name() == STEP && symbol.name().starts_with(KERAS);
    !own.steps.is_empty()
        && own.by_hand.is_empty()
        && own.steps.iter().all(|&(file, call)| facts.called_symbols(file, call).any(is_step))
}

/// How the names of Keras' members begin.
const KERAS: &str = "tensorflow.keras.";

/// Whether gradients of the loop are averaged already: the tape is distributed, or what is taken from it is reduced
/// before it is applied.
pub(super) fn averages(job: &Job<'_>, own: &TrainingLoop) -> bool {
    let facts = job.facts;
    let is_distributed = own.gradients.iter().all(|&(file, call)| {
        let receiver = facts.receiver(file, facts.module(file).call(call));
        let tapes = receiver.map_or_else(Vec::new, |receiver| facts.of_kind(file, receiver, Kind::Tape));
        if receiver.is_some_and(|receiver| forms::may_be_of_others(job, file, receiver))
            || forms::are_chosen_by_others(job, file, call)
        {
            return true;
        }
        !tapes.is_empty()
            && tapes
                .iter()
                .all(|&tape| is_distributed_tape(facts, tape) || forms::takes_place(facts, &tapes, tape))
    });
    is_distributed
        || own.steps.is_empty() && averages_later(job)
        || own.steps.iter().chain(&own.by_hand).any(|&(file, call)| is_reduced(facts, file, call))
}

fn is_distributed_tape(facts: &Facts<'_>, tape: ObjectId) -> bool {
    facts.creation(tape).is_some_and(|made| {
        facts.called_symbols(made.file, made.call).any(|symbol| symbol.has(Effect::Distributes))
    })
}

/// Whether `minimize` is given a distributed tape, which averages what the optimizer takes from it.
pub(super) fn is_given_distributed(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let mut given = facts.module(file).call(call).arguments.iter();
    given.any(|own| {
        facts.of_kind(file, own.value, Kind::Tape).into_iter().any(|tape| is_distributed_tape(facts, tape))
    })
}

/// Whether a distributed program averages by hand: what a loop without a step of its own gathers in variables may be
/// averaged when it is applied.
fn averages_later(job: &Job<'_>) -> bool {
    job.program.already_distributed
        && job.calls().any(|(file, call)| {
            let applies = |symbol: &Symbol| symbol.has(Effect::Averages) && !symbol.has(Effect::UpdatesState);
            job.facts.called_symbols(file, call).any(applies)
        })
}

/// Whether a collective average stands on the way to a step.
fn is_reduced(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let mut given = facts.module(file).call(call).arguments.iter();
    given.any(|argument| facts.averaged().contains(&(file, argument.value)))
}

fn step(job: &Job<'_>, own: &TrainingLoop) -> Option<Step> {
    let file = own.caller.file;
    let module = job.facts.module(file);
    let text = job.text(file)?;
    let header = module.statement(own.statement);
    let mut finding = forms::not_averaged(
        job,
        &RULE.rule,
        forms::place(job, own),
        "the gradients of this tape are not averaged over the ranks",
    )
    .confidence(forms::sureness(job, own))
    .here("each rank would train by itself")
    .help("distribute the tape behind its block: `tape = hvd.DistributedGradientTape(tape)`")
    .in_scope(job.facts.scope_name(own.caller));
    if job.program.already_distributed {
        finding = finding.label(job.facts.location(file, own.range), "the tape");
    }
    if header.kind != StatementKind::With {
        let reason = "The tape is not the manager of a `with` block, behind which it could be distributed.";
        return Some(Step::blocked(finding, reason));
    }
    let Some(name) = own.tape.and_then(|tape| target(job, file, own.statement, tape)) else {
        let reason = "The `with` statement gives the tape no name of its own.";
        return Some(Step::blocked(finding, reason));
    };
    let (hvd, import) = job.horovod(file);
    let mut edits = Vec::new();
    let mut inside = None;
    for &(of, call) in &own.gradients {
        let place = job.facts.module(of).call(call);
        let job_text = job.text(of)?;
        match sources(job.facts, of, call) {
            Sources::List => {}
            Sources::Single(range) => edits.extend(single(job_text, place.range, range)),
            Sources::Unfit(reason) => {
                return Some(Step::blocked(finding.label(job.at_call(of, call), "taken here"), reason));
            }
        }
        if of == file && place.scope == own.caller.scope && header.range.contains_range(place.range) {
            inside = Some(place.statement);
        }
    }
    if let Some(plain) = plain_gradients(job, own) {
        let reason =
            "The same tape also gives gradients that no step applies: those must stay each rank's own.";
        return Some(Step::blocked(finding.label(job.at_call(plain.0, plain.1), "not applied"), reason));
    }
    let wrapping = format!("{name} = {hvd}.DistributedGradientTape({name})");
    match inside {
        None => edits.extend(text.after(own.statement, &[&wrapping])),
        Some(_) => match leave_block(job, text, own, &hvd) {
            Some(moved) => edits.extend(moved),
            None => return Some(blocked_inside(finding, job, own)),
        },
    }
    Some(Step::change(finding, "distribute the tape", edits, vec![import]))
}

fn blocked_inside(finding: Finding, job: &Job<'_>, own: &TrainingLoop) -> Step {
    let finding = own.gradients.iter().fold(finding, |finding, &(file, call)| {
        finding.label(job.at_call(file, call), "taken inside the block")
    });
    Step::blocked(
        finding,
        "A distributed tape gives no gradients inside its own block, and the statements can't be moved out of it.",
    )
}

/// The name or attribute that a `with` statement binds the tape to, as it is written.
fn target(job: &Job<'_>, file: FileId, statement: StatementId, tape: ObjectId) -> Option<String> {
    let module = job.facts.module(file);
    let is_tape = |value: ValueId| job.facts.solution.values(file, value) == [tape];
    let named = module.definitions.iter().find(|definition| {
        definition.statement == Some(statement)
            && definition.kind == DefinitionKind::With
            && is_tape(definition.value)
    });
    if let Some(definition) = named {
        return Some(module.variable_name(definition.variable).to_owned());
    }
    let stored = module.stores.iter().find(|store| {
        store.statement == statement && matches!(store.key, StoreKey::Attribute(_)) && is_tape(store.value)
    })?;
    Some(job.text(file)?.slice(stored.range).to_owned())
}

/// What gradients are taken of.
pub(crate) enum Sources {
    /// A list of variables, as Horovod needs it.
    List,
    /// One variable, at this place.
    Single(TextRange),
    /// Something that Horovod's tape can't do.
    Unfit(&'static str),
}

/// What a call takes gradients of, as Horovod's tape sees it.
pub(crate) fn sources(facts: &Facts<'_>, file: FileId, call: CallId) -> Sources {
    let data = facts.module(file).call(call);
    let Some(argument) = facts
        .called_symbols(file, call)
        .find_map(|symbol| facts.argument(file, data, symbol, "sources"))
        .or_else(|| data.arguments.get(1))
    else {
        return Sources::Unfit("It can't be seen of which variables the gradients are taken.");
    };
    let refused = facts
        .called_symbols(file, call)
        .any(|symbol| facts.argument(file, data, symbol, "unconnected_gradients").is_some());
    if refused {
        return Sources::Unfit("A distributed tape has no `unconnected_gradients`.");
    }
    if facts.called_symbols(file, call).any(|symbol| symbol.parameter("output_gradients").is_none()) {
        return Sources::Unfit("A distributed tape only has `gradient`: no Jacobians.");
    }
    if facts.may_be(file, argument.value, Kind::Variable) {
        return Sources::Single(argument.range);
    }
    let unfit = facts
        .objects(file, argument.value)
        .any(|(_, object)| matches!(object, Object::Container(Container::Dict | Container::Set, _)));
    if unfit {
        return Sources::Unfit("A distributed tape takes gradients of a list of variables only.");
    }
    if facts.is_unknown(file, argument.value) && is_of_layer(facts, file, argument.value, &SINGLE) {
        return Sources::Unfit("It can't be seen whether gradients are taken of one variable or of a list.");
    }
    if let Value::Display(_, elements) = &facts.module(file).value(argument.value).value {
        let nested = elements.iter().any(|element| match element {
            Element::At(_, value) | Element::Any(value) => {
                facts.objects(file, *value).any(|(_, object)| matches!(object, Object::Container(..)))
                    || is_of_layer(facts, file, *value, &VARIABLES)
                    || matches!(facts.module(file).value(*value).value, Value::Attribute { base, .. }
                        if facts.may_be(file, base, Kind::Model) || facts.may_be(file, base, Kind::Layer))
                        && !facts.may_be(file, *value, Kind::Variable)
            }
            _ => false,
        });
        if nested {
            return Sources::Unfit("A distributed tape takes gradients of a flat list of variables only.");
        }
    }
    Sources::List
}

/// `tape.gradient(loss, w)` becomes `tape.gradient(loss, [w])[0]`.
fn single(text: Text<'_>, call: TextRange, source: TextRange) -> Vec<Edit> {
    let mut edits = text.wrap(source, "[", "]");
    edits.push(text.insert(call.end(), "[0]"));
    edits
}

/// A gradient that is taken from the loop's tape and reaches none of its steps.
fn plain_gradients(job: &Job<'_>, own: &TrainingLoop) -> Option<(FileId, CallId)> {
    let facts = job.facts;
    own.gradients.iter().copied().find(|&(file, call)| {
        let result = (file, facts.module(file).call(call).result);
        let influenced = facts.influence().forwards(&[result], |_| false);
        let mut applied = own.steps.iter().chain(&own.by_hand).flat_map(|&(file, call)| {
            facts.module(file).call(call).arguments.iter().map(move |argument| (file, argument.value))
        });
        !applied.any(|place| influenced.contains(&place))
    })
}

/// Moves the end of a tape's block out of it, from the first statement that takes gradients: what is done there
/// needs no recording. The wrapping comes in between. Tapes of one statement all leave it so, each with the same edits.
fn leave_block(job: &Job<'_>, text: Text<'_>, own: &TrainingLoop, hvd: &str) -> Option<Vec<Edit>> {
    let body = text.body(own.statement);
    let first = first_outside(job, text, own, &body)?;
    let names = of_one_statement(job, own)
        .map(|own| own.tape.and_then(|tape| target(job, text.file, own.statement, tape)))
        .collect::<Option<Vec<String>>>()?;
    let wrappings: Vec<String> =
        names.iter().map(|name| format!("{name} = {hvd}.DistributedGradientTape({name})")).collect();
    text.dedent(own.statement, &body[first..], &wrappings)
}

/// The loops whose tapes are managers of the same statement.
fn of_one_statement<'j>(job: &'j Job<'_>, own: &'j TrainingLoop) -> impl Iterator<Item = &'j TrainingLoop> {
    job.tape_loops()
        .filter(|other| other.caller.file == own.caller.file && other.statement == own.statement)
        .filter(|other| !averages(job, other))
}

/// The first statement of a tape's block that takes gradients, if all from there on can leave the block.
fn first_outside(job: &Job<'_>, text: Text<'_>, own: &TrainingLoop, body: &[StatementId]) -> Option<usize> {
    let file = text.file;
    let takes = |statement: &StatementId| {
        let range = text.module.statement(*statement).range;
        of_one_statement(job, own)
            .flat_map(|own| &own.gradients)
            .any(|&(of, call)| of == file && range.contains_range(job.facts.module(file).call(call).range))
    };
    let first = body.iter().position(takes)?;
    // What other managers of the statement do for its block must go on; tapes that have all given their gradients one
    // after the other have nothing more to record.
    let managers = text.module.managers.iter().filter(|&&(_, of)| of == own.statement).count();
    let is_over = || {
        let behind = body[first..].iter().skip_while(|statement| takes(statement));
        managers == of_one_statement(job, own).count() && !behind.into_iter().any(takes)
    };
    (first > 0 && (managers <= 1 || is_over())).then_some(first)
}

/// The ends of blocks that leave them, so that other edits know where their lines stand.
pub(super) fn moved(job: &Job<'_>) -> Vec<Moved> {
    let loops = job.tape_loops().filter(|own| !averages(job, own));
    let moved = loops.filter_map(|own| {
        let file = own.caller.file;
        let text = job.text(file)?;
        if text.module.statement(own.statement).kind != StatementKind::With {
            return None;
        }
        let body = text.body(own.statement);
        let first = first_outside(job, text, own, &body)?;
        text.moved(own.statement, &body[first..])
    });
    moved.collect()
}
