//! What is said of an object's second name.

use super::Context;
use super::aliases::{Alias, Holder};
use super::containers::{Containers, is_lost};
use super::objects::{noun, with_article};
use crate::finding::{Confidence, Finding, Level, Location, Rule};
use crate::normalise;
use crate::program::{Caller, Facts, ObjectId};

/// The finding for a second name.
#[must_use]
pub fn second_name(
    context: Context<'_>,
    rule: &'static Rule,
    alias: &Alias<'_>,
    containers: &Containers<'_, '_>,
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
        _ => alias.store.is_some_and(|store| is_lost(facts, file, store.base)),
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
    if let Holder::Variable(_) = alias.holder {
        finding.fix = normalise::substitute(context, file, alias.range);
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
