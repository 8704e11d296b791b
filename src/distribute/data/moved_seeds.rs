//! Seeds that make all ranks draw the same numbers: each rank would train on the same examples in the same order, and more
//! ranks would add nothing. The rank's number is added to them (mistake F2 of `horovod.md`); on one rank that is nothing.
//!
//! What is drawn for something else than the steps, such as a split of the data, has to stay the same on all ranks, and
//! its seed as it is.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::job::Job;
use super::super::session::{runs, sessions};
use super::super::started::runs_started;
use super::super::step::Step;
use super::super::steps::fed;
use super::draws::{DRAWING_FROM_NUMPY, is_of_generator, is_seeded_by};
use crate::api::{Effect, Kind, Symbol};
use crate::finding::Rule;
use crate::program::{Caller, ClassRef, Literal, Object, ObjectId, Place};
use crate::project::FileId;
use crate::ranks::has_own_seed;
use crate::semantic::{Argument, CallId, StatementId, StatementKind, Value};

/// The seeds to which a program that is not distributed yet has to add the rank's number.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let divided = divided(job);
    let seeds = seeds_of_libraries(job, &divided).into_iter().chain(seeds_of_data(job, &divided));
    seeds.filter_map(|seed| step(job, rule, seed)).collect()
}

/// A call, and the seed that it is given.
type Seed<'j> = (FileId, CallId, &'j Argument);

fn step(job: &Job<'_>, rule: &'static Rule, (file, call, seed): Seed<'_>) -> Option<Step> {
    let text = job.text(file)?;
    let code = job.code(file, text.module.call(call).scope);
    let message = "all ranks draw the same numbers, and train on the same examples in the same order";
    let finding = Step::missing(rule, job.facts.location(file, seed.range), message)
        .here("the same on each rank")
        .help("add the rank's number: `+ hvd.rank()`")
        .in_scope(job.scope_of(file, call));
    let edits = text.add(seed.range, &code.rank());
    let step = Step::change(finding, "give each rank a seed of its own", edits, vec![code.import]);
    Some(code.step(step))
}

/// Whether a seed is a number that is written, in code that may ask for the rank.
fn is_movable(job: &Job<'_>, (file, call, seed): Seed<'_>) -> bool {
    let is_number = |(_, object)| matches!(object, Object::Literal(Literal::Int(_)));
    let mut given = job.facts.objects(file, seed.value).peekable();
    given.peek().is_some() && given.all(is_number) && runs_started(job, file, call)
}

/// The seeds of libraries' own generators, `tf.random.set_seed(1)`, from which nothing is drawn but what the steps use.
fn seeds_of_libraries<'j>(job: &'j Job<'_>, divided: &FxHashSet<Place>) -> Vec<Seed<'j>> {
    let facts = job.facts;
    let seeding: Vec<(FileId, CallId, &Symbol)> = job
        .calls()
        .flat_map(|(file, call)| facts.called_symbols(file, call).map(move |own| (file, call, own)))
        .filter(|(_, _, own)| own.has(Effect::SeedsRandom) && !own.is_class())
        .collect();
    if seeding.is_empty() {
        return Vec::new();
    }
    let draws = draws(job, divided);
    let fits = job.program.loops.iter().any(|own| job.is_fit(own));
    let mut found = Vec::new();
    for (file, call, symbol) in seeding {
        let data = facts.module(file).call(call);
        let mut seeded = draws.iter().filter(|own| is_seeded_by(job, symbol, own.package)).peekable();
        // Keras shuffles arrays, and its layers draw.
        let is_drawn_from =
            seeded.peek().is_some() || fits && facts.library.is_training_library(symbol.package());
        if let [seed] = &data.arguments[..]
            && !is_of_generator(job, file, call)
            && is_drawn_from
            && seeded.all(|own| own.is_for_steps)
            && is_movable(job, (file, call, seed))
        {
            found.push((file, call, seed));
        }
    }
    found
}

/// A call that draws from the generator of a library.
struct Draw<'j> {
    package: &'j str,
    /// Whether what is drawn is an order of examples or a number that a step computes with.
    is_for_steps: bool,
}

fn draws<'j>(job: &'j Job<'_>, divided: &FxHashSet<Place>) -> Vec<Draw<'j>> {
    let facts = job.facts;
    let mut within = WithinSteps::of(job);
    let mut found = Vec::new();
    for (file, call) in job.calls() {
        let mut symbols =
            facts.called_symbols(file, call).filter(|own| own.has(Effect::DrawsRandom) && !own.is_class());
        let Some(symbol) = symbols.next() else { continue };
        let package = symbol.package();
        let is_of_training = facts.library.is_training_library(package);
        let has_own_generator = is_of_generator(job, file, call);
        // An operation's own seed is joined to TensorFlow's.
        if has_own_generator || !is_of_training && has_own_seed(facts, file, call) {
            continue;
        }
        let is_split = DRAWING_FROM_NUMPY.contains(&package);
        let result = (file, facts.module(file).call(call).result);
        let is_order = is_order(job, file, call) && !divided.contains(&result);
        let is_for_steps =
            !is_split && (is_order || within.has(file, call)) && !job.deciding_traces().contains(&result);
        found.push(Draw { package, is_for_steps });
    }
    found
}

/// The seeds of what brings the examples into an order: `data.shuffle(1000, seed=1)`. All of them, or none: examples and their
/// labels may come from two.
fn seeds_of_data<'j>(job: &'j Job<'_>, divided: &FxHashSet<Place>) -> Vec<Seed<'j>> {
    let facts = job.facts;
    let mut found = Vec::new();
    for (file, value) in facts.influence().backwards(&fed(job), |_| false) {
        let Value::Call(call) = facts.module(file).value(value).value else { continue };
        if !is_order(job, file, call) || !job.runs(file, call) {
            continue;
        }
        let data = facts.module(file).call(call);
        let seed = facts.called_symbols(file, call).find_map(|own| facts.argument(file, data, own, SEED));
        let Some(seed) = seed else { continue };
        if divided.contains(&(file, value)) || !is_movable(job, (file, call, seed)) {
            return Vec::new();
        }
        found.push((file, call, seed));
    }
    found.sort_unstable_by_key(|&(file, call, _)| (file, call));
    found
}

const SEED: &str = "seed";

/// Whether a call draws the order in which examples come.
pub(in crate::distribute) fn is_order(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let result = facts.module(file).call(call).result;
    facts.called_symbols(file, call).any(|own| own.has(Effect::DrawsRandom))
        && (facts.may_be(file, result, Kind::Dataset) || facts.may_be(file, result, Kind::BatchSource))
}

/// The values that decide, by the order of their elements, which examples there are: `data.shuffle(1000)` in front of
/// `.skip(100)`.
fn divided(job: &Job<'_>) -> FxHashSet<Place> {
    let facts = job.facts;
    let dividing = DIVIDING.map(|name| facts.library.lookup(name));
    let mut given: Vec<Place> = Vec::new();
    for (file, call) in job.calls() {
        if facts.called_symbols(file, call).any(|own| dividing.contains(&Some(own))) {
            let data = facts.module(file).call(call);
            let values = data.arguments.iter().map(|own| own.value).chain(facts.receiver(file, data));
            given.extend(values.map(|value| (file, value)));
        }
    }
    facts.influence().backwards(&given, |_| false)
}

/// What chooses examples by their places.
const DIVIDING: [&str; 5] = [
    "tensorflow.data.Dataset.enumerate",
    "tensorflow.data.Dataset.filter",
    "tensorflow.data.Dataset.shard",
    "tensorflow.data.Dataset.skip",
    "tensorflow.keras.utils.split_dataset",
];

/// The code that runs within the steps of training, or brings the examples for them.
struct WithinSteps<'j, 'c> {
    job: &'j Job<'c>,
    /// The outermost loops around the steps in which the same models are trained.
    loops: FxHashSet<(FileId, StatementId)>,
    known: FxHashMap<Caller, bool>,
}

impl<'j, 'c> WithinSteps<'j, 'c> {
    fn of(job: &'j Job<'c>) -> Self {
        let facts = job.facts;
        let mut loops = FxHashSet::default();
        let mut seen: FxHashSet<(FileId, CallId)> = FxHashSet::default();
        let mut work: Vec<(FileId, CallId)> = Vec::new();
        for own in job.program.loops.iter().chain(&job.program.steps_of_fit) {
            work.extend(own.steps.iter().chain(&own.by_hand));
            work.push((own.caller.file, own.call));
        }
        if sessions(job).next().is_some() {
            work.extend(job.calls().filter(|&(file, call)| runs::steps(job, file, call)));
        }
        let trained = job.program.loops.iter().flat_map(|own| own.models.iter().chain(&own.optimizers));
        let made: Vec<(FileId, StatementId)> = trained.filter_map(|&own| made_by(job, own)).collect();
        while let Some((file, call)) = work.pop() {
            if !seen.insert((file, call)) {
                continue;
            }
            let module = facts.module(file);
            let data = module.call(call);
            let makes = |around: StatementId| {
                made.iter().any(|&(of, at)| of == file && module.ancestor_ids(at).any(|own| own == around))
            };
            let around = std::iter::once(data.statement).chain(module.ancestor_ids(data.statement));
            let own = around
                .take_while(|&id| module.statement(id).kind != StatementKind::Function)
                .filter(|&id| matches!(module.statement(id).kind, StatementKind::For | StatementKind::While))
                .take_while(|&id| !makes(id))
                .last();
            if let Some(own) = own {
                loops.insert((file, own));
            } else if let Some(function) = facts.function_of(Caller { file, scope: data.scope }) {
                let edges = facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge));
                work.extend(edges.filter_map(|edge| Some((edge.caller.file, edge.call?))));
            }
        }
        Self { job, loops, known: FxHashMap::default() }
    }

    /// Whether a call is made within the steps only.
    fn has(&mut self, file: FileId, call: CallId) -> bool {
        let module = self.job.facts.module(file);
        let data = module.call(call);
        let code = Caller { file, scope: module.code_scope(data.scope) };
        module.ancestor_ids(data.statement).any(|own| self.loops.contains(&(file, own)))
            || self.has_code(code)
    }

    fn has_code(&mut self, code: Caller) -> bool {
        if let Some(&known) = self.known.get(&code) {
            return known;
        }
        // Code that calls itself is asked for the others that call it.
        self.known.insert(code, true);
        let known = self.is_code_within(code);
        self.known.insert(code, known);
        known
    }

    fn is_code_within(&mut self, code: Caller) -> bool {
        let facts = self.job.facts;
        let Some(function) = facts.function_of(code) else { return false };
        let own = facts.module(function.file).function(function.function);
        let brings_batches = own.class.is_some_and(|class| {
            let base = facts.library_base(ClassRef { file: function.file, class });
            base.is_some_and(|base| facts.library.kind_of_class(base) == Kind::BatchSource)
        });
        if own.generator || brings_batches || self.job.traced.contains(&code) {
            return true;
        }
        let edges = facts.incoming(function).iter().filter(|edge| facts.is_run(self.job.program, edge));
        let calls: Vec<Option<(FileId, CallId)>> =
            edges.map(|edge| Some((edge.caller.file, edge.call?))).collect();
        !calls.is_empty()
            && calls.into_iter().all(|call| call.is_some_and(|(file, call)| self.has(file, call)))
    }
}

/// The statement that makes an object.
fn made_by(job: &Job<'_>, object: ObjectId) -> Option<(FileId, StatementId)> {
    let (file, call) = job.facts.made_at(object)?;
    Some((file, job.facts.module(file).call(call).statement))
}
