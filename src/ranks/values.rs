//! Which values may be something else on another rank, and why.
//!
//! The lattice is `uniform < differs`, where what differs remembers its cause. A difference begins where a library
//! gives one (the rank's number, the clock, random numbers, files) and flows along [`Influence`] and through
//! decisions: what is bound under a condition that differs, differs behind it. It ends where all ranks agree: the
//! result of a collective, the gradients of a distributed tape.
//!
//! [`Influence`]: crate::program::Influence

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::Blocks;
use super::lengths;
use super::seeds::Seeds;
use crate::api::{Effect, Kind};
use crate::program::{Caller, Facts, Object, ObjectId, Place, Program};
use crate::project::FileId;
use crate::semantic::{
    BlockId, BranchKind, BuiltinType, CallId, Element, Operator, StatementKind, StoreKey, Value, ValueId,
};

/// Why a value may be something else on another rank; a later one is surer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// It was read from a file or asked of the file system, which may be another one elsewhere.
    Files,
    /// Data of the rank's own, the clock, random numbers, or what a library makes of the rank's number.
    Data,
    /// The program's own text computes it from the rank's number.
    Rank,
}

/// A value that may be something else on another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Why.
    pub cause: Cause,
    /// The value that it comes from: the call of `hvd.rank`, of a clock, of a random generator.
    pub source: Place,
}

/// The values that may be something else on another rank. What is not here is the same on all ranks.
#[derive(Debug, Default)]
pub struct Values {
    differing: FxHashMap<Place, Difference>,
    /// What has another number of elements on another rank.
    lengths: FxHashMap<Place, Difference>,
}

/// What differs between ranks beside the rank's number.
const DIFFERENT: [Effect; 3] = [Effect::Varies, Effect::DrawsRandom, Effect::ReadsInput];

/// What is computed from the rank's number.
const RANK: [Effect; 2] = [Effect::ReadsRank, Effect::ReadsLocalRank];

impl Values {
    /// Follows the differences through some files.
    #[must_use]
    pub fn new(facts: &Facts<'_>, blocks: &Blocks, files: &[FileId], programs: &[&Program]) -> (Self, Seeds) {
        let places: Vec<Place> = files
            .iter()
            .flat_map(|&file| {
                (0..facts.module(file).values.len()).map(move |index| (file, ValueId::new(index)))
            })
            .collect();
        let with = |effects: &[Effect]| -> Vec<Place> {
            places.iter().copied().filter(|&place| facts.gives(place, effects)).collect()
        };
        let mut flood = Flood {
            facts,
            blocks,
            values: Self::default(),
            weaker: Vec::new(),
            counted: Vec::new(),
            unpacked: Vec::new(),
        };
        flood.run(with(&RANK), Cause::Rank);
        let seeds = Seeds::new(facts, &flood.values, programs);
        let different = with(&DIFFERENT)
            .into_iter()
            .filter(|&place| !(facts.gives(place, &[Effect::DrawsRandom]) && seeds.is_equal(facts, place)));
        flood.run(different.collect(), Cause::Data);
        // How many elements there are is measured and counted with, which may make other lengths differ.
        loop {
            let measured = lengths::find(facts, &flood.values, &places);
            let news: Vec<(Place, Difference)> = measured
                .lengths
                .iter()
                .filter(|(place, _)| !flood.values.lengths.contains_key(place))
                .map(|(&place, &own)| (place, own))
                .collect();
            flood.values.lengths.extend(news);
            let counts: Vec<(Place, Difference)> = measured
                .counts
                .into_iter()
                .filter(|(place, _)| !flood.values.differing.contains_key(place))
                .collect();
            if counts.is_empty() {
                break;
            }
            flood.counted = counts;
            flood.run(Vec::new(), Cause::Data);
        }
        flood.run(with(&[Effect::ReadsFile]), Cause::Files);
        (flood.values, seeds)
    }

    /// Why a value may be something else on another rank.
    #[must_use]
    pub fn difference(&self, place: Place) -> Option<Difference> {
        self.differing.get(&place).copied()
    }

    /// Why a value may have another number of elements on another rank.
    #[must_use]
    pub fn length(&self, place: Place) -> Option<Difference> {
        self.lengths.get(&place).copied()
    }

    /// Whether no two ranks have the same value.
    #[must_use]
    pub fn is_injective(&self, facts: &Facts<'_>, place: Place) -> bool {
        self.difference(place).is_some() && self.keeps_apart(facts, place, &mut FxHashSet::default())
    }

    fn keeps_apart(&self, facts: &Facts<'_>, place: Place, seen: &mut FxHashSet<Place>) -> bool {
        if facts.gives(place, &RANK) {
            return true;
        }
        if self.difference(place).is_none() || !seen.insert(place) {
            return false;
        }
        let (file, value) = place;
        let module = facts.module(file);
        let operands = || facts.influence().operands(place).collect::<Vec<Place>>();
        match &module.value(value).value {
            Value::Operator {
                operator: Operator::Binary(method) | Operator::InPlace(method),
                left,
                right,
            } => {
                let sides = [(file, *left), (file, *right)];
                let apart = sides.map(|side| self.keeps_apart(facts, side, seen));
                let is_text = module_text(facts, sides[0]);
                match method.name() {
                    // `'log-%d' % rank` keeps ranks apart, `rank % 2` does not.
                    "__mod__" => is_text && apart[1],
                    "__floordiv__" | "__and__" | "__or__" | "__rshift__" => false,
                    _ if is_text => apart[0] || apart[1],
                    _ => apart[0] != apart[1] && self.difference(sides[usize::from(apart[0])]).is_none(),
                }
            }
            Value::Operator { .. } | Value::Item { .. } | Value::Unknown => false,
            Value::Instance(kind) => {
                // All that is evaluated in an f-string; what only goes into something else there is no part of it.
                let evaluated = operands();
                let within = module.value(value).range;
                let is_inner = |part: &Place| {
                    evaluated.iter().any(|&(of, around)| {
                        of == file
                            && within.contains_range(module.value(around).range)
                            && facts.influence().operands((of, around)).any(|own| own == *part)
                    })
                };
                *kind == BuiltinType::Str
                    && evaluated.iter().any(|part| !is_inner(part) && self.keeps_apart(facts, *part, seen))
            }
            Value::Phi(_) | Value::Cell(_) | Value::Parameter(..) | Value::Import(_) => {
                let operands = operands();
                !operands.is_empty() && operands.into_iter().all(|own| self.keeps_apart(facts, own, seen))
            }
            _ => operands().into_iter().any(|own| self.keeps_apart(facts, own, seen)),
        }
    }
}

fn module_text(facts: &Facts<'_>, (file, value): Place) -> bool {
    facts.objects(file, value).any(|(id, _)| facts.builtin_class(id) == Some("str"))
}

/// Follows differences from one value to the next.
struct Flood<'f, 'a> {
    facts: &'f Facts<'a>,
    blocks: &'f Blocks,
    values: Values,
    /// What a library makes of the rank's number: differs, but nobody knows how.
    weaker: Vec<(Place, Difference)>,
    /// Elements of what functions return, which did not differ when the rest of it did.
    unpacked: Vec<(Place, Difference)>,
    /// Numbers of elements that differ.
    counted: Vec<(Place, Difference)>,
}

impl Flood<'_, '_> {
    fn run(&mut self, sources: Vec<Place>, cause: Cause) {
        let mut queue: VecDeque<Place> = VecDeque::new();
        let weaker = if cause == Cause::Data { std::mem::take(&mut self.weaker) } else { Vec::new() };
        let sources = sources.into_iter().map(|source| (source, Difference { cause, source }));
        for (place, own) in weaker.into_iter().chain(sources) {
            self.insert(place, own, &mut queue);
        }
        for (place, own) in std::mem::take(&mut self.counted) {
            self.values.differing.insert(place, own);
            queue.push_back(place);
        }
        while let Some(place) = queue.pop_front().or_else(|| self.next_unpacked()) {
            let own = self.values.differing[&place];
            let next: Vec<Place> = self.facts.influence().dependents(place).collect();
            for next in next {
                if self.is_guessed(place, next) {
                    continue;
                }
                if !self.unpacks_differing(next) {
                    self.unpacked.push((next, own));
                } else if own.cause == Cause::Rank && self.is_of_library(next) {
                    self.weaker.push((next, Difference { cause: Cause::Data, ..own }));
                } else {
                    self.insert(next, own, &mut queue);
                }
            }
            for &(caller, block) in self.blocks.decided_by(place) {
                for decided in self.decided(caller, block) {
                    self.insert(decided, own, &mut queue);
                }
            }
        }
    }

    /// An element of what a function returns that turned out to differ itself.
    fn next_unpacked(&mut self) -> Option<Place> {
        let index = self.unpacked.iter().position(|&(place, _)| self.unpacks_differing(place))?;
        let (place, own) = self.unpacked.swap_remove(index);
        self.values.differing.entry(place).or_insert(own);
        Some(place)
    }

    fn insert(&mut self, place: Place, own: Difference, queue: &mut VecDeque<Place>) {
        if self.values.differing.contains_key(&place) || agrees(self.facts, place) {
            return;
        }
        self.values.differing.insert(place, own);
        queue.push_back(place);
    }

    /// Whether a value differs if what it is unpacked from does: `train, steps = load()` takes one element of what is
    /// returned, and the others are no reason for it to differ.
    fn unpacks_differing(&self, (file, value): Place) -> bool {
        let facts = self.facts;
        let Value::Unpack { base, index: Some(index), .. } = facts.module(file).value(value).value else {
            return true;
        };
        let displays: Vec<Place> = match facts.module(file).value(base).value {
            Value::Display(..) => vec![(file, base)],
            Value::Call(call) => {
                if !facts
                    .callees(file, call)
                    .iter()
                    .all(|edge| matches!(facts.solution.object(edge.callee), Object::Function(_)))
                {
                    return true;
                }
                let functions = facts.called_functions(file, call);
                let returned = functions.flat_map(|own| {
                    let returns = &facts.module(own.file).function(own.function).returns;
                    returns.iter().map(move |&value| (own.file, value))
                });
                returned.collect()
            }
            _ => return true,
        };
        displays.is_empty()
            || displays.into_iter().any(|(file, display)| {
                let Value::Display(_, elements) = &facts.module(file).value(display).value else {
                    return true;
                };
                let element = elements.iter().find_map(|element| match *element {
                    Element::At(at, value) if at == index => Some((file, value)),
                    _ => None,
                });
                element.is_none_or(|element| self.values.differing.contains_key(&element))
            })
    }

    /// Whether a value is an attribute of something unknown that code of another file stores to an attribute of this
    /// name: most likely of something else.
    fn is_guessed(&self, (from, _): Place, (file, value): Place) -> bool {
        let Value::Attribute { base, .. } = self.facts.module(file).value(value).value else { return false };
        from != file && self.facts.solution.values(file, base).iter().all(|&own| own == ObjectId::UNKNOWN)
    }

    /// Whether a value is what a library returns, as opposed to Python's own functions and the project's.
    fn is_of_library(&self, (file, value): Place) -> bool {
        let Value::Call(call) = self.facts.module(file).value(value).value else { return false };
        self.facts.callees(file, call).iter().any(|edge| {
            matches!(self.facts.solution.object(edge.callee), Object::External(_) | Object::Unknown)
        })
    }

    /// The values that depend on how a branch goes, though they are not computed from its condition.
    fn decided(&self, caller: Caller, branch: BlockId) -> Vec<Place> {
        let facts = self.facts;
        let file = caller.file;
        let module = facts.module(file);
        let mut found = Vec::new();
        let own = module.scope(caller.scope).flow.blocks[branch.index()].branch;
        // What the elements are does not decide on the turns of a loop; how many there are does.
        if own.is_some_and(|own| own.kind == BranchKind::For) {
            return found;
        }
        let mut merged = |value: ValueId, is_wanted: &dyn Fn(&Value) -> bool| {
            let dependents = facts.influence().dependents((file, value));
            found.extend(dependents.filter(|&(of, value)| is_wanted(&facts.module(of).value(value).value)));
        };
        let mut returns = false;
        for block in self.blocks.region(caller, branch) {
            let contents = self.blocks.of(caller, block);
            for &index in &contents.definitions {
                let value = module.definitions[index as usize].value;
                merged(value, &|value| matches!(value, Value::Phi(_) | Value::Cell(_)));
            }
            for &index in &contents.stores {
                let store = &module.stores[index as usize];
                if matches!(store.key, StoreKey::Attribute(_)) {
                    merged(store.value, &|value| matches!(value, Value::Attribute { .. }));
                }
            }
            returns |= contents
                .leaves
                .iter()
                .any(|&statement| module.statement(statement).kind == StatementKind::Return);
        }
        for block in self.blocks.region(caller, branch) {
            for &index in &self.blocks.of(caller, block).stores {
                let store = &module.stores[index as usize];
                if !matches!(store.key, StoreKey::Attribute(_)) {
                    found.push((file, store.base));
                }
            }
        }
        // `a if hvd.rank() == 0 else b`
        if let Some(own) = own.filter(|own| own.kind == BranchKind::If) {
            found.extend(self.blocks.choice_around(file, own.range).map(|value| (file, value)));
        }
        if returns
            && let Some(function) = facts.function_of(caller)
            && module.function(function.function).returns.len() > 1
        {
            let calls =
                facts.incoming(function).iter().filter_map(|edge| Some((edge.caller.file, edge.call?)));
            found.extend(calls.map(|(file, call)| (file, facts.module(file).call(call).result)));
        }
        found
    }
}

/// Whether a value is the same on all ranks whatever it is computed from.
pub(super) fn agrees(facts: &Facts<'_>, place: Place) -> bool {
    let (file, value) = place;
    match facts.module(file).value(value).value {
        Value::Call(call) => {
            facts.gives(place, &[Effect::Agrees, Effect::Measures])
                || facts.gives(place, &[Effect::TakesGradients]) && is_distributed(facts, file, call)
                || facts.gives(place, &[Effect::Trains]) && averages_metrics(facts, file, call)
        }
        Value::Constant(_) => true,
        Value::Attribute { base, name, .. } => lengths::measures(facts, file, base, name),
        Value::Unpack { base, index: Some(0), .. } => lengths::counts(facts, file, base),
        _ => false,
    }
}

/// Whether a method is called on the distributed form of a tape or an optimizer.
pub(super) fn is_distributed(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let Some(receiver) = facts.receiver(file, facts.module(file).call(call)) else { return false };
    facts.objects(file, receiver).any(|(object, _)| is_distributed_object(facts, object))
}

/// Whether an object is the distributed form of a tape or an optimizer, or a model with one.
pub(super) fn is_distributed_object(facts: &Facts<'_>, object: ObjectId) -> bool {
    facts.made_at(object).is_some_and(|(file, call)| {
        facts.called_symbols(file, call).any(|symbol| symbol.has(Effect::Distributes))
    })
}

/// Whether `fit` is given a callback that averages the metrics of each epoch.
fn averages_metrics(facts: &Facts<'_>, file: FileId, call: CallId) -> bool {
    let arguments = facts.module(file).call(call).arguments.iter();
    let given: Vec<Place> = arguments.map(|argument| (file, argument.value)).collect();
    let behind = facts.influence().backwards(&given, |_| false);
    behind.into_iter().any(|(file, value)| {
        facts.objects(file, value).any(|(object, own)| {
            facts.kind(object) == Some(Kind::Callback)
                && facts
                    .symbol(own)
                    .is_some_and(|symbol| symbol.members().iter().any(|member| member.has(Effect::Averages)))
        })
    })
}
