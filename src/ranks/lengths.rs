//! Which sequences have another number of elements on another rank: shards, slices by the rank, files of the rank's
//! own. Loops over them make different numbers of turns.

mod arrays;
mod batches;
mod chosen;
mod equal_parts;
mod first_turn;
mod growing;
mod numbered;
mod passing;
mod polynomial;

use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::Blocks;
use super::seeds::given_seed;
use super::values::{Cause, Difference, Values};
use crate::api::{Effect, Kind, Scaling, Symbol};
use crate::program::{Facts, FunctionRef, Object, Place, code};
use crate::project::FileId;
use crate::semantic::{self, BranchKind, CallId, Container, Element, NameId, Operator, Value, ValueId};

pub(super) use equal_parts::{Left, has_every_rank};
pub(super) use first_turn::asks_for_first_turn;
pub(super) use numbered::{counts, enumerated, handed_on};
pub(super) use polynomial::cancels;

use equal_parts::Parts;
use growing::Growing;
use passing::{Passing, passes};

/// Lengths that differ, and numbers that were measured at them.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    pub(super) differing: FxHashMap<Place, Difference>,
    pub(super) counts: Vec<(Place, Difference)>,
    /// Where lengths differ by one at most: shares of what is dealt out element by element.
    pub(super) dealt: FxHashSet<Place>,
}

/// What may have a length of its own in some files, whatever differs there: found once, and asked each time that more is
/// known to differ.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// What may differ in length by itself.
    sources: Vec<Place>,
    comprehensions: Comprehensions,
    growing: Growing,
}

impl Measured {
    pub(super) fn new(facts: &Facts<'_>, files: &[FileId], places: &[Place]) -> Self {
        Self {
            sources: places.iter().copied().filter(|&place| may_be_source(facts, place)).collect(),
            comprehensions: comprehensions(facts, places),
            growing: Growing::new(facts, files.iter().copied()),
        }
    }
}

/// The lengths that differ because of values that are known to differ.
pub(super) fn find(facts: &Facts<'_>, blocks: &Blocks, values: &Values, measured: &Measured) -> Lengths {
    let parts = Parts { facts, blocks, values };
    let Measured { sources, comprehensions, growing } = measured;
    let filters = filters(parts, comprehensions);
    let mut found = Lengths::default();
    let mut work: Vec<(Place, Difference)> = filters.iter().map(|(&place, &own)| (place, own)).collect();
    work.sort_unstable_by_key(|&(place, _)| place);
    let own = |&place: &Place| Some((place, source(parts, place)?));
    work.extend(sources.iter().filter(|place| !filters.contains_key(place)).filter_map(own));
    work.extend(growing.decided(parts));
    found.dealt.extend(work.iter().map(|&(place, _)| place).filter(|&place| deals_out(facts, place)));
    // What also has a length that differs by more.
    let mut others: FxHashSet<Place> =
        work.iter().map(|&(place, _)| place).filter(|place| !found.dealt.contains(place)).collect();
    while let Some((place, own)) = work.pop() {
        if found.differing.get(&place).is_some_and(|known| known.cause >= own.cause) {
            continue;
        }
        found.differing.insert(place, own);
        let is_dealt = found.dealt.contains(&place) && !others.contains(&place);
        let perhaps = Difference { cause: Cause::Cut, ..own };
        for (longer, is_sure) in growing.following(facts, blocks, place) {
            work.push((longer, if is_sure { own } else { perhaps }));
        }
        let as_long: Vec<Place> = following(facts, blocks, comprehensions, place).collect();
        work.extend(as_long.iter().map(|&display| (display, own)));
        let known = if is_dealt { &mut found.dealt } else { &mut others };
        known.extend(as_long);
        for next in facts.influence().dependents(place) {
            match passes(parts, place, next, is_dealt) {
                Passing::Length => {
                    let known = if is_dealt { &mut found.dealt } else { &mut others };
                    known.insert(next);
                    work.push((next, own));
                }
                Passing::Cut => work.push((next, perhaps)),
                Passing::Count if own.cause != Cause::Cut => found.counts.push((next, own)),
                Passing::Count | Passing::Neither => {}
            }
        }
    }
    found.dealt.retain(|place| !others.contains(place));
    found
}

/// Whether a value is what the ranks are dealt out element by element: `files[hvd.rank()::hvd.size()]`,
/// `dataset.shard(hvd.size(), hvd.rank())`.
fn deals_out(facts: &Facts<'_>, (file, value): Place) -> bool {
    match &facts.module(file).value(value).value {
        Value::Slice { cut, .. } => cut.step.is_some_and(|step| tells_size(facts, (file, step), STEPS)),
        // `np.array_split(data, hvd.size())[hvd.rank()]`
        Value::Item { base, .. } => {
            let (file, value) = polynomial::origin(facts, (file, *base));
            let split = facts.library.lookup("numpy.array_split");
            match facts.module(file).value(value).value {
                Value::Call(call) => facts.called_symbols(file, call).any(|own| Some(own) == split),
                _ => false,
            }
        }
        Value::Call(id) => {
            let shards = |symbol: &Symbol| symbol.has(Effect::Shards);
            let receiver = facts.receiver(file, facts.module(file).call(*id));
            receiver.is_some_and(|own| facts.may_be(file, own, Kind::Dataset))
                && facts.called_symbols(file, *id).any(shards)
                && !is_batched(facts, file, *id)
        }
        _ => false,
    }
}

/// Whether a value may be the number of ranks, also as it is handed to functions.
fn tells_size(facts: &Facts<'_>, place: Place, steps: u32) -> bool {
    let Some(steps) = steps.checked_sub(1) else { return false };
    let is_name = matches!(
        facts.module(place.0).value(place.1).value,
        Value::Cell(_) | Value::Import(_) | Value::Parameter(..) | Value::Phi(_)
    );
    facts.gives(place, &[Effect::ReadsSize])
        || is_name && facts.influence().operands(place).any(|own| tells_size(facts, own, steps))
}

/// What comprehensions give that go over a value: as many elements, or a share of them.
fn following<'f>(
    facts: &'f Facts<'_>,
    blocks: &'f Blocks,
    comprehensions: &'f Comprehensions,
    (file, iterated): Place,
) -> impl Iterator<Item = Place> + 'f {
    let module = facts.module(file);
    let own = comprehensions.get(&file).map_or(&[][..], Vec::as_slice);
    blocks.decided_by((file, iterated)).iter().filter_map(move |&(caller, head)| {
        let branch = module.scope(caller.scope).flow.blocks[head.index()].branch?;
        let is_its = branch.kind == BranchKind::For && branch.condition == Some(iterated);
        let around = own.iter().filter(|_| is_its);
        let around = around.filter(|&&display| module.value(display).range.contains_range(branch.range));
        around.min_by_key(|&&display| module.value(display).range.len()).map(|&display| (file, display))
    })
}

/// Whether a value is of a form whose length may differ by itself: the question of [`source`] without what differs.
fn may_be_source(facts: &Facts<'_>, (file, value): Place) -> bool {
    match &facts.module(file).value(value).value {
        Value::Slice { .. } | Value::Phi(_) => true,
        Value::Item { base, key, .. } => {
            is_parted(facts, file, *base)
                || is_mask(facts, (file, *key), STEPS)
                || is_mask_of(facts, file, *base, *key, STEPS)
                || arrays::mask_behind(facts, (file, value)).is_some()
        }
        Value::Call(call) => {
            let filter = facts.library.lookup("tensorflow.data.Dataset.filter");
            let takes_part = |symbol: &Symbol| {
                symbol.has(Effect::Shards)
                    || symbol.has(Effect::ReadsFile)
                    || Some(symbol) == filter
                    || symbol.parameter(BATCH_SIZE).is_some()
                    || symbol.scaled().any(|(_, scaling)| scaling == Scaling::Divide)
            };
            facts.called_symbols(file, *call).any(takes_part)
                || facts.calls_builtin(file, *call, "builtins.filter")
                || range_limits(facts, file, *call).is_some()
                || !arrays::sizes(facts, file, *call).is_empty()
                || arrays::mask_behind(facts, (file, value)).is_some()
        }
        _ => false,
    }
}

/// Why the length of a value differs by itself.
fn source(parts: Parts<'_, '_>, place: Place) -> Option<Difference> {
    let Parts { facts, values, .. } = parts;
    let (file, value) = place;
    if let Some(mask) = arrays::mask_behind(facts, place) {
        return values.difference((file, mask)).filter(|own| own.cause == Cause::Data);
    }
    let through_library = |own: Difference| Difference { cause: Cause::Data, ..own };
    match &facts.module(file).value(value).value {
        Value::Slice { base, cut } => {
            let limits = cut.limits.iter();
            let own = limits.copied().find_map(|limit| values.difference((file, limit)))?;
            (!parts.is_equal_slice(file, *base, cut)).then(|| through_library(own))
        }
        // `np.array_split(data, hvd.size())[hvd.rank()]`
        Value::Item { base, key, .. } if is_parted(facts, file, *base) => {
            values.difference((file, *key)).map(through_library)
        }
        // `data[np.random.rand(len(data)) < 0.8]`
        Value::Item { key, .. } if is_mask(facts, (file, *key), STEPS) => {
            values.difference((file, *key)).filter(|own| own.cause == Cause::Data)
        }
        // `rows[rows[:, 0] != 0]` of rows of the rank's own
        Value::Item { base, key, .. } if is_mask_of(facts, file, *base, *key, STEPS) => {
            values.difference((file, *key)).map(through_library)
        }
        Value::Call(call) => of_call(parts, file, *call),
        Value::Phi(options) => chosen::difference(parts, place, options),
        _ => None,
    }
}

/// How far it is followed where a mask comes from.
const STEPS: u32 = 4;

/// Whether a value tells of each element of an array whether it is wanted: what comparing an array gives.
fn is_mask(facts: &Facts<'_>, (file, value): Place, steps: u32) -> bool {
    let Some(steps) = steps.checked_sub(1) else { return false };
    let is_array = |value: ValueId| {
        let Value::Call(call) = facts.module(file).value(value).value else { return false };
        facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::DrawsRandom))
    };
    match facts.module(file).value(value).value {
        Value::Operator { operator: Operator::Compare(_), left, right } => is_array(left) || is_array(right),
        // `~mask`
        Value::Operator { operator: Operator::Unary(_), left, .. } => is_mask(facts, (file, left), steps),
        Value::Cell(_) | Value::Phi(_) | Value::Parameter(..) => {
            facts.influence().operands((file, value)).any(|own| is_mask(facts, own, steps))
        }
        _ => false,
    }
}

/// Whether a value tells of each element of an array which compares as wanted, by the array itself or columns of it.
fn is_mask_of(facts: &Facts<'_>, file: FileId, array: ValueId, mask: ValueId, steps: u32) -> bool {
    let Some(steps) = steps.checked_sub(1) else { return false };
    let is_of_array = |value: ValueId| match facts.module(file).value(value).value {
        Value::Item { base, .. } | Value::Slice { base, .. } | Value::Attribute { base, .. } => base == array,
        _ => value == array,
    };
    match facts.module(file).value(mask).value {
        Value::Operator { operator: Operator::Compare(_), left, right } => {
            is_of_array(left) || is_of_array(right)
        }
        Value::Operator { operator: Operator::Binary(_) | Operator::Unary(_), left, right } => {
            [left, right].into_iter().any(|own| is_mask_of(facts, file, array, own, steps))
        }
        _ => false,
    }
}

/// Whether a value is what a library has divided into parts that may be of different lengths.
fn is_parted(facts: &Facts<'_>, file: FileId, value: ValueId) -> bool {
    let divides = |(file, value): Place| match facts.module(file).value(value).value {
        Value::Call(call) => facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Shards)),
        _ => false,
    };
    divides((file, value)) || facts.influence().operands((file, value)).any(divides)
}

fn of_call(parts: Parts<'_, '_>, file: FileId, id: CallId) -> Option<Difference> {
    let Parts { facts, values, .. } = parts;
    let call = facts.module(file).call(id);
    // By the seed the order differs.
    let seed = given_seed(facts, file, id).map(|own| own.range);
    let others = || call.arguments.iter().filter(|own| Some(own.range) != seed);
    let differing = || others().find_map(|argument| values.difference((file, argument.value)));
    let ranked =
        || differing().filter(|own| facts.gives(own.source, &[Effect::ReadsRank, Effect::ReadsLocalRank]));
    let through_library = |own: Difference| Difference { cause: Cause::Data, ..own };
    if let Some(limits) = range_limits(facts, file, id) {
        let differing = limits.iter().find_map(|&limit| values.difference((file, limit)));
        return differing.filter(|_| !parts.is_equal_range(file, &limits));
    }
    let mut sizes = arrays::sizes(facts, file, id).into_iter();
    if let Some(own) = sizes.find_map(|size| values.difference((file, size))) {
        return Some(own);
    }
    // `filter(lambda number: number % hvd.size() == hvd.rank(), numbers)`
    if facts.calls_builtin(file, id, "builtins.filter") {
        let tests = call.arguments.iter().flat_map(|own| facts.objects(file, own.value));
        let tests = tests.filter_map(|(_, object)| code(object));
        return tests.flat_map(|own| returned(facts, own)).find_map(|place| values.difference(place));
    }
    let filter = facts.library.lookup("tensorflow.data.Dataset.filter");
    for symbol in facts.called_symbols(file, id) {
        if symbol.has(Effect::Agrees) {
            return None;
        }
        // Of random data each rank keeps as many as it has drawn; in what order they come does not matter.
        if Some(symbol) == filter
            && let Some(receiver) = facts.receiver(file, call)
            && let Some(own) = values.difference((file, receiver))
            && facts.gives(own.source, &[Effect::DrawsRandom])
            && !facts.gives(own.source, &[Effect::KeepsLength])
        {
            return Some(through_library(own));
        }
        if symbol.has(Effect::Shards) || symbol.has(Effect::ReadsFile) {
            let is_equal = |whole: ValueId| symbol.has(Effect::Shards) && parts.is_whole((file, whole));
            let is_of_equal = facts.receiver(file, call).is_some_and(is_equal);
            let own = ranked().filter(|_| !is_of_equal).map(through_library)?;
            // What the rank has written itself says less of the others.
            let read = values.difference((file, call.result)).filter(|_| symbol.has(Effect::ReadsFile));
            let cause = read.map_or(own.cause, |read| own.cause.min(read.cause));
            return Some(Difference { cause, ..own });
        }
        // `dataset.batch(random.choice([16, 32]))`
        let size = facts.argument(file, call, symbol, BATCH_SIZE);
        if let Some(own) = size.and_then(|size| values.difference((file, size.value))) {
            return Some(Difference { cause: own.cause.min(Cause::Data), ..own });
        }
        // `dataset.take(hvd.rank() + 1)`
        let mut shared = symbol.scaled().filter(|(_, scaling)| *scaling == Scaling::Divide);
        let count = shared.find_map(|(parameter, _)| facts.argument(file, call, symbol, parameter));
        if let Some(own) = count.and_then(|count| values.difference((file, count.value))) {
            return Some(own);
        }
    }
    None
}

/// What a function of the project may return.
pub(super) fn returned<'f>(facts: &'f Facts<'_>, function: FunctionRef) -> impl Iterator<Item = Place> + 'f {
    let returns = &facts.module(function.file).function(function.function).returns;
    returns.iter().map(move |&value| (function.file, value))
}

/// What a `range` is made of: its end, or its start, end and step. Also where a library makes it and shows how far it is,
/// `trange(10, desc="epochs")`.
pub(super) fn range_limits(facts: &Facts<'_>, file: FileId, id: CallId) -> Option<Vec<ValueId>> {
    let range = facts.library.lookup("builtins.range");
    let makes = |symbol: &Symbol| !symbol.is_class() && facts.library.returned_class(symbol) == range;
    let is_range = facts.calls_builtin(file, id, "builtins.range")
        || range.is_some() && facts.called_symbols(file, id).any(makes);
    let arguments = facts.module(file).call(id).arguments.iter();
    let positional =
        arguments.filter(|own| own.passing == semantic::Passing::Positional).map(|own| own.value);
    is_range.then(|| positional.collect())
}

/// The same of a value that is one.
pub(super) fn range_limits_of(facts: &Facts<'_>, (file, value): Place) -> Option<Vec<ValueId>> {
    match facts.module(file).value(value).value {
        Value::Call(call) => range_limits(facts, file, call),
        _ => None,
    }
}

/// Whether an attribute tells how many elements an array has, or of what type they are, or how many steps an optimizer
/// made.
pub(super) fn measures(facts: &Facts<'_>, file: FileId, base: ValueId, name: NameId) -> bool {
    let name = facts.module(file).names.text(name);
    let classes = COUNTING.into_iter().filter_map(|class| facts.library.lookup(class));
    let mut attributes = classes.filter_map(|class| facts.library.member(class, name));
    // A module or a class of the project has attributes of its own.
    attributes.any(|own| own.has(Effect::Measures))
        && !facts.objects(file, base).any(|(id, own)| {
            matches!(own, Object::Instance(..) | Object::Module(_)) && facts.kind(id) != Some(Kind::Optimizer)
        })
}

/// The classes whose attributes count.
const COUNTING: [&str; 3] =
    ["numpy.ndarray", "tensorflow.keras.callbacks.History", "tensorflow.keras.optimizers.Optimizer"];

/// The parameter of what puts elements together to batches.
const BATCH_SIZE: &str = "batch_size";

/// How many methods of datasets are gone back over.
const DATASET_STEPS: usize = 8;

/// Whether what a method of a dataset is called on has batches for elements.
fn is_batched(facts: &Facts<'_>, file: FileId, mut call: CallId) -> bool {
    for _ in 0..DATASET_STEPS {
        let module = facts.module(file);
        let receiver = facts.receiver(file, module.call(call));
        let Some(receiver) = receiver.filter(|&own| facts.may_be(file, own, Kind::Dataset)) else {
            return false;
        };
        let Value::Call(before) = module.value(receiver).value else { return true };
        if facts.called_symbols(file, before).any(|own| own.parameter(BATCH_SIZE).is_some()) {
            return true;
        }
        call = before;
    }
    true
}

/// The comprehensions of each file.
type Comprehensions = FxHashMap<FileId, Vec<ValueId>>;

fn comprehensions(facts: &Facts<'_>, places: &[Place]) -> Comprehensions {
    let mut found = Comprehensions::default();
    for &(file, value) in places {
        if let Value::Display(
            Container::List | Container::Set | Container::Dict | Container::Generator,
            elements,
        ) = &facts.module(file).value(value).value
            && matches!(**elements, [Element::Any(_) | Element::Key(..)])
        {
            found.entry(file).or_default().push(value);
        }
    }
    found
}

/// The comprehensions whose filter differs: `[f for i, f in enumerate(files) if i % hvd.size() == hvd.rank()]`.
fn filters(parts: Parts<'_, '_>, comprehensions: &Comprehensions) -> FxHashMap<Place, Difference> {
    let Parts { facts, values, .. } = parts;
    let mut found = FxHashMap::default();
    for (&file, displays) in comprehensions {
        let module = facts.module(file);
        for scope in &module.scopes {
            let blocks = &scope.flow.blocks;
            for block in blocks {
                let Some(branch) = block.branch.filter(|branch| branch.kind == BranchKind::If) else {
                    continue;
                };
                let Some(condition) = branch.condition else { continue };
                let Some(own) = values.difference((file, condition)) else { continue };
                if parts.is_dealt_evenly(file, condition) {
                    continue;
                }
                // What a filter rejects goes on with the next element.
                let is_filter = block.successors.iter().any(|next| {
                    let header = blocks[next.index()].branch;
                    header.is_some_and(|header| header.kind == BranchKind::For)
                });
                let around = displays
                    .iter()
                    .filter(|&&display| is_filter && module.value(display).range.contains_range(branch.range))
                    .min_by_key(|&&display| module.value(display).range.len());
                if let Some(&display) = around {
                    found.insert((file, display), own);
                }
            }
        }
    }
    found
}
