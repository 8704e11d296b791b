//! Keras numbers layers that have no name of their own, and variables are broadcast by their names: a layer that only
//! some ranks make moves the numbers of all later ones there.

use rustc_hash::FxHashSet;

use super::guards::Guard;
use super::model::Model;
use super::out_of_step::CHECK;
use crate::api::{Effect, Kind, Symbol};
use crate::finding::{Finding, Label, Level};
use crate::program::{Caller, Creation};
use crate::semantic::Passing;

/// The layers and models that only some ranks make, before all ranks make others of the same class.
pub(super) fn out_of_step(model: &Model<'_>) -> Vec<Finding> {
    let facts = model.facts;
    let mut broadcasts = facts.calls_with(Effect::Broadcasts);
    let Some(broadcast) = broadcasts.find(|&(file, call)| {
        facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::UpdatesState))
    }) else {
        return Vec::new();
    };
    let made: Vec<(&Creation, Guard)> = facts
        .creations
        .iter()
        .filter(|made| {
            matches!(made.kind, Kind::Layer | Kind::Model) && !made.derived && is_numbered(model, made)
        })
        .filter(|made| facts.called_symbols(made.file, made.call).all(Symbol::is_class))
        .map(|made| {
            let call = facts.module(made.file).call(made.call);
            (made, model.guard(Caller { file: made.file, scope: call.scope }, call.block))
        })
        .collect();
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    for (own, guard) in made.iter().filter(|(_, guard)| !guard.is_all()) {
        let module = facts.module(own.file);
        let call = module.call(own.call);
        let later = made.iter().find(|(other, of)| {
            let data = facts.module(other.file).call(other.call);
            other.file == own.file
                && of.is_all()
                && data.scope == call.scope
                && data.range.start() > call.range.start()
                && same_class(model, own, other)
        });
        let Some((later, _)) = later.filter(|_| guard.is_one_of_host()) else { continue };
        if !seen.insert((own.file, call.statement)) {
            continue;
        }
        let location = model.at_call(own.file, own.call);
        let (next, sent) = (model.at_call(later.file, later.call), model.at_call(broadcast.0, broadcast.1));
        let message = "only some ranks make this layer, so that later layers, and their variables, have other names there";
        let mut finding = Finding::new(&CHECK.rule, Level::Error, location, message)
            .here("only some ranks make it")
            .label(next, "has another number there")
            .label(sent, "matched by name")
            .help("make it on all ranks, or give the layers names")
            .in_scope(model.scope_of(own.file, own.call));
        finding.flow = vec![
            Label { location, message: "only some ranks make it".to_owned() },
            Label { location: next, message: "has another number there".to_owned() },
            Label { location: sent, message: "waits for variables of other names".to_owned() },
        ];
        found.push(finding);
    }
    found
}

/// Whether Keras gives it a name with a number.
fn is_numbered(model: &Model<'_>, made: &Creation) -> bool {
    let module = model.facts.module(made.file);
    module.call(made.call).arguments.iter().all(
        |argument| !matches!(argument.passing, Passing::Keyword(name) if module.names.text(name) == "name"),
    )
}

fn same_class(model: &Model<'_>, one: &Creation, other: &Creation) -> bool {
    let name = |made: &Creation| {
        model.facts.called_symbols(made.file, made.call).next().map(|symbol| symbol.name().to_owned())
    };
    name(one).is_some() && name(one) == name(other)
}
