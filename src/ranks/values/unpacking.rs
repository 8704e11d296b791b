//! What elements of a tuple are unpacked to: `train, steps = load()`.

use rustc_hash::FxHashSet;

use crate::program::{Facts, Object, ObjectId, Place};
use crate::semantic::{Element, Value};

/// The elements of displays that an unpacked value may be; `None` if it may be something else.
pub(super) fn elements(facts: &Facts<'_>, (file, value): Place) -> Option<Vec<Place>> {
    let Value::Unpack { base, index: Some(index), .. } = facts.module(file).value(value).value else {
        return None;
    };
    let displays: Vec<Place> = match facts.module(file).value(base).value {
        Value::Display(..) => vec![(file, base)],
        Value::Call(call) => {
            let mut callees = facts.callees(file, call).iter();
            if !callees.all(|edge| matches!(facts.solution.object(edge.callee), Object::Function(_))) {
                return None;
            }
            let functions = facts.called_functions(file, call);
            let returned = functions.flat_map(|own| {
                let returns = &facts.module(own.file).function(own.function).returns;
                returns.iter().map(move |&value| (own.file, value))
            });
            returned.collect()
        }
        _ => return None,
    };
    let element = |(file, display): Place| {
        let Value::Display(_, elements) = &facts.module(file).value(display).value else { return None };
        elements.iter().find_map(|element| match *element {
            Element::At(at, value) if at == index => Some((file, value)),
            _ => None,
        })
    };
    let found: Vec<Place> = displays.into_iter().map(element).collect::<Option<_>>()?;
    (!found.is_empty()).then_some(found)
}

/// Whether a value is the number of the step among what a session gives: `step, loss = session.run([global_step, loss])`.
pub(super) fn is_fetched_step(
    facts: &Facts<'_>,
    counters: &FxHashSet<ObjectId>,
    (file, value): Place,
) -> bool {
    let module = facts.module(file);
    let Value::Unpack { base, index: Some(index), .. } = module.value(value).value else { return false };
    let Value::Call(call) = module.value(base).value else { return false };
    let fetched = facts.fetched(file, call).map(|own| &module.value(own).value);
    let Some(Value::Display(_, elements)) = fetched else { return false };
    elements.get(index as usize).and_then(|own| own.written_out()).is_some_and(|own| {
        let mut objects = facts.objects(file, own).peekable();
        objects.peek().is_some() && objects.all(|(id, _)| counters.contains(&id))
    })
}
