//! Graphs of TensorFlow 1: what an optimizer adds to one communicates where a session runs it.

use super::super::values::is_distributed;
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Facts, Object, Place, code};
use crate::project::FileId;
use crate::semantic::{Call, CallId, Element, Value, ValueId};

/// Whether a call is made on a session.
pub(super) fn is_of_session(facts: &Facts<'_>, file: FileId, call: &Call) -> bool {
    let is_session = |receiver| {
        [Kind::Session, Kind::MonitoredSession].into_iter().any(|kind| facts.may_be(file, receiver, kind))
    };
    facts.receiver(file, call).is_some_and(is_session)
}

/// Whether a session is given an operation to run that applies gradients which the ranks average.
pub(super) fn runs_step(facts: &Facts<'_>, file: FileId, call: &Call) -> bool {
    let Some(fetched) = call.arguments.first() else { return false };
    match &facts.module(file).value(fetched.value).value {
        Value::Display(_, elements) => elements.iter().any(|element| match *element {
            Element::At(_, value) | Element::Key(_, value) => is_step(facts, (file, value), FEW),
            _ => false,
        }),
        _ => is_step(facts, (file, fetched.value), FEW),
    }
}

/// What makes one operation of several.
const GROUP: &str = "tensorflow.group";

/// How many groups are looked into, one within the other.
const FEW: usize = 3;

/// Whether a value is such an operation, whichever of several it is, or a group that has one as a member.
fn is_step(facts: &Facts<'_>, (file, value): Place, depth: usize) -> bool {
    let is_made_as_step = |(file, value): Place| match facts.module(file).value(value).value {
        Value::Call(call) => makes_step(facts, (file, call), depth),
        _ => false,
    };
    let mut objects = facts.objects(file, value).map(|(_, object)| object).peekable();
    objects.peek().is_some()
        && objects.all(|object| match object {
            Object::Created(_, node) => facts.solution.origin(node).is_some_and(is_made_as_step),
            _ => false,
        })
}

fn makes_step(facts: &Facts<'_>, made: (FileId, CallId), depth: usize) -> bool {
    let (file, call) = made;
    let members = || facts.module(file).call(call).arguments.iter().map(|own| (file, own.value));
    facts.called_symbols(file, call).any(|symbol| {
        takes_distributed(facts, made, symbol) && builds_graph(facts, made, symbol)
            || symbol.has(Effect::AppliesGradients) && is_distributed(facts, file, call)
            || depth > 0
                && Some(symbol) == facts.library.lookup(GROUP)
                && members().any(|member| is_step(facts, member, depth - 1))
    })
}

/// Whether a call takes gradients, by itself or to apply them, with an optimizer or a tape that averages them.
pub(super) fn takes_distributed(facts: &Facts<'_>, (file, call): (FileId, CallId), symbol: &Symbol) -> bool {
    (symbol.has(Effect::Minimizes) || symbol.has(Effect::TakesGradients)) && is_distributed(facts, file, call)
}

/// Whether an optimizer is given a loss that is neither a function nor comes with its tape: it adds to the graph.
pub(super) fn builds_graph(facts: &Facts<'_>, (file, id): (FileId, CallId), symbol: &Symbol) -> bool {
    let call = facts.module(file).call(id);
    let is_of_optimizer =
        facts.receiver(file, call).is_some_and(|receiver| facts.may_be(file, receiver, Kind::Optimizer));
    let may_be_called = |loss: ValueId| facts.objects(file, loss).any(|(_, object)| code(object).is_some());
    is_of_optimizer
        && facts.argument(file, call, symbol, "tape").is_none()
        && facts.argument(file, call, symbol, "loss").is_some_and(|loss| !may_be_called(loss.value))
}
