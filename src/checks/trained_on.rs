//! What training loops compute with.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use crate::program::{Facts, LoopKind, Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::CallId;

/// What the training loops compute with.
#[derive(Debug, Default)]
pub struct Training {
    /// All that their steps are computed from.
    places: OnceCell<FxHashSet<Place>>,
    /// All that they and the calls that train by themselves are given; nothing where nothing trains.
    given: OnceCell<Option<FxHashSet<Place>>>,
}

impl Training {
    /// Whether a training loop may compute with something that depends on the value.
    #[must_use]
    pub fn depends_on(&self, facts: &Facts<'_>, value: Place) -> bool {
        let find = || facts.influence().backwards(&of_steps(facts), |_| false);
        self.places.get_or_init(find).contains(&value)
    }

    /// Whether a training loop may compute with something that depends on the value, or a call that trains by itself,
    /// such as `fit`, may be given it. Where nothing trains, everything may be meant for it.
    #[must_use]
    pub fn concerns(&self, facts: &Facts<'_>, value: Place) -> bool {
        let find = || {
            let given = of_loops(facts);
            (!given.is_empty()).then(|| facts.influence().backwards(&given, |_| false))
        };
        self.given.get_or_init(find).as_ref().is_none_or(|given| given.contains(&value))
    }
}

/// The arguments and receivers of the calls that train, also of those that make many steps.
fn of_loops(facts: &Facts<'_>) -> Vec<Place> {
    let loops = loops(facts).filter(|own| own.kind != LoopKind::GradientTape);
    let calls = loops.flat_map(|own| operands(facts, (own.caller.file, own.call)));
    of_steps(facts).into_iter().chain(calls).collect()
}

/// The arguments and receivers of the calls that train.
fn of_steps(facts: &Facts<'_>) -> Vec<Place> {
    let calls = loops(facts).flat_map(|own| own.steps.iter().chain(&own.by_hand));
    calls.flat_map(|&call| operands(facts, call)).collect()
}

fn loops<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = &'f TrainingLoop> {
    facts.programs.iter().flat_map(|program| program.loops.iter().chain(&program.steps_of_fit))
}

fn operands<'f>(facts: &'f Facts<'_>, (file, call): (FileId, CallId)) -> impl Iterator<Item = Place> + 'f {
    let call = facts.module(file).call(call);
    let arguments = call.arguments.iter().map(|argument| argument.value);
    arguments.chain(facts.receiver(file, call)).map(move |value| (file, value))
}
