//! Random draws that are the same on all ranks: they are given a seed, come from a generator that was made with a constant, or
//! from a common one that the program seeds.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::super::job::Job;
use crate::api::{Effect, Kind, Symbol};
use crate::program::{Caller, Literal, Object, ObjectId};
use crate::project::FileId;
use crate::ranks::given_seed;
use crate::semantic::{CallId, ValueId};

/// Whether all ranks draw the same in a call, as far as its own seed says: `frame.sample(frac=1, random_state=1)`,
/// `np.random.RandomState(0).rand(8)`.
pub(in crate::distribute) fn draws_alike(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    has_seed(job, file, id) || is_of_seeded_generator(job, file, id)
}

/// Whether a call draws, and nothing that the program seeds makes it draw the same on all ranks.
pub(in crate::distribute) fn draws_unseeded(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let drawing =
        |own: &&Symbol| own.has(Effect::DrawsRandom) && !own.is_class() && !is_seeded(job, own.package());
    job.facts.called_symbols(file, call).any(|own| drawing(&own)) && !draws_alike(job, file, call)
}

/// The calls that do so in some code and in what it calls.
pub(in crate::distribute) fn drawn_in(job: &Job<'_>, mut work: Vec<Caller>) -> Vec<(FileId, CallId)> {
    let facts = job.facts;
    let mut code: FxHashSet<Caller> = FxHashSet::default();
    while let Some(caller) = work.pop() {
        if code.insert(caller) {
            work.extend(facts.reached_functions(caller).map(|(_, function)| facts.code_of(function)));
        }
    }
    let files: BTreeSet<FileId> = code.iter().map(|own| own.file).collect();
    let calls = files.into_iter().flat_map(|file| {
        let calls = facts.module(file).calls.iter().enumerate();
        calls.map(move |(index, call)| (Caller { file, scope: call.scope }, CallId::new(index)))
    });
    let own = calls.filter(|(caller, call)| code.contains(caller) && draws_unseeded(job, caller.file, *call));
    own.map(|(caller, call)| (caller.file, call)).collect()
}

/// Whether the program seeds what a package draws with.
pub(in crate::distribute) fn is_seeded(job: &Job<'_>, package: &str) -> bool {
    let seeds = |own: &Symbol| own.has(Effect::SeedsRandom) && is_seeded_by(job, own, package);
    job.calls().any(|(file, call)| {
        job.facts.called_symbols(file, call).any(seeds) && !is_of_generator(job, file, call)
    })
}

/// Whether a call is a method of a generator: `rng.seed(1)`.
pub(super) fn is_of_generator(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let receiver = job.facts.receiver(file, job.facts.module(file).call(id));
    receiver.is_some_and(|own| job.facts.may_be(file, own, Kind::Random))
}

/// Whether seeding by a library's function makes another library's numbers the same.
pub(super) fn is_seeded_by(job: &Job<'_>, seeding: &Symbol, package: &str) -> bool {
    let library = job.facts.library;
    seeding.has(Effect::SeedsAll)
        || seeding.package() == package
        || library.is_training_library(seeding.package()) && library.is_training_library(package)
        || seeding.package() == NUMPY && DRAWING_FROM_NUMPY.contains(&package)
}

const NUMPY: &str = "numpy";

/// What has no generator of its own.
pub(super) const DRAWING_FROM_NUMPY: [&str; 3] = ["pandas", "scipy", "sklearn"];

/// Whether a call is given a seed. Where it differs between ranks, so does what is computed from it.
fn has_seed(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let may_be_none = |seed: ValueId| {
        facts.is_none(file, seed)
            || facts.objects(file, seed).any(|(_, own)| own == Object::Literal(Literal::None))
    };
    given_seed(facts, file, id).is_some_and(|seed| !may_be_none(seed.value))
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
