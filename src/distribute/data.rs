//! Each rank trains on its part of the data, or on an order of its own.
//!
//! Not in the seed, whose rules divide the steps: without a shuffle all ranks then train on the same first examples. A
//! program is asked once it is distributed, and its answer is only possible: what an example is and how many there
//! are is known when it runs. What is certain is that a part which nobody uses is lost.

pub(super) mod draws;
pub(super) mod fed_generators;
pub(super) mod held_out;
mod lost_parts;
pub(super) mod moved_seeds;
mod projections;

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::distribution_rule;
use super::job::Job;
use super::ranked::{reads_rank, reads_size};
use super::session::fed::fed_values;
use super::session::{is_session, sessions};
use super::started::runs_started;
use super::step::{Outcome, Step};
use super::steps::{data, iterated};
use crate::api::{Effect, Kind, Scaling, Symbol};
use crate::finding::{Applicability, Confidence};
use crate::program::{Creation, FunctionRef, Object, Place, TrainingLoop};
use crate::project::FileId;
use crate::ranks::given_seed;
use crate::semantic::{Argument, CallId, Value, ValueId};
use draws::{draws_alike, is_of_generator, is_seeded, is_seeded_by};
use held_out::{DATASET_SHUFFLE, SHUFFLE, is_shuffled};

distribution_rule!("HVD212", "data-not-sharded", steps, Warning);

/// What is said where nothing becomes faster.
const WHOLE: &str = "each rank trains on all of the data";

/// What is said where more ranks would add nothing.
const WHOLE_IN_ONE_ORDER: &str =
    "each rank trains on all of the data, as far as is seen in the same order as the others";

/// What is said where a part of the data is never used.
const SAME: &str = "each rank trains on the same first examples";

/// What helps then.
const PART: &str = "give each rank a part of the same size: `data[hvd.rank() :: hvd.size()]`";

fn steps(job: &Job<'_>) -> Vec<Step> {
    if !job.program.already_distributed {
        let mut steps = moved_seeds::steps(job, &RULE.rule);
        steps.extend(held_out::steps(job, &RULE.rule));
        return steps;
    }
    let mut found = lost_parts::steps(job, &RULE.rule);
    found.extend(held_out::left(job, &RULE.rule));
    found.extend(of_sessions(job));
    found.extend(of_other_loops(job));
    found
}

/// Sessions that are fed by hand, or by datasets of their graph, with the same on each rank.
fn of_sessions(job: &Job<'_>) -> Vec<Step> {
    let mut fed = fed_to_sessions(job);
    if fed.is_empty() {
        fed = datasets_of_graph(job);
    }
    if fed.is_empty() {
        return Vec::new();
    }
    let way = Way::to(job, &[], &fed);
    if way.is_parted() || way.has(|symbol| symbol.has(Effect::ReadsSize)) {
        return Vec::new();
    }
    sessions(job).map(|own| whole(job, own, &way)).collect()
}

/// What sessions are fed with where they run something.
fn fed_to_sessions(job: &Job<'_>) -> Vec<Place> {
    job.calls().flat_map(|(file, call)| fed_values(job, file, call)).collect()
}

/// The datasets that the losses of a session's graph are computed from.
fn datasets_of_graph(job: &Job<'_>) -> Vec<Place> {
    let facts = job.facts;
    if sessions(job).next().is_none() {
        return Vec::new();
    }
    let takes = |&(file, call): &(FileId, CallId)| {
        facts.called_symbols(file, call).any(|own| own.has(Effect::TakesGradients))
    };
    let losses = job.calls().filter(takes).filter_map(|(file, call)| {
        let loss = facts.module(file).call(call).arguments.first()?;
        Some((file, loss.value))
    });
    let losses: Vec<Place> = losses.collect();
    let behind = facts.influence().list_backwards(&losses, |_| false);
    behind.into_iter().filter(|&(file, value)| facts.may_be(file, value, Kind::Dataset)).collect()
}

/// What is trained without a session: each `fit` has data of its own, and those of the other loops are looked at together.
fn of_other_loops(job: &Job<'_>) -> Vec<Step> {
    let loops = job.program.loops.iter().filter(|own| !is_session(own));
    let (fits, stepped): (Vec<_>, Vec<_>) = loops.partition(|own| job.is_fit(own));
    let mut groups: Vec<_> = fits
        .into_iter()
        .map(|own| {
            let given = data(job, own).map(|argument| (own.caller.file, argument.value));
            (vec![own], given.into_iter().collect())
        })
        .collect();
    if !stepped.is_empty() {
        groups.push((stepped, iterated(job)));
    }
    let mut found = Vec::new();
    let mut sources: BTreeMap<(FileId, CallId), Source<'_>> = BTreeMap::new();
    for (loops, fed) in groups {
        let way = Way::to(job, &loops, &fed);
        match way.sharing() {
            Sharing::Shared => {}
            Sharing::Whole => found.extend(loops.into_iter().map(|own| whole(job, own, &way))),
            Sharing::OfSources(made) => {
                let is_divided = way.is_divided();
                for made in made {
                    let is_reordered = way.reorders(made);
                    let source = sources.entry((made.file, made.call));
                    let source = source.or_insert(Source { made, is_divided: true, is_reordered: false });
                    source.is_divided &= is_divided;
                    source.is_reordered |= is_reordered;
                }
            }
            Sharing::InOneOrder => {
                let generated = loops.into_iter().filter(|own| {
                    way.is_generated() || is_fed_by_generator(job, own) || is_fed_in_seeded_order(job, own)
                });
                found.extend(generated.map(|own| told(job, own, SAME, PART)));
            }
        }
    }
    found.extend(sources.into_values().filter_map(|source| source.step(job)));
    found
}

/// Whether `fit` is given a generator of the project's, which brings the examples in an order of its own.
fn is_fed_by_generator(job: &Job<'_>, own: &TrainingLoop) -> bool {
    let facts = job.facts;
    let file = own.caller.file;
    let Some((file, call)) = data(job, own).and_then(|data| call_of(job, (file, data.value))) else {
        return false;
    };
    let is_generator =
        |function: FunctionRef| facts.module(function.file).function(function.function).generator;
    facts.called_functions(file, call).any(is_generator)
}

/// Whether `fit` is given the project's own batches by their numbers, whose order Keras draws from Python's own generator, and the program
/// seeds that.
fn is_fed_in_seeded_order(job: &Job<'_>, own: &TrainingLoop) -> bool {
    let facts = job.facts;
    let may_be_numbered = |data: &Argument| {
        let sources = facts.of_kind(own.caller.file, data.value, Kind::BatchSource);
        sources.into_iter().any(|source| matches!(facts.solution.object(source), Object::Instance(..)))
    };
    data(job, own).is_some_and(may_be_numbered) && is_seeded(job, PYTHON_RANDOM)
}

/// The package that Keras draws the order of batches with.
const PYTHON_RANDOM: &str = "random";

/// The step for a loop that each rank goes through with all that the program trains on, as one process does.
fn whole(job: &Job<'_>, own: &TrainingLoop, way: &Way<'_, '_>) -> Step {
    told(
        job,
        own,
        if way.has_own_order() || shuffles_itself(job, own) { WHOLE } else { WHOLE_IN_ONE_ORDER },
        "give each rank a part of the same size, `data[hvd.rank() :: hvd.size()]`, or divide the epochs by `hvd.size()`",
    )
}

/// Whether `fit` goes through arrays in an order that it draws, and that nothing makes the same on all ranks.
fn shuffles_itself(job: &Job<'_>, own: &TrainingLoop) -> bool {
    job.facts.fits_in_drawn_order(own.caller.file, own.call) && !seeds_alike(job, KERAS_RANDOM)
}

/// The package that `fit` draws with.
const KERAS_RANDOM: &str = "tensorflow";

/// Whether the program seeds what a package draws with, on all ranks with the same.
fn seeds_alike(job: &Job<'_>, package: &str) -> bool {
    job.calls().any(|(file, call)| {
        let mut symbols = job.facts.called_symbols(file, call);
        let mut given = job.facts.module(file).call(call).arguments.iter();
        symbols.any(|own| own.has(Effect::SeedsRandom) && is_seeded_by(job, own, package))
            && !is_of_generator(job, file, call)
            && !given.any(|own| reads_rank(job, file, own.value))
    })
}

/// What is said of a loop, and not changed.
fn told(job: &Job<'_>, own: &TrainingLoop, message: &str, help: &str) -> Step {
    let file = own.caller.file;
    let finding = Step::missing(&RULE.rule, job.at_call(file, own.call), message)
        .here("fed with the same on each rank")
        .help(help)
        .in_scope(job.scope_of(file, own.call))
        .confidence(Confidence::Possible);
    Step { finding, outcome: Outcome::ByHand, everywhere: Vec::new() }
}

fn asks_for_rank(symbol: &Symbol) -> bool {
    symbol.has(Effect::ReadsRank) || symbol.has(Effect::ReadsLocalRank)
}

fn call_of(job: &Job<'_>, (file, value): Place) -> Option<(FileId, CallId)> {
    match job.facts.module(file).value(value).value {
        Value::Call(call) => Some((file, call)),
        _ => None,
    }
}

/// Whether a call draws an order, or what may become one, that nothing makes the same on all ranks.
fn draws_own_order(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let draws = |own: &Symbol| {
        let is_drawn = own.has(Effect::DrawsRandom)
            || own.has(Effect::ReadsFile)
                && own.parameter(SHUFFLE).is_some()
                && is_shuffled(job, file, call, own);
        is_drawn && !seeds_alike(job, own.package())
    };
    // `tfds.load(name)["train"].shuffle(1000)`
    let shuffle = job.facts.library.lookup(DATASET_SHUFFLE.0);
    let shuffles = |own: &Symbol| Some(own) == shuffle;
    (job.facts.called_symbols(file, call).any(draws)
        || job.facts.may_call(file, call, DATASET, shuffles) && !seeds_alike(job, KERAS_RANDOM))
        && (!draws_alike(job, file, call)
            || given_seed(job.facts, file, call).is_some_and(|seed| reads_rank(job, file, seed.value)))
}

/// The class of datasets.
const DATASET: &str = "tensorflow.data.Dataset";

/// What those that only draw an order are given as their seeds.
fn seeds_of_orders(job: &Job<'_>) -> FxHashSet<Place> {
    let shuffle = job.facts.library.lookup(DATASET_SHUFFLE.0);
    let orders = job.calls().filter(|&(file, call)| {
        let mut symbols = job.facts.called_symbols(file, call);
        symbols.any(|own| Some(own) == shuffle || own.has(Effect::Reorders))
    });
    orders.filter_map(|(file, call)| Some((file, given_seed(job.facts, file, call)?.value))).collect()
}

/// How ranks share what a loop is fed with.
enum Sharing<'c> {
    /// Each has a part, or an order of its own.
    Shared,
    /// Each goes through everything.
    Whole,
    /// They read these datasets in the same order.
    OfSources(Vec<&'c Creation>),
    /// Each makes its share of the steps, in an order that isn't known.
    InOneOrder,
}

/// The calls on the way to what loops are fed.
struct Way<'j, 'c> {
    job: &'j Job<'c>,
    calls: Vec<(FileId, CallId)>,
    /// Those that run the loops.
    loops: Vec<(FileId, CallId)>,
}

impl<'j, 'c> Way<'j, 'c> {
    /// The way to what these loops are fed.
    fn to(job: &'j Job<'c>, loops: &[&TrainingLoop], fed: &[Place]) -> Self {
        let facts = job.facts;
        let seeds = seeds_of_orders(job);
        // What is agreed on is the same on all ranks, however each of them came to it. An order parts no data.
        let stops = |place: Place| seeds.contains(&place) || facts.gives(place, &[Effect::Agrees]);
        let mut behind = facts.influence().backwards(fed, stops);
        behind.retain(|place| !seeds.contains(place));
        let loops = loops.iter().map(|own| (own.caller.file, own.call)).collect();
        // `random.shuffle(files)` is given what it puts into another order.
        let is_behind = |place: Place| {
            // `self.data` is read anew behind `random.shuffle(self.data)`.
            let is_read = matches!(facts.module(place.0).value(place.1).value, Value::Attribute { .. });
            behind.contains(&place)
                || is_read && facts.influence().operands(place).any(|own| behind.contains(&own))
        };
        let reorders = |&(file, call): &(FileId, CallId)| {
            let mut given = facts.module(file).call(call).arguments.iter();
            facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Reorders))
                && given.any(|own| is_behind((file, own.value)))
        };
        let calls = behind.iter().filter_map(|&place| call_of(job, place));
        let calls = calls.chain(job.calls().filter(reorders));
        let is_run = |&(file, call): &(FileId, CallId)| !facts.is_ruled_out(job.program, file, call);
        Self { job, calls: calls.filter(is_run).collect(), loops }
    }

    fn sharing(&self) -> Sharing<'c> {
        if self.is_parted() || self.has_own_order() && self.is_divided() {
            return Sharing::Shared;
        }
        let sources = self.sources();
        if !sources.is_empty() {
            Sharing::OfSources(sources)
        } else if self.is_divided() {
            Sharing::InOneOrder
        } else if self.has(|symbol| symbol.has(Effect::ReadsSize)) {
            Sharing::Shared
        } else {
            Sharing::Whole
        }
    }

    /// Whether something on the way depends on the rank.
    fn is_parted(&self) -> bool {
        self.has(|symbol| symbol.has(Effect::Shards) || asks_for_rank(symbol))
    }

    fn has(&self, wanted: impl Fn(&Symbol) -> bool) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|&(file, call)| self.job.facts.called_symbols(file, call).any(&wanted))
    }

    /// Whether each rank draws an order of its own.
    fn has_own_order(&self) -> bool {
        self.calls.iter().any(|&(file, call)| draws_own_order(self.job, file, call))
    }

    /// Whether each rank draws an order of its own of what a dataset is made of, or brings.
    fn reorders(&self, made: &Creation) -> bool {
        let facts = self.job.facts;
        let brought = (made.file, facts.module(made.file).call(made.call).result);
        let behind = facts.influence().forwards(&[brought], |_| false);
        let drawn_behind = self.calls.iter().any(|&(file, call)| {
            behind.contains(&(file, facts.module(file).call(call).result))
                && draws_own_order(self.job, file, call)
        });
        drawn_behind || Way::to(self.job, &[], &[brought]).has_own_order()
    }

    /// Whether each rank makes its share of the steps.
    fn is_divided(&self) -> bool {
        let facts = self.job.facts;
        self.calls.iter().chain(&self.loops).any(|&(file, call)| {
            let data = facts.module(file).call(call);
            facts.called_symbols(file, call).any(|symbol| {
                let mut counts = symbol.scaled().filter(|(_, scaling)| *scaling == Scaling::Divide);
                counts.any(|(name, _)| {
                    let count = facts.argument(file, data, symbol, name);
                    count.is_some_and(|count| reads_size(self.job, file, count.value))
                })
            })
        })
    }

    /// Whether a dataset brings what a generator of the project's does, `Dataset.from_generator(examples)`.
    fn is_generated(&self) -> bool {
        let facts = self.job.facts;
        let generates = |file: FileId, value: ValueId| {
            let mut objects = facts.objects(file, value).map(|(_, object)| object).peekable();
            objects.peek().is_some()
                && objects.all(|own| matches!(own, Object::Function(_) | Object::Bound(..)))
        };
        let made = facts.creations.iter().filter(|made| made.kind == Kind::Dataset && !made.derived);
        made.filter(|made| self.calls.contains(&(made.file, made.call))).any(|made| {
            let calls_back =
                facts.called_symbols(made.file, made.call).any(|symbol| !symbol.calls().is_empty());
            let generator = facts.module(made.file).call(made.call).arguments.first();
            calls_back && generator.is_some_and(|own| generates(made.file, own.value))
        })
    }

    /// The datasets that the way begins with and whose order is the same on all ranks; not those that are made of others,
    /// `Dataset.zip((images, labels))`.
    fn sources(&self) -> Vec<&'c Creation> {
        let facts = self.job.facts;
        let place = |made: &Creation| (made.file, facts.module(made.file).call(made.call).result);
        let found = facts.creations.iter().filter(|made| {
            made.kind == Kind::Dataset && !made.derived && self.calls.contains(&(made.file, made.call))
        });
        let found: Vec<&Creation> = found
            .filter(|made| {
                let mut symbols = facts.called_symbols(made.file, made.call).peekable();
                symbols.peek().is_some()
                    && symbols.all(|symbol| symbol.calls().is_empty() && !symbol.has(Effect::Varies))
            })
            .collect();
        let is_first = |made: &&&Creation| {
            let behind = facts.influence().backwards(&[place(made)], |_| false);
            !found.iter().any(|other| place(other) != place(made) && behind.contains(&place(other)))
        };
        found.iter().filter(is_first).copied().collect()
    }
}

/// A dataset that all ranks read in the same order.
struct Source<'c> {
    made: &'c Creation,
    /// Whether each rank makes its share of the steps of all loops that it is for.
    is_divided: bool,
    /// Whether each rank trains on it in an order of its own, in some of them.
    is_reordered: bool,
}

impl Source<'_> {
    fn step(&self, job: &Job<'_>) -> Option<Step> {
        let (file, call) = (self.made.file, self.made.call);
        let (message, here) = match (self.is_divided, self.is_reordered) {
            (true, _) => (SAME, "read in the same order by each rank"),
            (false, true) => (WHOLE, "read by each rank"),
            (false, false) => (WHOLE_IN_ONE_ORDER, "read by each rank"),
        };
        let finding = Step::missing(&RULE.rule, job.at_call(file, call), message)
            .here(here)
            .help("give each rank its part where the data comes from: `.shard(hvd.size(), hvd.rank())`")
            .in_scope(job.scope_of(file, call))
            .confidence(Confidence::Possible);
        let name = job.names(file).horovod;
        // Parts of different sizes would end at different times, if the steps were not counted.
        if !self.is_divided || !name.bound || !runs_started(job, file, call) {
            return Some(Step { finding, outcome: Outcome::ByHand, everywhere: Vec::new() });
        }
        let text = job.text(file)?;
        let shard = format!(".shard({hvd}.size(), {hvd}.rank())", hvd = name.text);
        let edits = vec![text.insert(text.module.call(call).range.end(), shard)];
        let outcome = Outcome::Change {
            applicability: Applicability::Unsafe,
            message: "give each rank its part".to_owned(),
            edits,
            uses: Vec::new(),
        };
        Some(Step { finding, outcome, everywhere: Vec::new() })
    }
}
