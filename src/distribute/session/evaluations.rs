//! What sessions run that only computes something: no rank waits for another in it, and it changes nothing.

use super::super::job::Job;
use super::super::session;
use crate::api::{Effect, Symbol};
use crate::program::{Literal, Object, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Element, Value};

/// What finds operations by a name or a collection's, which nobody follows.
const BY_NAME: [&str; 6] = [
    "tensorflow.Graph.as_graph_element",
    "tensorflow.Graph.get_collection",
    "tensorflow.Graph.get_operation_by_name",
    "tensorflow.Graph.get_tensor_by_name",
    "tensorflow.compat.v1.get_collection",
    "tensorflow.compat.v1.get_collection_ref",
];

/// What an operation does that changes variables, or waits for other ranks.
const LASTING: [Effect; 5] = [
    Effect::AppliesGradients,
    Effect::Collective,
    Effect::Minimizes,
    Effect::TakesGradients,
    Effect::UpdatesState,
];

/// Whether a call has a session run operations that all are known, and of which none makes a step or changes a variable:
/// `session.run(loss, feed_dict=batch)`.
pub(super) fn only_evaluates(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let Some(fetched) = call.arguments.first().filter(|_| session::runs(job, file, id)) else { return false };
    let place = (file, fetched.value);
    !facts.may_be_of_step(place)
        && !is_named(job, place)
        && facts.influence().list_backwards(&[place], |_| false).into_iter().all(|own| is_pure(job, own))
}

/// Whether what is run is told by its name, or among others.
fn is_named(job: &Job<'_>, (file, value): Place) -> bool {
    let is_text =
        |own| job.facts.objects(file, own).any(|(_, own)| matches!(own, Object::Literal(Literal::Str(_))));
    match &job.facts.module(file).value(value).value {
        Value::Display(_, elements) => elements.iter().any(|own| match *own {
            Element::At(_, own) | Element::Any(own) | Element::Key(_, own) => is_text(own),
            Element::Spread(_) | Element::Merge(_) => true,
        }),
        _ => is_text(value),
    }
}

/// Whether a value is known to be nothing that lasts, whatever it is computed from.
fn is_pure(job: &Job<'_>, place: Place) -> bool {
    let facts = job.facts;
    let (file, value) = place;
    let has_source = |base: Option<Place>| facts.influence().operands(place).any(|own| Some(own) != base);
    match facts.module(file).value(value).value {
        Value::Call(call) => facts.callees(file, call).iter().all(|edge| {
            let callee = facts.solution.object(edge.callee);
            match (facts.symbol(callee), callee) {
                (Some(symbol), _) => is_pure_symbol(job, symbol),
                (None, Object::External(external)) => {
                    let path = &facts.solution.externals.get(external).path;
                    facts.library.is_training_library(path.split('.').next().unwrap_or_default())
                }
                (None, callee) => callee != Object::Unknown,
            }
        }),
        Value::Attribute { base, .. } => {
            !facts.is_unknown(file, value)
                || has_source(Some((file, base)))
                || facts.objects(file, base).all(|(_, own)| matches!(own, Object::Created(..)))
        }
        Value::Parameter(..) => !facts.is_unknown(file, value) || has_source(None),
        _ => true,
    }
}

fn is_pure_symbol(job: &Job<'_>, symbol: &Symbol) -> bool {
    !LASTING.iter().any(|&effect| symbol.has(effect)) && {
        let library = job.facts.library;
        !BY_NAME.iter().any(|name| library.lookup(name) == Some(symbol))
    }
}
