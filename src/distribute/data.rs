//! Each rank trains on its part of the data, or on an order of its own.
//!
//! Not in the seed, whose rules divide the steps: without a shuffle all ranks then train on the same first examples. A
//! program is asked once it is distributed, and its answer is only possible: what an example is and how many there
//! are is known when it runs.

use super::distribution_rule;
use super::draws::draws_alike;
use super::held_out;
use super::job::Job;
use super::moved_seeds;
use super::ranked::reads_size;
use super::session::{self, is_session, sessions};
use super::started::runs_started;
use super::step::{Outcome, Step};
use super::steps::{data, fed};
use crate::api::{Effect, Kind, Scaling, Symbol};
use crate::finding::{Applicability, Confidence};
use crate::program::{Creation, FunctionRef, Place, TrainingLoop};
use crate::project::FileId;
use crate::semantic::{CallId, Value};

distribution_rule!("HVD212", "data-not-sharded", steps, Warning);

/// What is said where nothing becomes faster.
const WHOLE: &str = "each rank trains on all of the data";

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
    let mut found = of_sessions(job);
    found.extend(of_other_loops(job));
    found
}

/// Sessions that are fed by hand, with the same on each rank.
fn of_sessions(job: &Job<'_>) -> Vec<Step> {
    let fed = fed_to_sessions(job);
    if fed.is_empty() {
        return Vec::new();
    }
    let way = Way::to(job, &fed);
    if way.is_parted() || way.has(|symbol| symbol.has(Effect::ReadsSize)) {
        return Vec::new();
    }
    sessions(job).map(|own| whole(job, own)).collect()
}

/// What sessions are fed with where they run steps.
fn fed_to_sessions(job: &Job<'_>) -> Vec<Place> {
    let facts = job.facts;
    let running = job.calls().filter(|&(file, call)| session::runs(job, file, call));
    let given = running.filter_map(|(file, id)| {
        let call = facts.module(file).call(id);
        let mut symbols = facts.called_symbols(file, id);
        let given = symbols.find_map(|symbol| facts.argument(file, call, symbol, FED))?;
        Some((file, given.value))
    });
    given.collect()
}

/// The parameter for what a session is fed with.
const FED: &str = "feed_dict";

fn of_other_loops(job: &Job<'_>) -> Vec<Step> {
    let way = Way::to(job, &fed(job));
    if way.is_parted() || way.is_shuffled() && way.is_divided() {
        return Vec::new();
    }
    let sources = way.sources();
    let loops = job.program.loops.iter().filter(|own| !is_session(own));
    if sources.is_empty() && way.is_divided() {
        return loops
            .filter(|own| is_fed_by_generator(job, own))
            .map(|own| told(job, own, SAME, PART))
            .collect();
    }
    if sources.is_empty() && !way.has(|symbol| symbol.has(Effect::ReadsSize)) {
        return loops.map(|own| whole(job, own)).collect();
    }
    sources.into_iter().filter_map(|source| way.step(source)).collect()
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

/// The step for a loop that each rank goes through with all that the program trains on, as one process does.
fn whole(job: &Job<'_>, own: &TrainingLoop) -> Step {
    told(
        job,
        own,
        WHOLE,
        "give each rank a part of the same size, `data[hvd.rank() :: hvd.size()]`, or divide the epochs by `hvd.size()`",
    )
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

/// The calls on the way to what the loops are fed.
struct Way<'j, 'c> {
    job: &'j Job<'c>,
    calls: Vec<(FileId, CallId)>,
}

impl<'j, 'c> Way<'j, 'c> {
    /// The way to what loops are fed.
    fn to(job: &'j Job<'c>, fed: &[Place]) -> Self {
        let behind = job.facts.influence().backwards(fed, |_| false);
        Self { job, calls: behind.iter().filter_map(|&place| call_of(job, place)).collect() }
    }

    /// Whether something on the way depends on the rank.
    fn is_parted(&self) -> bool {
        self.has(|symbol| symbol.has(Effect::Shards) || asks_for_rank(symbol))
    }

    fn has(&self, wanted: impl Fn(&Symbol) -> bool) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|&(file, call)| self.job.facts.called_symbols(file, call).any(&wanted))
    }

    /// Whether the examples come in an order that is drawn.
    fn is_shuffled(&self) -> bool {
        let draws = |file: FileId, call: CallId| {
            self.job.facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::DrawsRandom))
        };
        self.calls.iter().any(|&(file, call)| draws(file, call) && !draws_alike(self.job, file, call))
    }

    /// Whether each rank makes its share of the steps.
    fn is_divided(&self) -> bool {
        let facts = self.job.facts;
        let of_fit = self.job.program.loops.iter().map(|own| (own.caller.file, own.call));
        self.calls.iter().copied().chain(of_fit).any(|(file, call)| {
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

    /// The datasets that the way begins with and whose order is the same on all ranks.
    fn sources(&self) -> Vec<&Creation> {
        let facts = self.job.facts;
        let mut found: Vec<&Creation> = facts
            .creations
            .iter()
            .filter(|made| {
                made.kind == Kind::Dataset && !made.derived && self.calls.contains(&(made.file, made.call))
            })
            .filter(|made| {
                let mut symbols = facts.called_symbols(made.file, made.call).peekable();
                symbols.peek().is_some()
                    && symbols.all(|symbol| symbol.calls().is_empty() && !symbol.has(Effect::Varies))
            })
            .collect();
        found.sort_by_key(|made| (made.file, made.call));
        found
    }

    fn step(&self, source: &Creation) -> Option<Step> {
        let job = self.job;
        let (file, call) = (source.file, source.call);
        let (message, here) = if self.is_divided() {
            (SAME, "read in the same order by each rank")
        } else {
            (WHOLE, "read by each rank")
        };
        let finding = Step::missing(&RULE.rule, job.at_call(file, call), message)
            .here(here)
            .help("give each rank its part where the data comes from: `.shard(hvd.size(), hvd.rank())`")
            .in_scope(job.scope_of(file, call))
            .confidence(Confidence::Possible);
        let name = job.names(file).horovod;
        // Parts of different sizes would end at different times, if the steps were not counted.
        if !self.is_divided() || !name.bound || !runs_started(job, file, call) {
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
