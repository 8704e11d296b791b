//! What `broadcast_variables` is given.

use super::{Misuse, Site};
use crate::api::{Effect, Kind, Role};
use crate::finding::{Applicability, Fix};
use crate::program::Object;
use crate::semantic::Argument;

pub(super) fn misuse(site: &Site<'_>) -> Option<Misuse> {
    let symbol = site.horovods().filter(|symbol| symbol.has(Effect::Broadcasts))?;
    let argument = site.argument(symbol, "variables")?;
    let name = symbol.last_name();
    let is_kind = |kinds: &[Kind]| {
        site.is_always(argument.value, |id, _| site.facts.kind(id).is_some_and(|kind| kinds.contains(&kind)))
    };
    if is_kind(&[Kind::Model, Kind::Layer]) {
        let message = format!("`{name}` takes variables and not a model");
        return Some(
            Misuse::fails(argument.range, message, "give it `model.variables`").mended_by(appended(
                site,
                argument,
                ".variables",
            )),
        );
    }
    if is_kind(&[Kind::Optimizer]) {
        let message = format!("`{name}` takes variables and not an optimizer");
        return Some(
            Misuse::fails(argument.range, message, "give it `optimizer.variables()`").mended_by(appended(
                site,
                argument,
                ".variables()",
            )),
        );
    }
    let is_method = |object| match object {
        Object::Member(..) => site.facts.symbol(object).is_some_and(|symbol| *symbol.role() == Role::Method),
        Object::Bound(..) | Object::BuiltinMethod(..) => true,
        _ => false,
    };
    if site.is_always(argument.value, |_, object| is_method(object)) {
        let message = format!("`{name}` takes variables and not the method that gives them");
        return Some(
            Misuse::fails(argument.range, message, "call the method")
                .mended_by(appended(site, argument, "()")),
        );
    }
    None
}

/// The argument with something behind it.
fn appended(site: &Site<'_>, argument: &Argument, what: &str) -> Option<Fix> {
    let text = site.context.texts.get(site.file, site.facts.module(site.file))?;
    text.is_chain(argument.range).then(|| Fix {
        applicability: Applicability::Safe,
        message: "give it the variables".to_owned(),
        edits: vec![text.insert(argument.range.end(), what)],
        unit: None,
    })
}
