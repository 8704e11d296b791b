//! What training loops compute with.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use crate::program::{Facts, Place};

/// What the training loops compute with.
#[derive(Debug, Default)]
pub struct Training {
    places: OnceCell<FxHashSet<Place>>,
}

impl Training {
    /// Whether a training loop may compute with something that depends on the value.
    #[must_use]
    pub fn depends_on(&self, facts: &Facts<'_>, value: Place) -> bool {
        let places = self.places.get_or_init(|| places(facts));
        facts.influence().forwards(&[value], |_| false).iter().any(|place| places.contains(place))
    }
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
