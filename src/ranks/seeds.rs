//! Which random numbers are the same on all ranks: those of generators with an equal seed.

use rustc_hash::FxHashSet;

use super::values::Values;
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Facts, Object, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Constant, Value, ValueId};

/// The packages whose common generator is seeded alike on all ranks.
#[derive(Debug, Default)]
pub struct Seeds {
    packages: FxHashSet<String>,
    all: bool,
}

impl Seeds {
    /// The seeds that the calls in some files give; `values` has what differs by the rank's number.
    #[must_use]
    pub fn new(facts: &Facts<'_>, values: &Values, files: &[FileId]) -> Self {
        let mut seeds = Self::default();
        for (file, call) in facts.calls_with(Effect::SeedsRandom).filter(|(file, _)| files.contains(file)) {
            let arguments = &facts.module(file).call(call).arguments;
            let is_equal = arguments.first().is_some_and(|seed| is_seed(facts, (file, seed.value)))
                && arguments.iter().all(|argument| values.difference((file, argument.value)).is_none());
            if !is_equal
                || facts
                    .receiver(file, facts.module(file).call(call))
                    .is_some_and(|receiver| facts.may_be(file, receiver, Kind::Random))
            {
                continue;
            }
            for symbol in facts.called_symbols(file, call) {
                seeds.all |= symbol.has(Effect::SeedsAll);
                seeds.packages.insert(package(symbol).to_owned());
            }
        }
        seeds
    }

    /// Whether what a library draws without a seed of its own is the same on all ranks.
    #[must_use]
    pub fn cover(&self, symbol: &Symbol) -> bool {
        self.all || self.packages.contains(package(symbol))
    }

    /// Whether initial weights are the same on all ranks.
    #[must_use]
    pub fn cover_weights(&self, facts: &Facts<'_>) -> bool {
        facts.library.lookup("tensorflow.keras.Model").is_some_and(|model| self.cover(model))
    }

    /// Whether all that a call draws is the same on all ranks.
    #[must_use]
    pub fn is_equal(&self, facts: &Facts<'_>, (file, value): Place) -> bool {
        let Value::Call(id) = facts.module(file).value(value).value else { return false };
        has_own_seed(facts, file, id)
            || facts.called_symbols(file, id).all(|symbol| self.cover(symbol))
                && facts.called_symbols(file, id).next().is_some()
    }
}

/// The package that a symbol is of.
fn package(symbol: &Symbol) -> &str {
    symbol.name().split('.').next().unwrap_or_default()
}

fn is_seed(facts: &Facts<'_>, (file, value): Place) -> bool {
    !matches!(facts.module(file).value(value).value, Value::Constant(Constant::None))
}

/// Whether a call draws from a generator that was made with a seed, or is given one itself. Whether the seed differs
/// between ranks is seen where it is passed on.
fn has_own_seed(facts: &Facts<'_>, file: FileId, id: CallId) -> bool {
    let call = facts.module(file).call(id);
    let given = facts.called_symbols(file, id).find_map(|symbol| facts.argument(file, call, symbol, "seed"));
    if given.is_some_and(|seed| is_seed(facts, (file, seed.value))) {
        return true;
    }
    let Some(receiver) = facts.receiver(file, call) else { return false };
    let mut generators = facts.of_kind(file, receiver, Kind::Random).into_iter().peekable();
    generators.peek().is_some() && generators.all(|generator| is_made_with_seed(facts, generator))
}

fn is_made_with_seed(facts: &Facts<'_>, generator: crate::program::ObjectId) -> bool {
    let Object::Created(_, node) = facts.solution.object(generator) else { return false };
    facts.call_at(node).is_some_and(|(file, call)| {
        let first: Option<ValueId> = facts.module(file).call(call).arguments.first().map(|seed| seed.value);
        first.is_some_and(|seed| is_seed(facts, (file, seed)))
    })
}
