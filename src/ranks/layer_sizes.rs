//! Layers whose weights have another shape on each rank: their gradients are averaged with those of the same name.

use super::model::Model;
use super::out_of_step::{CHECK, source};
use crate::api::{Effect, Kind, Symbol};
use crate::finding::{Confidence, Finding, Label, Level};
use crate::program::{Caller, Object, Place};
use crate::semantic::Value;

/// The layers that are made with a size which each rank draws, or computes from its number.
pub(super) fn out_of_step(model: &Model<'_>) -> Vec<Finding> {
    let facts = model.facts;
    let made = facts.creations.iter().filter(|made| made.kind == Kind::Layer && !made.derived);
    let mut found = Vec::new();
    for own in made.filter(|made| model.files.contains(&made.file)) {
        let call = facts.module(own.file).call(own.call);
        let caller = Caller { file: own.file, scope: facts.module(own.file).code_scope(call.scope) };
        let mut programs = model.programs.iter().filter(|program| program.reached.contains(&caller));
        if model.unreached.is_block(caller, call.block)
            || !programs.any(|program| model.communicates(program))
        {
            continue;
        }
        let sized = facts.called_symbols(own.file, own.call).filter(|symbol| has_weights(symbol));
        let sizes = sized.flat_map(|symbol| {
            let needed = symbol.parameters().iter().filter(|own| own.default().is_none());
            needed.filter_map(move |needed| facts.argument(own.file, call, symbol, needed.name()))
        });
        let mut differing = sizes.filter_map(|size| Some((size, model.difference((own.file, size.value))?)));
        let Some((size, difference)) = differing.find(|&(size, ref difference)| {
            difference.is_drawn(facts) && is_computed_from(model, (own.file, size.value), difference.source)
        }) else {
            continue;
        };
        let location = model.at_call(own.file, own.call);
        let given = facts.location(own.file, size.range);
        let origin = source(model, difference);
        let message = "the ranks make this layer in different sizes, and the gradients of its weights don't fit together";
        // What a layer computes with is seldom the size of another: value flow has mixed them up.
        let is_tensor = facts.may_be(difference.source.0, difference.source.1, Kind::Tensor);
        let sureness = if is_tensor { Confidence::Possible } else { Confidence::Certain };
        let mut finding = Finding::new(&CHECK.rule, Level::Warning, location, message)
            .confidence(sureness)
            .here("another size on each rank")
            .help("draw the size on rank 0, and send it to all by `hvd.broadcast_object`")
            .in_scope(model.scope_of(own.file, own.call));
        if origin.location != given && origin.location != location {
            finding = finding.label(origin.location, origin.message.clone());
        }
        finding.flow = vec![
            origin,
            Label { location: given, message: "given here".to_owned() },
            Label { location, message: "another size on each rank".to_owned() },
        ];
        found.push(finding);
    }
    found
}

/// Whether a class is that of layers with weights, as its parameters for their first values tell.
fn has_weights(symbol: &Symbol) -> bool {
    symbol.is_class() && symbol.draws_weights()
}

/// Whether a number is computed from another value itself, and not from something of what was made with it: how many
/// columns the data have that a rank has drawn is the same on all.
fn is_computed_from(model: &Model<'_>, number: Place, source: Place) -> bool {
    let facts = model.facts;
    let stops = |(file, value): Place| {
        let module = facts.module(file);
        match module.value(value).value {
            Value::Attribute { base, .. } => {
                !facts.objects(file, base).any(|(_, object)| matches!(object, Object::Instance(..)))
            }
            Value::Call(call) => {
                facts.called_functions(file, call).next().is_none()
                    && !facts.called_builtins(file, call).any(|symbol| symbol.has(Effect::Converts))
            }
            _ => false,
        }
    };
    facts.influence().backwards(&[number], stops).contains(&source)
}
