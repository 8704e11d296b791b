//! What training loops compute with.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use crate::program::{Facts, LoopKind, Place};

/// What the training loops compute with.
#[derive(Debug, Default)]
pub struct Training {
    places: OnceCell<FxHashSet<Place>>,
    given: OnceCell<FxHashSet<Place>>,
}

impl Training {
    /// Whether a training loop may compute with something that depends on the value.
    #[must_use]
    pub fn depends_on(&self, facts: &Facts<'_>, value: Place) -> bool {
        let places = self.places.get_or_init(|| places(facts));
        facts.influence().forwards(&[value], |_| false).iter().any(|place| places.contains(place))
    }

    /// Whether a training loop may compute with something that depends on the value, or a call that trains by itself,
    /// such as `fit`, may be given it. Where nothing trains, everything may be meant for it.
    #[must_use]
    pub fn concerns(&self, facts: &Facts<'_>, value: Place) -> bool {
        let given = self.given.get_or_init(|| given(facts));
        given.is_empty()
            || facts.influence().forwards(&[value], |_| false).iter().any(|place| given.contains(place))
    }
}

/// The arguments and receivers of the calls that train, also of those that make many steps.
fn given(facts: &Facts<'_>) -> FxHashSet<Place> {
    let loops = facts.programs.iter().flat_map(|program| program.loops.iter().chain(&program.steps_of_fit));
    let mut found = places(facts);
    for own in loops.filter(|own| own.kind != LoopKind::GradientTape) {
        let (file, call) = (own.caller.file, facts.module(own.caller.file).call(own.call));
        found.extend(call.arguments.iter().map(|argument| (file, argument.value)));
        found.extend(facts.receiver(file, call).map(|receiver| (file, receiver)));
    }
    found
}

/// The arguments and receivers of the calls that train.
fn places(facts: &Facts<'_>) -> FxHashSet<Place> {
    let loops = facts.programs.iter().flat_map(|program| program.loops.iter().chain(&program.steps_of_fit));
    let calls = loops.flat_map(|own| own.steps.iter().chain(&own.by_hand));
    let mut found = FxHashSet::default();
    for &(file, call) in calls {
        let call = facts.module(file).call(call);
        found.extend(call.arguments.iter().map(|argument| (file, argument.value)));
        found.extend(facts.receiver(file, call).map(|receiver| (file, receiver)));
    }
    found
}
