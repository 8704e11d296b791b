//! The ranks share the steps of an epoch.
//!
//! The seed's rules for `dataset.take(count)` and `steps_per_epoch` (sections 2.3 and 2.4): `count // hvd.size()`. A
//! finite dataset of `fit` is repeated then: Keras begins it anew for each epoch only if the number of steps is that of
//! its batches.

mod relied_steps;

use rustc_hash::FxHashSet;

use super::data::moved_seeds::is_order;
use super::distribution_rule;
use super::job::Job;
use super::keras::{Given, given};
use super::obstacles;
use super::ranked::{is_for_one_rank, reads_rank, reads_size};
use super::session;
use super::started::runs_started;
use super::step::{Outcome, Step};
use crate::api::{Effect, Kind, Scaling, Symbol};
use crate::finding::{Edit, Finding};
use crate::program::{Caller, Facts, Literal, LoopKind, Object, ObjectId, Place, TrainingLoop};
use crate::project::FileId;
use crate::rewrite::Text;
use crate::semantic::{Argument, BranchKind, CallId, Method, Operator, Value, ValueId};
use crate::syntax::TextRange;
use relied_steps::{Counting, decides_by_number, is_counted_on};

distribution_rule!("HVD210", "steps-not-divided", steps, Warning);

/// So many GPUs are in a usual machine.
const GPUS_OF_A_MACHINE: i64 = 8;

fn steps(job: &Job<'_>) -> Vec<Step> {
    let fits: Vec<&TrainingLoop> = job.program.loops.iter().filter(|own| job.is_fit(own)).collect();
    let mut found: Vec<Step> = fits.iter().filter_map(|own| of_fit(job, own)).collect();
    found.extend(taken(job, &fed(job)));
    found.extend(session::stops(job, &RULE.rule));
    found
}

/// Whether each loop of a program makes a share of its steps only. Several tapes of one function step together; what is taken
/// may be taken again.
pub(super) fn are_all_divided(job: &Job<'_>) -> bool {
    let divided = steps(job).into_iter().filter(|own| matches!(own.outcome, Outcome::Change { .. })).count();
    let own_call = |own: &TrainingLoop| (own.kind == LoopKind::KerasFit).then_some(own.call);
    let loops: FxHashSet<(Caller, Option<CallId>)> =
        job.program.loops.iter().map(|own| (own.caller, own_call(own))).collect();
    !loops.is_empty() && divided >= loops.len()
}

/// What the loops of a program train on.
pub(super) fn fed(job: &Job<'_>) -> Vec<Place> {
    let mut fed = iterated(job);
    for own in job.program.loops.iter().filter(|own| job.is_fit(own)) {
        fed.extend(data(job, own).map(|argument| (own.caller.file, argument.value)));
    }
    fed
}

fn finding(job: &Job<'_>, file: FileId, call: CallId, count: &Argument) -> Finding {
    Step::missing(
        &RULE.rule,
        job.facts.location(file, count.range),
        "each rank makes all steps of an epoch instead of its share",
    )
    .here("steps of one process")
    .help("divide it by the number of ranks: `count // hvd.size()`")
    .in_scope(job.scope_of(file, call))
}

/// The step for a number of steps: `count // hvd.size()`.
fn divided(job: &Job<'_>, file: FileId, call: CallId, count: &Argument, more: Vec<Edit>) -> Option<Step> {
    if !runs_started(job, file, call) || is_for_one_rank(job, file, call) {
        return None;
    }
    let text = job.text(file)?;
    let (hvd, import) = job.horovod(file);
    let few = is_few(job, file, count);
    // Keras makes a step for what is left of a number that is not whole, and so does each rank.
    let is_fraction = matches!(
        text.module.value(count.value).value,
        Value::Operator { operator: Operator::Binary(Method::TRUEDIV), .. }
    );
    let by = if is_fraction { "/" } else { "//" };
    let share = |number: &str| {
        let quotient = format!("{number} {by} {hvd}.size()");
        // `max` may be a name of the program's own.
        if few { format!("{quotient} or 1") } else { quotient }
    };
    let mut edits = vec![text.replace(count.range, share(&text.as_factor(count.range)))];
    edits.extend(more);
    edits.extend(means(job, text, call, count, share));
    Some(Step::change(
        finding(job, file, call, count),
        "divide it by the number of ranks",
        edits,
        vec![import],
    ))
}

/// The edits of means over as many steps: `total_loss / STEPS`, where the total has become that of a share, as it is made of what
/// the call gives.
fn means(
    job: &Job<'_>,
    text: Text<'_>,
    call: CallId,
    count: &Argument,
    share: impl Fn(&str) -> String,
) -> Vec<Edit> {
    let module = text.module;
    let quotients: Vec<(ValueId, ValueId, TextRange)> = module
        .values
        .iter()
        .filter_map(|evaluation| match evaluation.value {
            Value::Operator { operator: Operator::Binary(Method::TRUEDIV), left, right }
                if right == count.value =>
            {
                Some((left, right, evaluation.range))
            }
            _ => None,
        })
        .collect();
    if quotients.is_empty() || !text.is_chain(count.range) {
        return Vec::new();
    }
    let of_steps = job.facts.influence().forwards(&[(text.file, module.call(call).result)], |_| false);
    let means = quotients.into_iter().filter(|&(total, ..)| {
        let total = (text.file, total);
        obstacles::own_results::depends(job, total) || of_steps.contains(&total)
    });
    let divisors = means.filter_map(|(_, divisor, range)| {
        let mut uses = module.uses.iter();
        uses.find(|reading| reading.value == divisor && reading.range.end() == range.end())
    });
    divisors
        .map(|reading| {
            let name = text.slice(reading.range);
            text.replace(reading.range, format!("({})", share(name)))
        })
        .collect()
}

/// Whether a number is known to be smaller than the GPUs of one machine may be many: the quotient would be 0.
fn is_few(job: &Job<'_>, file: FileId, count: &Argument) -> bool {
    let mut numbers = job.facts.objects(file, count.value).peekable();
    numbers.peek().is_some()
        && numbers.all(|(_, object)| matches!(object, Object::Literal(Literal::Int(..GPUS_OF_A_MACHINE))))
}

/// Whether a number is one that can be shared: not 1, not "all", not shared already.
fn is_shareable(job: &Job<'_>, file: FileId, count: &Argument) -> bool {
    let numbers: Vec<Object> = job.facts.objects(file, count.value).map(|(_, object)| object).collect();
    // A share of nothing is nothing: where the number may be 0 or -1, other ones are shared.
    let is_nothing = !numbers.is_empty()
        && numbers.iter().all(|object| matches!(object, Object::Literal(Literal::Int(..=0))));
    let is_whole =
        numbers.iter().any(|object| matches!(object, Object::Literal(Literal::None | Literal::Int(1))));
    !is_nothing
        && !is_whole
        && !reads_size(job, file, count.value)
        && !reads_rank(job, file, count.value)
        && !is_of_checkpoint(job, (file, count.value))
}

/// Whether a number is made of one that a checkpoint keeps, `STEPS - checkpoint.step`: a rank that goes on has counted its share
/// of the steps.
fn is_of_checkpoint(job: &Job<'_>, count: Place) -> bool {
    let facts = job.facts;
    let behind = facts.influence().list_backwards(&[count], |_| false);
    behind.into_iter().any(|(file, value)| match facts.module(file).value(value).value {
        Value::Attribute { base, .. } => facts.may_be(file, base, Kind::Checkpoint),
        _ => false,
    })
}

// ---- fit ----

fn of_fit(job: &Job<'_>, own: &TrainingLoop) -> Option<Step> {
    let (file, call) = (own.caller.file, own.call);
    let symbol = trained_by(job, own)?;
    let (parameter, _) = symbol.scaled().find(|(_, scaling)| *scaling == Scaling::Divide)?;
    let Given::Argument(count) = given(job, file, call, symbol, parameter) else { return None };
    if !is_shareable(job, file, count) {
        return None;
    }
    let source = data(job, own)?;
    if job.program.already_distributed && is_shared(job, file, source) {
        return None;
    }
    if is_counted_on(job, file, count, Counting::BySteps) || decides_by_number(job, &fed(job)) {
        return None;
    }
    let more = if is_one_epoch(job, file, call, symbol) { Vec::new() } else { repeated(job, own, source)? };
    divided(job, file, call, count, more)
}

fn trained_by<'c>(job: &Job<'c>, own: &TrainingLoop) -> Option<&'c Symbol> {
    job.facts.called_symbols(own.caller.file, own.call).find(|symbol| symbol.has(Effect::Trains))
}

/// What `fit` trains on.
pub(super) fn data<'c>(job: &Job<'c>, own: &TrainingLoop) -> Option<&'c Argument> {
    let symbol = trained_by(job, own)?;
    let first = symbol.parameters().first()?;
    match given(job, own.caller.file, own.call, symbol, first.name()) {
        Given::Argument(argument) => Some(argument),
        _ => None,
    }
}

/// Whether each rank has its part of the data already.
fn is_shared(job: &Job<'_>, file: FileId, source: &Argument) -> bool {
    let facts = job.facts;
    let behind = facts.influence().backwards(&[(file, source.value)], |_| false);
    behind.into_iter().any(|(file, value)| match facts.module(file).value(value).value {
        Value::Call(call) => facts.called_symbols(file, call).any(|symbol| {
            symbol.has(Effect::Shards) || symbol.has(Effect::ReadsRank) || symbol.has(Effect::ReadsSize)
        }),
        _ => false,
    })
}

fn is_one_epoch(job: &Job<'_>, file: FileId, call: CallId, symbol: &Symbol) -> bool {
    match given(job, file, call, symbol, "epochs") {
        Given::Nothing => true,
        Given::Hidden => false,
        Given::Argument(argument) => job
            .facts
            .objects(file, argument.value)
            .all(|(_, object)| object == Object::Literal(Literal::Int(1))),
    }
}

/// The edits that repeat the data of a loop, if it is a dataset that ends; `None` if that can't be seen or done.
fn repeated(job: &Job<'_>, own: &TrainingLoop, source: &Argument) -> Option<Vec<Edit>> {
    let facts = job.facts;
    let file = own.caller.file;
    if facts.is_unknown(file, source.value) {
        return None;
    }
    let datasets = facts.of_kind(file, source.value, Kind::Dataset);
    if datasets.iter().all(|&dataset| repeats(facts, dataset, &mut Vec::new())) {
        return Some(Vec::new());
    }
    let text = job.text(file)?;
    let written = text.slice(source.range);
    if text.is_chain(source.range) {
        return Some(vec![text.replace(source.range, format!("{written}.repeat()"))]);
    }
    let is_last =
        facts.module(file).call(own.call).arguments.last().is_some_and(|last| last.range == source.range);
    let is_call = matches!(text.module.value(source.value).value, Value::Call(_)) && written.ends_with(')');
    (is_call && !is_last).then(|| vec![text.insert(source.range.end(), ".repeat()")])
}

/// Whether a dataset is made by repeating another, in whatever step of its making.
fn repeats(facts: &Facts<'_>, dataset: ObjectId, seen: &mut Vec<ObjectId>) -> bool {
    if seen.contains(&dataset) {
        return true;
    }
    seen.push(dataset);
    let Some(&creation) = facts.creation(dataset) else { return false };
    let repeat = facts.library.lookup("tensorflow.data.Dataset.repeat");
    if facts.called_symbols(creation.file, creation.call).any(|symbol| Some(symbol) == repeat) {
        return true;
    }
    if !creation.derived {
        return false;
    }
    let call = facts.module(creation.file).call(creation.call);
    let Some(receiver) = facts.receiver(creation.file, call) else { return false };
    facts
        .of_kind(creation.file, receiver, Kind::Dataset)
        .into_iter()
        .all(|dataset| repeats(facts, dataset, seen))
}

// ---- take ----

/// What the `for` statements iterate over whose body makes a step.
pub(super) fn iterated(job: &Job<'_>) -> Vec<Place> {
    let facts = job.facts;
    let by_hand = || job.program.loops.iter().filter(|own| !job.is_fit(own));
    let mut training: FxHashSet<Caller> = FxHashSet::default();
    let mut work: Vec<Caller> = by_hand().map(|own| own.caller).collect();
    while let Some(caller) = work.pop() {
        if training.insert(caller)
            && let Some(function) = facts.function_of(caller)
        {
            let calls = facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge));
            work.extend(calls.map(|edge| edge.caller));
        }
    }
    let mut found = Vec::new();
    for &caller in &training {
        let module = facts.module(caller.file);
        for branch in module.scope(caller.scope).flow.blocks.iter().filter_map(|block| block.branch) {
            let (BranchKind::For, Some(iterable)) = (branch.kind, branch.condition) else { continue };
            let statement = module.statement(branch.statement);
            let inside =
                |range| statement.range.contains_range(range) && !statement.header.contains_range(range);
            let steps = by_hand().any(|own| own.caller == caller && inside(own.range))
                || facts.reached_functions(caller).any(|(edge, function)| {
                    training.contains(&facts.code_of(function))
                        && edge.call.is_some_and(|call| inside(module.call(call).range))
                });
            if steps {
                found.push((caller.file, iterable));
            }
        }
    }
    found.sort_unstable();
    found
}

/// The steps for `dataset.take(count)` on the way to what a loop trains on.
fn taken(job: &Job<'_>, fed: &[Place]) -> Vec<Step> {
    let facts = job.facts;
    let behind = facts.influence().backwards(fed, |_| false);
    let is_behind = |file, call| behind.contains(&(file, facts.module(file).call(call).result));
    let mut found = Vec::new();
    for (file, call) in job.calls().filter(|&(file, call)| is_behind(file, call)) {
        let data = facts.module(file).call(call);
        let Some(receiver) = facts.receiver(file, data) else { continue };
        if !facts.may_be(file, receiver, Kind::Dataset) {
            continue;
        }
        let count = facts.called_symbols(file, call).find_map(|symbol| {
            let (parameter, _) = symbol.scaled().find(|(_, scaling)| *scaling == Scaling::Divide)?;
            facts.argument(file, data, symbol, parameter)
        });
        let Some(count) = count.filter(|count| is_shareable(job, file, count)) else { continue };
        let is_part = is_split(job, &facts.of_kind(file, receiver, Kind::Dataset));
        let source = Argument { value: receiver, ..count.clone() };
        if is_part || job.program.already_distributed && is_shared(job, file, &source) {
            continue;
        }
        if is_choice(job, (file, call), receiver, &behind) {
            continue;
        }
        // What is tested with the same code is tested as a whole.
        if is_made_for_others(job, (file, call), &behind) {
            continue;
        }
        // Where the program counts on that many steps, each rank makes all of them.
        if is_counted_on(job, file, count, Counting::InAnyWay) || decides_by_number(job, fed) {
            continue;
        }
        found.extend(divided(job, file, call, count, Vec::new()));
    }
    found
}

/// Whether a function gives what a call takes back to others, too, than the loops that train: for a test.
fn is_made_for_others(job: &Job<'_>, (file, call): (FileId, CallId), behind: &FxHashSet<Place>) -> bool {
    let facts = job.facts;
    let module = facts.module(file);
    let data = module.call(call);
    let Some(function) = facts.function_of(Caller { file, scope: data.scope }) else { return false };
    let returned = &module.function(function.function).returns;
    let datasets = returned.iter().filter(|&&value| facts.may_be(file, value, Kind::Dataset));
    let returned: Vec<Place> = datasets.map(|&value| (file, value)).collect();
    let mut results =
        facts.incoming(function).iter().filter(|edge| facts.is_run(job.program, edge)).filter_map(|edge| {
            let call = facts.module(edge.caller.file).call(facts.call_in_place(edge)?);
            Some((edge.caller.file, call.result))
        });
    results.any(|result| !behind.contains(&result))
        && facts.influence().backwards(&returned, |_| false).contains(&(file, data.result))
}

/// Whether what is taken is brought into an order only then, `data.take(20000).shuffle(20000)`: which examples there are, and
/// no number of steps. All ranks would take the same first ones.
fn is_choice(
    job: &Job<'_>,
    (file, call): (FileId, CallId),
    receiver: ValueId,
    behind: &FxHashSet<Place>,
) -> bool {
    let facts = job.facts;
    let orders = |&(file, value): &Place| match facts.module(file).value(value).value {
        Value::Call(own) => is_order(job, file, own),
        _ => false,
    };
    let taken = (file, facts.module(file).call(call).result);
    let later = facts.influence().list_forwards(&[taken], |place| !behind.contains(&place));
    later.iter().any(|place| behind.contains(place) && orders(place))
        && !facts.influence().list_backwards(&[(file, receiver)], |_| false).iter().any(orders)
}

/// Whether the rest of a dataset is used too: then what is taken is a part of the data and no number of steps.
fn is_split(job: &Job<'_>, datasets: &[ObjectId]) -> bool {
    let facts = job.facts;
    let skip = facts.library.lookup("tensorflow.data.Dataset.skip");
    job.calls().any(|(file, call)| {
        facts.called_symbols(file, call).any(|symbol| Some(symbol) == skip)
            && facts.receiver(file, facts.module(file).call(call)).is_some_and(|receiver| {
                facts.of_kind(file, receiver, Kind::Dataset).iter().any(|own| datasets.contains(own))
            })
    })
}
