//! Examples that a program holds out to validate with, in an order that each rank draws for itself: `train_test_split(x, y)`. What
//! one rank holds out another trains on, and the result tells nothing of examples that are new. Or examples that it chooses once
//! among others, `x[np.random.rand(len(x)) < 0.8]`: each rank would have another number of them. Or a matrix that it multiplies
//! all of them by, or which files rank 0 writes for all. Rank 0 draws a seed for all.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use super::super::awaited::{all_ranks_come_to, can_be_told};
use super::super::broadcast::site::is_repeated;
use super::super::job::Job;
use super::super::keras::{Given, given};
use super::super::names::Import;
use super::super::obstacles::layer_code::{is_of_layer, results_of_layers};
use super::super::obstacles::own_lengths::comprehension_tests;
use super::super::output::told_paths::shared_paths;
use super::super::ranked::reads_rank;
use super::super::session::{fed::fed_values, runs, sessions};
use super::super::step::{Outcome, Step};
use super::super::steps::{data, fed};
use super::draws::{draws_alike, is_of_generator, is_seeded};
use super::moved_seeds::is_order;
use super::projections::Products;
use crate::api::{Effect, Parameter, Returns, Role, Symbol};
use crate::finding::{Confidence, Edit, Finding, Rule};
use crate::program::{Caller, Literal, LoopKind, Object, Place, influenced_through_contents};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{Call, CallId, Value, ValueId};
use crate::syntax::TextSize;

/// The parameter of `fit` for what it validates with.
const VALIDATION: &str = "validation_data";

/// The parameter for how much of what it trains on it holds out.
const VALIDATION_SPLIT: &str = "validation_split";

/// The parameters for the seed of what draws by itself.
const SEEDS: [&str; 2] = [ESTIMATORS_SEED, "seed"];

/// The parameter of scikit-learn's for it.
const ESTIMATORS_SEED: &str = "random_state";

/// The modules whose functions draw from a common generator, each with the class of generators that take a seed.
const GENERATORS: [(&str, &str); 2] = [("numpy.random", "RandomState"), ("random", "Random")];

/// What a program that is not distributed yet has to do so that the draws that decide what is held out are alike on all ranks.
pub(super) fn steps(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    job.draws_for_all().iter().filter_map(|draw| step(job, rule, draw)).collect()
}

/// What a distributed program is told of such draws: that of a graph, or under a condition, gets no seed from rank 0.
pub(super) fn left(job: &Job<'_>, rule: &'static Rule) -> Vec<Step> {
    let draws = job.draws_for_all().iter().filter(|own| !is_of_told_generator(job, own.file, own.call));
    let told = draws.map(|draw| Step {
        finding: finding(job, rule, draw).confidence(Confidence::Possible),
        outcome: Outcome::ByHand,
        everywhere: Vec::new(),
    });
    told.collect()
}

/// Whether a call draws from a generator that was made with a seed, such as one that rank 0 has drawn for all.
fn is_of_told_generator(job: &Job<'_>, file: FileId, call: CallId) -> bool {
    let facts = job.facts;
    let Some(receiver) = facts.receiver(file, facts.module(file).call(call)) else { return false };
    facts.solution.values(file, receiver).iter().filter_map(|&own| facts.made_at(own)).any(|(of, made)| {
        let seed = facts.module(of).call(made).arguments.first();
        seed.is_some_and(|own| !facts.is_none(of, own.value))
    })
}

/// A call that draws what all ranks need the same of.
#[derive(Debug)]
pub(in crate::distribute) struct Draw {
    pub(in crate::distribute) file: FileId,
    pub(in crate::distribute) call: CallId,
    /// Which of the symbols that the call may call draws.
    symbol: usize,
    decides: Decides,
}

/// What a draw decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decides {
    /// Which examples are held out.
    HeldOut,
    /// Which examples there are, and so how many.
    Which,
    /// What examples are computed with, as a matrix that they are multiplied by.
    Function,
    /// Which of several files rank 0 writes, and the others read.
    Files,
}

/// The draws that decide what is held out, which examples there are, or what they are computed with.
pub(in crate::distribute) fn deciding(job: &Job<'_>) -> Vec<Draw> {
    let facts = job.facts;
    let draws: Vec<(FileId, CallId, (usize, &Symbol))> = job
        .calls()
        .flat_map(|(file, call)| {
            facts.called_symbols(file, call).enumerate().map(move |own| (file, call, own))
        })
        .filter(|&(file, call, (_, own))| {
            // What is drawn again and again is an order of batches, which each rank has for itself.
            own.has(Effect::DrawsRandom)
                && !is_repeated(job, file, call)
                && !draws_alike(job, file, call)
                && (is_of_generator(job, file, call) || !is_seeded(job, own.package()))
        })
        .collect();
    if draws.is_empty() {
        return Vec::new();
    }
    let (trained_on, validated_with) = (trained_on(job), validated(job));
    let behind = |places: &[Place]| job.facts.influence().backwards(places, |place| !job.evaluates(place));
    let (trained, validated) = (behind(&trained_on), behind(&validated_with));
    // What layers compute with goes into the training as well.
    let others: Vec<Place> = targets(job).into_iter().chain(results_of_layers(job)).collect();
    let examples: FxHashSet<Place> = trained.union(&behind(&others)).copied().collect();
    let products = Products::among(job, &examples);
    // All ranks would train on the same batches, where nothing else brings the examples into an order.
    let has_other_order = |file: FileId, call: CallId| {
        trained.iter().any(|&(of, value)| match job.facts.module(of).value(value).value {
            Value::Call(own) => (of, own) != (file, call) && is_order(job, of, own),
            _ => false,
        })
    };
    let holds_out = |file: FileId, call: CallId, symbol: &Symbol| {
        if job.facts.library.lookup(DATASET_SHUFFLE.0) == Some(symbol) && !has_other_order(file, call) {
            return false;
        }
        let ordered = reordered(job, file, call, symbol);
        let is_in_both = |place: &Place| trained.contains(place) && validated.contains(place);
        ordered.iter().any(is_in_both) || {
            let from: Vec<Place> = ordered.into_iter().collect();
            let reached = reached_from(job, &from);
            let reaches = |places: &[Place]| places.iter().any(|own| reached.contains(own));
            // What is left over need not be used.
            let splits = symbol.name().rsplit_once('.').is_some_and(|(module, _)| module == SPLITTING);
            reaches(&trained_on) && (splits || reaches(&validated_with))
        }
    };
    let shared = OnceCell::new();
    let decides = |file: FileId, call: CallId, symbol: &Symbol| {
        let drawn = (file, job.facts.module(file).call(call).result);
        if symbol.has(Effect::Reorders) || job.facts.library.lookup(DATASET_SHUFFLE.0) == Some(symbol) {
            let is_drawn = reorders(job, file, call, symbol);
            // Of what returns them rank 0 tells the names themselves.
            let is_of_files = || {
                let paths = shared.get_or_init(|| shared_paths(job));
                *symbol.returns() == Returns::Nothing
                    && reordered(job, file, call, symbol).iter().any(|own| paths.contains(own))
            };
            return if is_drawn && holds_out(file, call, symbol) {
                Some(Decides::HeldOut)
            } else {
                (is_drawn && is_of_files()).then_some(Decides::Files)
            };
        }
        if draws_numbers(symbol) && chosen_by(job, drawn).iter().any(|own| trained.contains(own)) {
            return Some(Decides::Which);
        }
        // `GaussianRandomProjection(32)`, `make_classification(1000)`
        let is_used = symbol.parameter(ESTIMATORS_SEED).is_some() && examples.contains(&drawn);
        // What a step or a layer draws is noise.
        let code = Caller { file, scope: job.facts.module(file).call(call).scope };
        let is_noise = job.traced.contains(&code) || is_of_layer(job, code);
        (!is_noise && (is_used || products.are_by(job, drawn))).then_some(Decides::Function)
    };
    let draw = |(file, call, (symbol, own))| {
        decides(file, call, own).map(|decides| Draw { file, call, symbol, decides })
    };
    draws.into_iter().filter_map(draw).collect()
}

/// The module whose orders are made to hold examples out.
const SPLITTING: &str = "sklearn.model_selection";

/// What is made of values, also through lists, and by leaving out what is among them: `[own for own in names if own not in held]`.
fn reached_from(job: &Job<'_>, from: &[Place]) -> FxHashSet<Place> {
    let facts = job.facts;
    let computed = |from: &[Place]| influenced_through_contents(facts, from, |place| !job.evaluates(place));
    let mut found = computed(from);
    let files = job.program.files().into_iter();
    let chosen: Vec<Place> = files
        .flat_map(|file| (0..facts.module(file).values.len()).map(move |own| (file, ValueId::new(own))))
        .filter(|&(file, value)| {
            let mut tests = comprehension_tests(facts.module(file), value);
            tests.any(|test| found.contains(&(file, test)))
        })
        .collect();
    found.extend(computed(&chosen));
    found
}

/// What a program trains on, also batch by batch.
fn trained_on(job: &Job<'_>) -> Vec<Place> {
    let mut found = fed(job);
    for own in job.program.loops.iter().filter(|own| own.kind == LoopKind::KerasFit && !job.is_fit(own)) {
        found.extend(data(job, own).map(|argument| (own.caller.file, argument.value)));
    }
    // `tape.gradient(loss, variables)` of a loss over all examples
    for &(file, call) in job.tape_loops().flat_map(|own| &own.gradients) {
        found.extend(job.facts.module(file).call(call).arguments.first().map(|loss| (file, loss.value)));
    }
    if sessions(job).next().is_some() {
        let steps = job.calls().filter(|&(file, call)| runs::steps(job, file, call));
        found.extend(steps.flat_map(|(file, call)| fed_values(job, file, call)));
    }
    found
}

/// The targets that calls train with.
fn targets(job: &Job<'_>) -> Vec<Place> {
    let facts = job.facts;
    let mut found = Vec::new();
    for (file, id) in job.calls() {
        let trains = facts.called_symbols(file, id).filter(|own| own.has(Effect::Trains));
        let call = facts.module(file).call(id);
        let given = trains.filter_map(|own| facts.argument(file, call, own, TARGETS));
        found.extend(given.map(|own| (file, own.value)));
    }
    found
}

/// The parameter of `fit` for its targets.
const TARGETS: &str = "y";

/// Whether a call draws an order that stays: of a dataset only if it is told that the order is the same in each epoch.
fn reorders(job: &Job<'_>, file: FileId, call: CallId, symbol: &Symbol) -> bool {
    if job.facts.library.lookup(DATASET_SHUFFLE.0) == Some(symbol) {
        let again = job.facts.argument(file, job.facts.module(file).call(call), symbol, DATASET_SHUFFLE.1);
        let is_false = |(_, own)| own == Object::Literal(Literal::Bool(false));
        return again.is_some_and(|own| job.facts.objects(file, own.value).any(is_false));
    }
    symbol.has(Effect::Reorders) && is_shuffled(job, file, call, symbol)
}

/// What shuffles a dataset, and the parameter for whether each epoch has an order of its own.
pub(super) const DATASET_SHUFFLE: (&str, &str) =
    ("tensorflow.data.Dataset.shuffle", "reshuffle_each_iteration");

/// Whether a call draws at all: `KFold(5)` only if it is told to.
pub(super) fn is_shuffled(job: &Job<'_>, file: FileId, call: CallId, symbol: &Symbol) -> bool {
    let Some(parameter) = symbol.parameter(SHUFFLE) else { return true };
    match given(job, file, call, symbol, SHUFFLE) {
        Given::Nothing => parameter.default() == Some("True"),
        Given::Argument(own) => {
            let mut objects = job.facts.objects(file, own.value);
            objects.any(|(_, own)| own == Object::Literal(Literal::Bool(true)))
        }
        Given::Hidden => false,
    }
}

/// The parameter of what may draw an order.
pub(super) const SHUFFLE: &str = "shuffle";

/// Whether a function draws numbers from a common generator, by which examples may be chosen: `np.random.rand(len(x)) < 0.8`.
fn draws_numbers(symbol: &Symbol) -> bool {
    let module = symbol.name().rsplit_once('.').map(|(module, _)| module);
    symbol.has(Effect::DrawsRandom)
        && *symbol.role() == Role::Function
        && GENERATORS.iter().any(|&(own, _)| Some(own) == module)
}

/// What a program chooses by drawn numbers among what is not drawn itself: `x[mask]`, `np.delete(x, drawn)`.
fn chosen_by(job: &Job<'_>, drawn: Place) -> Vec<Place> {
    let facts = job.facts;
    // What rank 0 has drawn for all is the same on all.
    let drawn = facts.influence().forwards(&[drawn], |place| facts.gives(place, &[Effect::Agrees]));
    let delete = facts.library.lookup("numpy.delete");
    let is_chosen = |&&(file, value): &&Place| {
        let module = facts.module(file);
        let (base, key) = match module.value(value).value {
            Value::Item { base, key, .. } => (base, key),
            Value::Call(call) => {
                let deletes = facts.called_symbols(file, call).any(|symbol| Some(symbol) == delete);
                match &module.call(call).arguments[..] {
                    [base, key, ..] if deletes => (base.value, key.value),
                    _ => return false,
                }
            }
            _ => return false,
        };
        drawn.contains(&(file, key)) && !drawn.contains(&(file, base))
    };
    drawn.iter().filter(is_chosen).copied().collect()
}

/// What a program validates with.
fn validated(job: &Job<'_>) -> Vec<Place> {
    let facts = job.facts;
    let mut found = Vec::new();
    for (file, id) in job.calls() {
        let call = facts.module(file).call(id);
        for symbol in facts.called_symbols(file, id) {
            if symbol.has(Effect::Evaluates) || symbol.has(Effect::Predicts) {
                found.extend(call.arguments.iter().map(|own| (file, own.value)));
            } else if symbol.has(Effect::Trains) {
                let told = facts.argument(file, call, symbol, VALIDATION);
                // The end of what it trains on.
                let first = symbol.parameters().first().map(Parameter::name);
                let split = first.filter(|_| facts.argument(file, call, symbol, VALIDATION_SPLIT).is_some());
                let split = split.and_then(|name| facts.argument(file, call, symbol, name));
                found.extend(told.into_iter().chain(split).map(|own| (file, own.value)));
            }
        }
    }
    found
}

/// What has the drawn order: what a call returns, or what it is given if it returns nothing.
fn reordered(job: &Job<'_>, file: FileId, id: CallId, symbol: &Symbol) -> FxHashSet<Place> {
    let call = job.facts.module(file).call(id);
    match symbol.returns() {
        Returns::Nothing => call.arguments.iter().map(|own| (file, own.value)).collect(),
        _ => std::iter::once((file, call.result)).collect(),
    }
}

fn finding(job: &Job<'_>, rule: &'static Rule, draw: &Draw) -> Finding {
    let message = match draw.decides {
        Decides::HeldOut => {
            "each rank holds out other examples, and validates with what another one trains on"
        }
        Decides::Which => "each rank chooses other examples, and perhaps another number of them",
        Decides::Function => "each rank computes its examples with numbers that it draws itself",
        Decides::Files => "each rank chooses other files, and reads what nobody wrote",
    };
    Step::missing(rule, job.at_call(draw.file, draw.call), message)
        .here("drawn by each rank")
        .help("draw with a seed that is the same on all ranks")
        .in_scope(job.scope_of(draw.file, draw.call))
}

fn step(job: &Job<'_>, rule: &'static Rule, draw: &Draw) -> Option<Step> {
    let finding = finding(job, rule, draw);
    let symbol = job.facts.called_symbols(draw.file, draw.call).nth(draw.symbol);
    if let Some((edit, uses)) = symbol.and_then(|own| seeded(job, draw.file, draw.call, own)) {
        return Some(Step::change(finding, "let rank 0 draw a seed for all", vec![edit], uses));
    }
    let reason = match draw.decides {
        // A rank that holds out others makes as many steps.
        Decides::HeldOut => return None,
        Decides::Which => {
            "The ranks would have different numbers of examples, and wait for each other for ever."
        }
        Decides::Function => "Each rank would train another function, though all have the same weights.",
        Decides::Files => {
            "Rank 0 alone would write the files, and the others look for those that they have chosen."
        }
    };
    Some(Step::blocked(finding, reason))
}

/// The edit that has a call draw with a seed of rank 0's, and what it uses.
fn seeded(job: &Job<'_>, file: FileId, id: CallId, symbol: &Symbol) -> Option<(Edit, Vec<(FileId, Import)>)> {
    let text = job.text(file)?;
    let call = text.module.call(id);
    let is_of_rank = || call.arguments.iter().any(|own| reads_rank(job, file, own.value));
    if !all_ranks_come_to(job, file, call.statement)
        || !can_be_told(job, file, call.statement)
        || is_of_rank()
    {
        return None;
    }
    let code = job.code(file, call.scope);
    let (random, import) = job.random(file);
    let seed = code.told_by_first(&format!("{random}.randrange(2 ** 31)"), "seed");
    let edit = if is_of_generator(job, file, id) {
        seeded_maker(job, file, id, &seed)
    } else {
        seeded_by_argument(job, text, (file, id), symbol, &seed)
            .or_else(|| seeded_generator(job, text, (file, call), symbol, &seed))
    };
    Some((edit?, vec![code.import, import]))
}

/// `train_test_split(x, y, random_state=...)`
fn seeded_by_argument(
    job: &Job<'_>,
    text: Text<'_>,
    (file, id): (FileId, CallId),
    symbol: &Symbol,
    seed: &str,
) -> Option<Edit> {
    let parameter = SEEDS.into_iter().find(|name| symbol.parameter(name).is_some())?;
    match given(job, file, id, symbol, parameter) {
        Given::Nothing => Some(text.append_argument(text.module.call(id), &format!("{parameter}={seed}"))),
        Given::Argument(own) if job.facts.is_none(file, own.value) => Some(text.replace(own.range, seed)),
        Given::Argument(_) | Given::Hidden => None,
    }
}

/// `np.random.default_rng(...)` in the same code, where nothing is drawn from it again and again: that is for each rank to draw.
fn seeded_maker(job: &Job<'_>, file: FileId, id: CallId, seed: &str) -> Option<Edit> {
    let facts = job.facts;
    let generator = |of: FileId, own: CallId| facts.receiver(of, facts.module(of).call(own));
    let receiver = generator(file, id)?;
    let [generated] = facts.solution.values(file, receiver)[..] else { return None };
    let (of, made) = facts.made_at(generated)?;
    let draws_again = |(of, own): (FileId, CallId)| {
        generator(of, own).is_some_and(|own| facts.solution.values(of, own).contains(&generated))
            && is_repeated(job, of, own)
    };
    let module = facts.module(file);
    let is_near = of == file && module.call(made).scope == module.call(id).scope;
    if !is_near || !module.call(made).arguments.is_empty() || job.calls().any(draws_again) {
        return None;
    }
    all_ranks_come_to(job, of, module.call(made).statement)
        .then(|| job.text(of).map(|text| text.append_argument(module.call(made), seed)))?
}

/// `np.random.RandomState(...).permutation(n)`: a generator of its own, so that all other draws stay as they are. Where Horovod is
/// not started there is no seed, and the generators take `None`.
fn seeded_generator(
    job: &Job<'_>,
    text: Text<'_>,
    (file, call): (FileId, &Call),
    symbol: &Symbol,
    seed: &str,
) -> Option<Edit> {
    let Value::Attribute { base, .. } = text.module.value(call.callee).value else { return None };
    let (module, _) = symbol.name().rsplit_once('.')?;
    let (_, generator) = GENERATORS.into_iter().find(|&(own, _)| own == module)?;
    if !job.facts.is_module(file, base) {
        return None;
    }
    let (path, _) = text.slice(call.callee_range).rsplit_once('.')?;
    let end = call.callee_range.start() + TextSize::of(path);
    Some(text.insert(end, format!(".{generator}({seed})")))
}
