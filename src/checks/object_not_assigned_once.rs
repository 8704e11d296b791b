//! Restriction 5: datasets and optimizers are created once, by `name = call(...)`, and have that name only.

use super::aliases::{Alias, Holder, aliases};
use super::containers::Containers;
use super::objects::{Family, Source, flow, noun, sources, with_article};
use super::{Context, check};
use crate::finding::{Confidence, Finding, Level, Location, Rule};
use crate::program::{Caller, Facts, ObjectId, Repeated, loop_around};
use crate::semantic::{Role, StoreKey, Value};

check!("HVD005", "object-not-assigned-once", Restriction, Error, run);

fn run(context: Context<'_>) -> Vec<Finding> {
    findings(context, &CHECK.rule, Family::DatasetsAndOptimizers)
}

/// The objects of the family that are not created once by an assignment, and their second names.
#[must_use]
pub fn findings(context: Context<'_>, rule: &'static Rule, family: Family) -> Vec<Finding> {
    let facts = context.facts;
    let containers = Containers::new(facts);
    let sources = sources(facts, family);
    let mut found: Vec<Finding> =
        sources.iter().filter_map(|source| created(context, rule, source, &containers)).collect();
    for file in facts.files() {
        found.extend(
            aliases(facts, file, family).iter().map(|alias| second_name(context, rule, alias, &containers)),
        );
    }
    found
}

// ---- creations ----

fn created(
    context: Context<'_>,
    rule: &'static Rule,
    source: &Source,
    containers: &Containers,
) -> Option<Finding> {
    let facts = context.facts;
    let name = source.name(facts);
    let place = source.place(facts);
    let mut finding = match repetition(facts, source) {
        Some(why) => repeated(facts, Finding::new(rule, Level::Error, place, String::new()), &name, why),
        None => {
            let (what, lost) = elsewhere(facts, source, containers)?;
            let level = if lost { Level::Error } else { context.warning() };
            let finding = Finding::new(rule, level, place, format!("{name} is created {what}"))
                .here("created here")
                .help("create the object by `name = call(...)` just before this statement and use the name here");
            if lost {
                finding.note("Which object is used is not known, so the fixes for it are withheld.")
            } else {
                finding
            }
        }
    };
    finding.flow = flow(facts, source);
    Some(finding.confidence(source.confidence(facts)).in_scope(facts.scope_name(source.caller(facts))))
}

/// Why a creation runs more than once.
fn repetition(facts: &Facts<'_>, source: &Source) -> Option<Repeated> {
    let caller = source.caller(facts);
    let call = facts.module(caller.file).call(source.creation.call);
    loop_around(facts, caller.file, call.statement, call.block, caller)
        .map(|around| Repeated::Loop(caller.file, around))
        .or_else(|| facts.repetition().of(caller))
}

fn repeated(facts: &Facts<'_>, mut finding: Finding, name: &str, why: Repeated) -> Finding {
    let file = finding.primary.location.file;
    let advice = match why {
        Repeated::Calls((first, range), (second, again)) => {
            finding.message = format!("{name} is created by a function that is called more than once");
            finding = finding
                .label(facts.location(first, range), "called here")
                .label(facts.location(second, again), "called again here");
            "call the function that creates the object once, or create it outside and pass it in"
        }
        Repeated::Loop(of, statement) => {
            let around = facts.module(of).statement(statement);
            let inside = of == file && around.range.contains_range(finding.primary.location.text_range());
            finding.message = if inside {
                format!("{name} is created in every turn of a loop")
            } else {
                format!("{name} is created by a function that is called in a loop")
            };
            finding = finding.label(facts.location(of, around.header), "repeated by this loop");
            "create the object once, before the loop"
        }
        Repeated::Otherwise => {
            finding.message = format!("{name} is created by a function that may be called more than once");
            "create the object outside of the function and pass it in"
        }
    };
    finding.here("created again and again").help(advice)
}

/// Where an object is created if not by `name = call(...)`, and whether it is lost there.
fn elsewhere(facts: &Facts<'_>, source: &Source, containers: &Containers) -> Option<(&'static str, bool)> {
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
                    ("in an attribute", facts.is_lost_in(file, store.base))
                }
                Some((store, _)) => (
                    "in a container",
                    facts.is_lost_in(file, store.base) || containers.lose(source.creation.object),
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
        definition.kind == crate::semantic::DefinitionKind::Assignment
            && value.range.contains_range(whole.range)
            && matches!(&value.value, Value::Phi(operands) if operands.contains(&whole.result))
    })
}

impl Facts<'_> {
    /// Whether nobody knows anything of what a value is.
    fn is_lost_in(&self, file: crate::project::FileId, base: crate::semantic::ValueId) -> bool {
        self.solution.values(file, base).iter().all(|&object| object == ObjectId::UNKNOWN)
    }
}

// ---- second names ----

fn second_name(
    context: Context<'_>,
    rule: &'static Rule,
    alias: &Alias<'_>,
    containers: &Containers,
) -> Finding {
    let facts = context.facts;
    let Caller { file, .. } = alias.caller;
    let noun = alias.known.objects.first().and_then(|&object| facts.kind(object)).map_or("object", noun);
    let (holder, is, here) = match alias.holder {
        Holder::Variable(name) => (format!("variable `{name}`"), "is a second name of", "second name"),
        Holder::Attribute(name) => (format!("attribute `{name}`"), "is a second name of", "second name"),
        Holder::Container(name) => (format!("container `{name}`"), "also holds", "kept here"),
        Holder::Element => ("a container".to_owned(), "also holds", "kept here"),
    };
    let known = alias.known.name.map_or_else(|| with_article(noun), |name| format!("the {noun} `{name}`"));
    let message = format!("{holder} {is} {known}");
    let lost = match alias.holder {
        Holder::Element | Holder::Container(_) => {
            alias.known.objects.iter().any(|&object| containers.lose(object))
        }
        _ => alias.store.is_some_and(|store| facts.is_lost_in(file, store.base)),
    };
    let level = if lost { Level::Error } else { context.warning() };
    let place = facts.location(file, alias.range);
    let mut finding = Finding::new(rule, level, place, message)
        .here(here)
        .label(facts.location(file, alias.known.range), "known by this name")
        .help("use the first name instead, or pass the object as an argument where it is needed")
        .in_scope(facts.scope_name(alias.caller));
    for location in
        creations(facts, &alias.known.objects).into_iter().take(2).filter(|&location| location != place)
    {
        finding = finding.label(location, "created here");
    }
    let perhaps = alias.known.objects.iter().all(|&object| is_perhaps(facts, object));
    if perhaps { finding.confidence(Confidence::Possible) } else { finding }
}

/// Where the objects were created, in source order.
fn creations(facts: &Facts<'_>, objects: &[ObjectId]) -> Vec<Location> {
    let mut found: Vec<Location> = objects
        .iter()
        .filter_map(|&object| {
            let (file, call) = facts.made_at(object)?;
            Some(facts.location(file, facts.module(file).call(call).range))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether the call that makes an object may return something else.
fn is_perhaps(facts: &Facts<'_>, object: ObjectId) -> bool {
    facts
        .made_at(object)
        .is_some_and(|(file, call)| facts.is_unknown(file, facts.module(file).call(call).result))
}
