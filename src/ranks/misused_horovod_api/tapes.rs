//! What a distributed tape is asked for.

use super::{Misuse, Site};
use crate::api::{Effect, Kind};
use crate::distribute::tape::{Sources, sources};
use crate::finding::{Applicability, Fix};

pub(super) fn misuse(site: &Site<'_>) -> Option<Misuse> {
    let facts = site.facts;
    let symbol =
        facts.called_symbols(site.file, site.id).find(|symbol| symbol.has(Effect::TakesGradients))?;
    let tape = facts.receiver(site.file, site.call)?;
    let is_distributed = site.is_always(tape, |id, _| {
        facts.kind(id) == Some(Kind::Tape)
            && facts.made_at(id).is_some_and(|(file, call)| {
                facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Distributes))
            })
    });
    if !is_distributed {
        return None;
    }
    let (file, call) = facts.objects(site.file, tape).find_map(|(id, _)| facts.made_at(id))?;
    let made = facts.location(file, facts.module(file).call(call).range);
    if let Some(argument) = site.argument(symbol, "unconnected_gradients") {
        let message = "a distributed tape has no `unconnected_gradients`";
        let help = "leave it out, and put zeros where a gradient is `None`";
        return Some(Misuse::fails(argument.range, message, help).label(made, "distributed here"));
    }
    if symbol.parameter("output_gradients").is_none() {
        let message = format!("a distributed tape has no `{}`", symbol.last_name());
        let help = "take Jacobians from the tape itself, before it is distributed";
        return Some(Misuse::fails(site.call.range, message, help).label(made, "distributed here"));
    }
    let argument = site.argument(symbol, "sources").or_else(|| site.call.arguments.get(1))?;
    match sources(facts, site.file, site.id) {
        Sources::List => None,
        Sources::Single(range) => {
            if !site.is_always(argument.value, |id, _| facts.kind(id) == Some(Kind::Variable)) {
                return None;
            }
            let message = "a distributed tape takes gradients of a list of variables and not of one";
            let help = "give it `[variable]` and take the first of what it gives";
            let text = site.context.texts.get(site.file, facts.module(site.file));
            let fix = text.map(|text| {
                let mut edits = text.wrap(range, "[", "]");
                edits.push(text.insert(site.call.range.end(), "[0]"));
                Fix {
                    applicability: Applicability::Safe,
                    message: "give it a list".to_owned(),
                    edits,
                    unit: None,
                }
            });
            Some(Misuse::fails(range, message, help).label(made, "distributed here").mended_by(fix))
        }
        Sources::Unfit(_) => {
            let message = "a distributed tape takes gradients of a flat list of variables only";
            let help = "give it a flat list, and put what it gives into the form that is wanted";
            Some(Misuse::fails(argument.range, message, help).label(made, "distributed here"))
        }
    }
}
