//! Whether objects are created once, by `name = call(...)`, and have that name only.

use super::Context;
use super::aliases::aliases;
use super::containers::{Containers, LOST, is_lost};
use super::objects::{Family, noun};
use super::second_names::second_name;
use super::sources::{Source, flow, sources};
use crate::api::{Effect, Kind};
use crate::finding::{Finding, Level, Rule};
use crate::normalise;
use crate::program::{Facts, LoopKind, ObjectId, Repeated, loop_around};
use crate::semantic::{DefinitionKind, Role, StoreKey, Value};

/// The objects of the family that are not created once by an assignment, and their second names.
#[must_use]
pub fn findings(context: Context<'_>, rule: &'static Rule, family: Family) -> Vec<Finding> {
    let facts = context.facts;
    let containers = Containers::new(facts);
    let sources = sources(facts, family);
    let created = sources.iter().filter_map(|source| created(context, rule, source, &containers));
    let files = facts.files().filter(|&file| facts.has_any(file, |kind| family.has(kind)));
    let aliases = files.flat_map(|file| aliases(facts, file, family));
    created.chain(aliases.map(|alias| second_name(context, rule, &alias, &containers))).collect()
}

fn created(
    context: Context<'_>,
    rule: &'static Rule,
    source: &Source,
    containers: &Containers<'_, '_>,
) -> Option<Finding> {
    let facts = context.facts;
    let counts = |why: &Repeated| context.strict || !is_for_keras(facts, source, why);
    let mut finding = if let Some(why) = repetition(facts, source).filter(counts) {
        repeated(context, rule, source, why)
    } else {
        inline(context, rule, source, containers)?
    };
    finding.flow = flow(facts, source);
    Some(finding.confidence(source.confidence(facts)).in_scope(facts.scope_name(source.caller(facts))))
}

/// Whether an optimizer steps in Keras alone: each model gets its own from `compile`, distributed where it is made, and
/// each call of `fit` broadcasts what it begins with. A loop over `train_on_batch` does so too, unless its turns make
/// other models.
fn is_for_keras(facts: &Facts<'_>, source: &Source, why: &Repeated) -> bool {
    let forms = distributed_forms(facts, source.creation.object);
    let mut loops = facts
        .programs
        .iter()
        .flat_map(|program| &program.loops)
        .filter(|own| own.optimizers.iter().any(|optimizer| forms.contains(optimizer)))
        .peekable();
    loops.peek().is_some()
        && loops.all(|own| {
            let calls_back = || {
                facts
                    .called_symbols(own.caller.file, own.call)
                    .any(|symbol| symbol.parameter("callbacks").is_some())
            };
            own.kind == LoopKind::KerasFit && (matches!(why, Repeated::Calls(..)) || calls_back())
        })
}

/// An optimizer and what Horovod makes of it.
fn distributed_forms(facts: &Facts<'_>, optimizer: ObjectId) -> Vec<ObjectId> {
    let mut forms = vec![optimizer];
    for (file, call) in facts.calls_with(Effect::Distributes) {
        let data = facts.module(file).call(call);
        let takes_it = data
            .arguments
            .iter()
            .any(|argument| facts.of_kind(file, argument.value, Kind::Optimizer).contains(&optimizer));
        if takes_it {
            forms.extend(facts.of_kind(file, data.result, Kind::Optimizer));
        }
    }
    forms
}

/// Why a creation runs more than once.
fn repetition(facts: &Facts<'_>, source: &Source) -> Option<Repeated> {
    let caller = source.caller(facts);
    let call = facts.module(caller.file).call(source.creation.call);
    loop_around(facts, caller.file, call.statement, call.block, caller)
        .map(|around| Repeated::Loop(caller.file, around))
        .or_else(|| facts.repetition().of_block(facts, caller, call.block))
}

fn repeated(context: Context<'_>, rule: &'static Rule, source: &Source, why: Repeated) -> Finding {
    let facts = context.facts;
    let (name, place) = (source.name(facts), source.place(facts));
    // The rules act on a dataset where it is read, whichever of several it is.
    let level = if source.creation.kind == Kind::Dataset { context.warning() } else { Level::Error };
    let finding = |how: &str| {
        Finding::new(rule, level, place, format!("{name} is created {how}")).here("created again and again")
    };
    match why {
        Repeated::Calls((first, range), (second, again)) => {
            finding("by a function that is called more than once")
                .label(facts.location(first, range), "called here")
                .label(facts.location(second, again), "called again here")
                .help("call the function that creates the object once, or create it outside and pass it in")
        }
        Repeated::Loop(file, statement) => {
            let around = facts.module(file).statement(statement);
            let inside = file == place.file && around.range.contains_range(place.text_range());
            let how =
                if inside { "in every turn of a loop" } else { "by a function that is called in a loop" };
            finding(how)
                .label(facts.location(file, around.header), "repeated by this loop")
                .help("create the object once, before the loop")
        }
        Repeated::Otherwise => finding("by a function that may be called more than once")
            .help("create the object outside of the function and pass it in"),
    }
}

fn inline(
    context: Context<'_>,
    rule: &'static Rule,
    source: &Source,
    containers: &Containers<'_, '_>,
) -> Option<Finding> {
    let facts = context.facts;
    let (how, lost) = elsewhere(facts, source, containers)?;
    let level = if lost { Level::Error } else { context.warning() };
    let finding =
        Finding::new(rule, level, source.place(facts), format!("{} is created {how}", source.name(facts)))
            .here("created here")
            .help("create the object by `name = call(...)` just before this statement and use the name here");
    if lost {
        return Some(finding.note(LOST));
    }
    // In an attribute or a container the object would have two names.
    let keeps_one_name = matches!(
        source.role,
        Role::Argument(_)
            | Role::Returned
            | Role::Iterated
            | Role::Operand
            | Role::Receiver
            | Role::Statement
    );
    let whole = source.call(facts);
    let wish = noun(source.creation.kind).rsplit(' ').next().unwrap_or("object");
    let fix = keeps_one_name
        .then(|| normalise::hoist(context, source.creation.file, whole.statement, &[whole.range], wish))
        .flatten();
    Some(Finding { fix, ..finding })
}

/// Where an object is created if not by `name = call(...)`, and whether it is lost there.
fn elsewhere(
    facts: &Facts<'_>,
    source: &Source,
    containers: &Containers<'_, '_>,
) -> Option<(&'static str, bool)> {
    let file = source.creation.file;
    let module = facts.module(file);
    let whole = source.call(facts);
    match source.role {
        Role::Assigned => None,
        Role::Stored => {
            let store = module.stores.iter().find(|store| store.value == whole.result);
            Some(match store.map(|store| (store, store.key)) {
                None => ("for several targets", false),
                Some((store, StoreKey::Attribute(_))) => {
                    ("in an attribute", is_lost(facts, file, store.base))
                }
                Some((store, _)) => (
                    "in a container",
                    is_lost(facts, file, store.base) || containers.lose(source.creation.object),
                ),
            })
        }
        Role::Argument(_) => Some(("inside of an argument", false)),
        Role::Element => Some(("in a container", containers.lose(source.creation.object))),
        Role::Returned => Some(("in a `return`", false)),
        Role::Iterated => Some(("in the head of a loop", false)),
        Role::Default => Some(("as a parameter's default", false)),
        Role::Operand if is_alternative(facts, source) => None,
        _ => Some(("without a name", false)),
    }
}

/// Whether the creation is one side of `name = a() if condition else b()`: this is a condition around it, which
/// object-created-conditionally reports.
fn is_alternative(facts: &Facts<'_>, source: &Source) -> bool {
    let module = facts.module(source.creation.file);
    let whole = source.call(facts);
    module.definitions.iter().any(|definition| {
        let value = module.value(definition.value);
        definition.kind == DefinitionKind::Assignment
            && value.range.contains_range(whole.range)
            && matches!(&value.value, Value::Phi(operands) if operands.contains(&whole.result))
    })
}
