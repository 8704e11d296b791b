//! Random draws that are the same on all ranks: they come from a generator that was made with a constant, or are given a seed.

use super::job::Job;
use crate::program::{Literal, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{CallId, ValueId};

/// The parameters for a seed, of what draws by itself.
const SEEDS: [&str; 2] = ["seed", "random_state"];

/// Whether all ranks draw the same in a call, as far as its own seed says: `frame.sample(frac=1, random_state=1)`,
/// `np.random.RandomState(0).rand(8)`.
pub(super) fn draws_alike(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    has_seed(job, file, id) || is_of_seeded_generator(job, file, id)
}

/// Whether a call is given a seed. Where it differs between ranks, so does what is computed from it.
fn has_seed(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let call = facts.module(file).call(id);
    let may_be_none = |seed: ValueId| {
        facts.is_none(file, seed)
            || facts.objects(file, seed).any(|(_, own)| own == Object::Literal(Literal::None))
    };
    let mut seeds = facts.called_symbols(file, id).flat_map(|symbol| {
        SEEDS.into_iter().filter_map(|parameter| facts.argument(file, call, symbol, parameter))
    });
    seeds.any(|seed| !may_be_none(seed.value))
}

/// Whether a call draws from a generator that was made with a constant seed.
fn is_of_seeded_generator(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let Some(receiver) = facts.receiver(file, facts.module(file).call(id)) else { return false };
    let is_seeded = |(id, object): (ObjectId, Object)| {
        let seed = facts.made_at(id).and_then(|(of, made)| {
            let seed = facts.module(of).call(made).arguments.first()?;
            Some(
                facts.objects(of, seed.value).all(|(_, own)| matches!(own, Object::Literal(Literal::Int(_)))),
            )
        });
        matches!(object, Object::Created(..)) && seed == Some(true)
    };
    let mut generators = facts.objects(file, receiver).peekable();
    generators.peek().is_some() && generators.all(is_seeded)
}
