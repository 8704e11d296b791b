//! Which random numbers are the same on all ranks: those of generators with an equal seed.

use rustc_hash::FxHashSet;

use super::values::Values;
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Facts, Object, ObjectId, Place, Program};
use crate::project::FileId;
use crate::semantic::{Argument, CallId, Constant, Value};

/// The common generators that each program seeds alike on all ranks.
#[derive(Debug, Default)]
pub struct Seeds {
    programs: Vec<Seeded>,
}

/// What one program seeds.
#[derive(Debug, Default)]
struct Seeded {
    files: FxHashSet<FileId>,
    packages: FxHashSet<String>,
    all: bool,
}

impl Seeds {
    /// The seeds that programs give; `values` has what differs by the rank's number.
    #[must_use]
    pub fn new(facts: &Facts<'_>, values: &Values, programs: &[&Program]) -> Self {
        let files = |program: &&Program| program.files().into_iter().collect();
        let of = |program| Seeded { files: files(program), ..Seeded::default() };
        let mut seeds = Self { programs: programs.iter().map(of).collect() };
        for (file, id) in facts.calls_with(Effect::SeedsRandom) {
            let call = facts.module(file).call(id);
            let is_equal = call.arguments.first().is_some_and(|seed| is_seed(facts, (file, seed.value)))
                && call.arguments.iter().all(|own| values.difference((file, own.value)).is_none());
            let is_own =
                facts.receiver(file, call).is_some_and(|receiver| facts.may_be(file, receiver, Kind::Random));
            if !is_equal || is_own {
                continue;
            }
            for program in seeds.programs.iter_mut().filter(|program| program.files.contains(&file)) {
                for symbol in facts.called_symbols(file, id) {
                    program.all |= symbol.has(Effect::SeedsAll);
                    program.packages.insert(symbol.package().to_owned());
                }
            }
        }
        seeds
    }

    /// Whether what a library draws in a file, without a seed of its own, is the same on all ranks.
    #[must_use]
    pub fn cover(&self, file: FileId, symbol: &Symbol) -> bool {
        let mut programs = self.programs.iter().filter(|program| program.files.contains(&file));
        programs.all(|program| program.all || program.packages.contains(symbol.package()))
    }

    /// Whether initial weights of models that a file makes are the same on all ranks.
    #[must_use]
    pub fn cover_weights(&self, facts: &Facts<'_>, file: FileId) -> bool {
        facts.library.lookup("tensorflow.keras.Model").is_some_and(|model| self.cover(file, model))
    }

    /// Whether all that a call draws is the same on all ranks.
    #[must_use]
    pub fn is_equal(&self, facts: &Facts<'_>, (file, value): Place) -> bool {
        let Value::Call(id) = facts.module(file).value(value).value else { return false };
        let mut symbols = facts.called_symbols(file, id).peekable();
        has_own_seed(facts, file, id)
            || !is_drawn_by_own(facts, file, id)
                && symbols.peek().is_some()
                && symbols.all(|symbol| self.cover(file, symbol))
    }
}

/// The parameters for a seed, of what draws by itself.
const SEEDS: [&str; 2] = ["seed", "random_state"];

fn is_seed(facts: &Facts<'_>, (file, value): Place) -> bool {
    !matches!(facts.module(file).value(value).value, Value::Constant(Constant::None))
}

/// The generators that a call draws from, if it is a method of theirs.
fn generators(facts: &Facts<'_>, file: FileId, id: CallId) -> Vec<ObjectId> {
    let receiver = facts.receiver(file, facts.module(file).call(id));
    receiver.map_or_else(Vec::new, |receiver| facts.of_kind(file, receiver, Kind::Random))
}

fn is_drawn_by_own(facts: &Facts<'_>, file: FileId, id: CallId) -> bool {
    !generators(facts, file, id).is_empty()
}

/// The seed that a call is given itself; it may be `None`.
pub fn given_seed<'f>(facts: &'f Facts<'_>, file: FileId, id: CallId) -> Option<&'f Argument> {
    let call = facts.module(file).call(id);
    facts.called_symbols(file, id).find_map(|symbol| {
        SEEDS.into_iter().find_map(|parameter| facts.argument(file, call, symbol, parameter))
    })
}

/// Whether a call draws from a generator that was made with a seed, or is given one itself. Whether the seed differs
/// between ranks is seen where it is passed on.
pub fn has_own_seed(facts: &Facts<'_>, file: FileId, id: CallId) -> bool {
    if given_seed(facts, file, id).is_some_and(|seed| is_seed(facts, (file, seed.value))) {
        return true;
    }
    let generators = generators(facts, file, id);
    !generators.is_empty() && generators.into_iter().all(|own| is_made_with_seed(facts, own))
}

fn is_made_with_seed(facts: &Facts<'_>, generator: ObjectId) -> bool {
    let Object::Created(_, node) = facts.solution.object(generator) else { return false };
    facts.call_at(node).is_some_and(|(file, call)| {
        let first = facts.module(file).call(call).arguments.first();
        first.is_some_and(|seed| is_seed(facts, (file, seed.value)))
    })
}
