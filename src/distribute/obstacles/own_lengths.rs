//! Sequences that are as long as a rank's own results say: `x[losses > limit]`.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::super::job::Job;
use super::choices::rests_on_own_results;
use super::dataset_lengths::draws;
use crate::api::Effect;
use crate::program::{Literal, Object, Place};
use crate::project::FileId;
use crate::semantic::{
    Argument, BranchKind, CallId, Constant, Container, Element, Module, Operator, Value, ValueId,
};

/// Of how many values it is asked at most where a sequence comes from.
const MOST: usize = 256;

/// The values that are looked at: as a sequence, or as what selects elements of one.
type Seen = FxHashSet<(Place, bool)>;

/// Whether a value is looked at for the first time, and may be.
fn is_new(seen: &mut Seen, place: Place, selects: bool) -> bool {
    seen.len() < MOST && seen.insert((place, selects))
}

/// What tells at which places an array is not zero.
const PLACES: [&str; 4] = ["numpy.where", "numpy.nonzero", "numpy.flatnonzero", "numpy.argwhere"];

/// What gives as many elements as what it is given says.
const SELECTING: [&str; 15] = [
    "builtins.filter",
    "builtins.frozenset",
    "builtins.set",
    "itertools.compress",
    "numpy.argwhere",
    "numpy.flatnonzero",
    "numpy.nonzero",
    "numpy.unique",
    "pandas.DataFrame.drop_duplicates",
    "pandas.DataFrame.dropna",
    "pandas.DataFrame.query",
    "tensorflow.boolean_mask",
    "tensorflow.keras.preprocessing.sequence.skipgrams",
    "tensorflow.unique",
    "tensorflow.where",
];

/// What keeps the elements for which a function says so.
const FILTER: &str = "builtins.filter";

/// What repeats each element, and the parameter for how often.
const REPEATING: (&str, &str) = ("numpy.repeat", "repeats");

/// Whether a sequence, or data that are made of it, is as long as the rank's own results say.
pub(super) fn is_as_long_as_own_results(job: &Job<'_>, place: Place) -> bool {
    is_chosen(job, By::OwnResults, place, &mut Seen::default())
}

/// Whether a sequence, or data that are made of it, has the elements that values of a batch select: `x[y > 0]`, whatever those
/// are. All data of a program have as many such elements in any order.
pub(super) fn is_selected(job: &Job<'_>, place: Place) -> bool {
    is_chosen(job, By::Values, place, &mut Seen::default())
}

/// What says which elements there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    OwnResults,
    Values,
}

impl By {
    fn is_it(self, job: &Job<'_>, place: Place) -> bool {
        match self {
            Self::OwnResults => rests_on_own_results(job, place),
            Self::Values => is_of_batch(job, place),
        }
    }
}

/// Of how many values it is asked whether one of them is of a batch.
const NEAR: usize = 64;

/// Whether a value comes from what a loop goes through, or from an argument.
fn is_of_batch(job: &Job<'_>, value: Place) -> bool {
    let mut seen: FxHashSet<Place> = FxHashSet::default();
    let mut work = VecDeque::from([value]);
    while let Some((file, value)) = work.pop_front().filter(|_| seen.len() < NEAR) {
        if matches!(job.facts.module(file).value(value).value, Value::Iteration(_) | Value::Parameter(..)) {
            return true;
        }
        if seen.insert((file, value)) {
            work.extend(job.facts.influence().operands((file, value)));
        }
    }
    false
}

fn is_chosen(job: &Job<'_>, by: By, (file, value): Place, seen: &mut Seen) -> bool {
    if !is_new(seen, (file, value), false) {
        return false;
    }
    let facts = job.facts;
    let module = facts.module(file);
    match &module.value(value).value {
        &Value::Item { base, key, .. } => {
            // `pairs[:, 0]`, `archive["x"]`
            let is_column = matches!(
                module.value(key).value,
                Value::Display(Container::Tuple, _) | Value::Constant(Constant::Str(_))
            );
            is_selection(job, by, (file, key), seen)
                || is_array(job, (file, base))
                    && (is_chosen(job, by, (file, key), seen)
                        || is_column && is_chosen(job, by, (file, base), seen))
        }
        &Value::Slice { base, ref cut } => {
            by == By::OwnResults && cut.limits.iter().any(|&limit| rests_on_own_results(job, (file, limit)))
                || cut.upper.is_none()
                    && is_array(job, (file, base))
                    && is_chosen(job, by, (file, base), seen)
        }
        // `table.iloc`, `table.values`
        &Value::Attribute { base, .. } => {
            is_array(job, (file, base)) && is_chosen(job, by, (file, base), seen)
        }
        // `from_tensor_slices((x[mask], y[mask]))`, `enumerate(data)`, `data.batch(8)`
        &Value::Call(id) => {
            let call = module.call(id);
            let called = || facts.called_symbols(file, id).chain(facts.called_builtins(file, id));
            if called().any(|own| SELECTING.contains(&own.name())) && by.is_it(job, (file, value)) {
                return true;
            }
            // `np.load(random.choice(paths))`
            let is_own =
                |own: &Argument| by == By::OwnResults && rests_on_own_results(job, (file, own.value));
            if called().any(|own| own.has(Effect::ReadsFile)) && call.arguments.first().is_some_and(is_own) {
                return true;
            }
            if by == By::OwnResults
                && length_given(job, file, id).is_some_and(|own| rests_on_own_results(job, (file, own)))
            {
                return true;
            }
            let draws = |own: &Argument| facts.objects(file, own.value).any(|(_, own)| draws(job, own));
            if by == By::OwnResults
                && called().any(|own| own.name() == FILTER)
                && call.arguments.first().is_some_and(draws)
            {
                return true;
            }
            let mut repeated = called().filter(|own| own.name() == REPEATING.0);
            let times = repeated.find_map(|own| facts.argument(file, call, own, REPEATING.1));
            if by == By::OwnResults && times.is_some_and(|own| rests_on_own_results(job, (file, own.value))) {
                return true;
            }
            let is_own = facts.called_functions(file, id).next().is_some();
            let receiver = facts.receiver(file, call);
            let receiver = receiver.filter(|&own| !facts.is_module(file, own) && is_array(job, (file, own)));
            let mut sources = receiver.into_iter().chain(call.arguments.iter().map(|own| own.value));
            if is_own {
                return facts.called_functions(file, id).any(|own| {
                    let returns = &facts.module(own.file).function(own.function).returns;
                    returns.iter().any(|&value| is_chosen(job, by, (own.file, value), seen))
                });
            }
            sources.any(|own| is_chosen(job, by, (file, own), seen))
        }
        Value::Display(..) if is_filtered(job, by, (file, value)) => true,
        Value::Display(..) | Value::Phi(_) | Value::Cell(_) | Value::Parameter(..) | Value::Unpack { .. } => {
            facts.influence().operands((file, value)).take(8).any(|own| is_chosen(job, by, own, seen))
        }
        _ => false,
    }
}

/// How many elements an array is to have that a call makes: `n` in `np.zeros((n, 4))`, `np.random.rand(n, 4)`.
fn length_given(job: &Job<'_>, file: FileId, id: CallId) -> Option<ValueId> {
    let facts = job.facts;
    let module = facts.module(file);
    let call = module.call(id);
    let given = facts.called_symbols(file, id).find_map(|own| {
        let by_name = SHAPES.iter().find_map(|name| facts.argument(file, call, own, name));
        by_name.or_else(|| call.arguments.first().filter(|_| BY_DIMENSIONS.contains(&own.name())))
    })?;
    let first = match &module.value(given.value).value {
        Value::Display(_, elements) => elements.first()?.written_out(),
        _ => Some(given.value),
    };
    // One constant stands for all that are written alike.
    first.filter(|&own| !matches!(module.value(own).value, Value::Constant(_)))
}

/// The parameters for the form of an array.
const SHAPES: [&str; 2] = ["shape", "size"];

/// What is given the dimensions one by one.
const BY_DIMENSIONS: [&str; 2] = ["numpy.random.rand", "numpy.random.randn"];

/// Whether it is decided which elements a comprehension has: `[x for x in data if random.random() < 0.5]`.
fn is_filtered(job: &Job<'_>, by: By, (file, value): Place) -> bool {
    comprehension_tests(job.facts.module(file), value).any(|test| by.is_it(job, (file, test)))
}

/// The conditions under which a comprehension takes an element. They stand behind it; its own choose what it is.
pub(in crate::distribute) fn comprehension_tests(
    module: &Module,
    value: ValueId,
) -> impl Iterator<Item = ValueId> {
    let comprehension = module.value(value);
    let element = match &comprehension.value {
        Value::Display(_, elements) => match elements[..] {
            [Element::Any(element) | Element::Key(_, element)] => Some(element),
            _ => None,
        },
        _ => None,
    };
    let range = comprehension.range;
    let behind = element.map(|element| module.value(element).range.end());
    let blocks = &module.scope(module.code_scope(comprehension.scope)).flow.blocks;
    let tests = behind.into_iter().flat_map(move |behind| {
        blocks.iter().filter_map(|block| block.branch).filter(move |own| {
            own.kind == BranchKind::If && range.contains_range(own.range) && own.range.start() > behind
        })
    });
    tests.filter_map(|own| own.condition)
}

/// Whether a value is no list or dictionary of Python's, of which a key takes one element.
fn is_array(job: &Job<'_>, (file, value): Place) -> bool {
    !job.facts.objects(file, value).any(|(_, object)| matches!(object, Object::Container(..)))
}

/// Whether a value says of each element whether it is wanted, or which ones are, by the rank's own results.
fn is_selection(job: &Job<'_>, by: By, place: Place, seen: &mut Seen) -> bool {
    if !is_new(seen, place, true) {
        return false;
    }
    let facts = job.facts;
    let (file, value) = place;
    let mut any = |values: &[ValueId]| values.iter().any(|&own| is_selection(job, by, (file, own), seen));
    match facts.module(file).value(value).value {
        Value::Operator { operator: Operator::Compare(_), .. } => by.is_it(job, place),
        Value::Operator { operator: Operator::Unary(_), left, .. } => any(&[left]),
        Value::Operator { operator: Operator::Binary(_), left, right } => any(&[left, right]),
        // `np.where(losses > limit)[0]`
        Value::Item { base, .. } => any(&[base]),
        Value::Call(call) => {
            let wanted = PLACES.map(|name| facts.library.lookup(name));
            let arguments = facts.module(file).call(call).arguments.iter().map(|own| own.value);
            facts.called_symbols(file, call).any(|own| wanted.contains(&Some(own)))
                && any(&arguments.collect::<Vec<_>>())
                || gives_truths(job, file, call) && by.is_it(job, place)
                // `chosen.numpy()`
                || facts.receiver(file, facts.module(file).call(call)).is_some_and(|own| any(&[own]))
        }
        Value::Cell(_) | Value::Phi(_) => {
            facts.influence().operands(place).take(8).any(|own| is_selection(job, by, own, seen))
        }
        _ => false,
    }
}

/// What asks of each element whether it is among others.
const ASKING: [&str; 3] = ["numpy.in1d", "numpy.isin", "pandas.DataFrame.isin"];

/// Whether a call gives an array of truth values: `np.random.choice([True, False], 100)`, `drawn.astype(bool)`.
fn gives_truths(job: &Job<'_>, file: FileId, id: CallId) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let Some(first) = module.call(id).arguments.first() else { return false };
    let asking = ASKING.map(|name| facts.library.lookup(name));
    if facts.called_symbols(file, id).any(|own| asking.contains(&Some(own))) {
        return true;
    }
    let truth = facts.library.lookup("builtins.bool");
    let is_truth = |value: ValueId| {
        facts.objects(file, value).any(|(_, own)| {
            matches!(own, Object::Literal(Literal::Bool(_))) || truth.is_some() && facts.symbol(own) == truth
        })
    };
    is_truth(first.value)
        || match &module.value(first.value).value {
            Value::Display(_, elements) => elements.iter().filter_map(|own| own.written_out()).any(is_truth),
            _ => false,
        }
}
