//! Which values may be something else on another rank, and why.
//!
//! The lattice is `uniform < differs`, where what differs remembers its cause. A difference begins where a library
//! gives one (the rank's number, the clock, random numbers, files) and flows along [`Influence`] and through
//! decisions: what is bound under a condition that differs, differs behind it. It ends where all ranks agree: the
//! result of a collective, the gradients of a distributed tape. What a variable holds is another question: it changes
//! while the program runs, and is asked where it is read (`replicas_diverge::reads`).
//!
//! [`Influence`]: crate::program::Influence

mod agreeing;
mod flood;
mod leaving;
mod meeting;
mod objects;
mod own_files;
mod parts;
mod passing;
mod puts;
mod returning;
mod sameness;
mod unpacking;

pub(super) use agreeing::agrees;

use rustc_hash::{FxHashMap, FxHashSet};

use flood::Flood;
use meeting::Meeting;
use own_files::OwnFiles;
use parts::Part;
use passing::{Passing, Through};
use puts::Puts;

use super::blocks::Blocks;
use super::closed::Closed;
use super::environment;
use super::file_questions;
use super::lengths::Measured;
use super::overrides::Overrides;
use super::seeds::Seeds;
use crate::api::{Effect, EffectSet, Kind};
use crate::program::{Facts, ObjectId, Place, Program};
use crate::project::FileId;
use crate::semantic::{BuiltinType, CallId, Operator, Value, ValueId};

/// Why a value may be something else on another rank; a later one is surer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A length that differed, before it was cut to a number that all ranks share and some may not have.
    Cut,
    /// It was read from a file or asked of the file system, which may be another one elsewhere, or from a file that the rank has
    /// written itself.
    Files,
    /// Data of the rank's own, the clock, random numbers, or what a library makes of the rank's number.
    Data,
    /// A variable holds it that the program's own text makes differ, by the rank's number or on some ranks only.
    Held,
    /// The program's own text computes it from the rank's number.
    Rank,
}

impl Cause {
    /// Whether the ranks most likely have the same nevertheless.
    #[must_use]
    pub fn is_weak(self) -> bool {
        matches!(self, Self::Cut | Self::Files)
    }
}

/// A value that may be something else on another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Why.
    pub cause: Cause,
    /// The value that it comes from: the call of `hvd.rank`, of a clock, of a random generator.
    pub source: Place,
}

impl Difference {
    /// Whether it comes from the rank's number, from data that are chosen by it, or from random numbers. In what other
    /// order a directory is listed says nothing of how many files it has.
    pub(super) fn is_drawn(self, facts: &Facts<'_>) -> bool {
        let sources = [Effect::DrawsRandom, Effect::ReadsRank, Effect::ReadsLocalRank];
        self.cause == Cause::Rank || self.cause == Cause::Data && facts.gives(self.source, &sources)
    }
}

/// The values that may be something else on another rank. What is not here is the same on all ranks.
#[derive(Debug, Default)]
pub struct Values {
    differing: FxHashMap<Place, Difference>,
    /// What has another number of elements on another rank.
    lengths: FxHashMap<Place, Difference>,
    /// What may have one.
    measured: Measured,
    /// Where that is one more or less.
    dealt: FxHashSet<Place>,
    /// What calls are given in variables whose contents differ there.
    given: FxHashMap<(FileId, CallId), Difference>,
    /// The variables whose contents are followed.
    variables: FxHashSet<ObjectId>,
    /// By which parameters of their functions values differ, where they don't at every call.
    through: FxHashMap<Place, Through>,
    /// How much differs of what does not differ as a whole.
    parts: FxHashMap<Place, Part>,
    passing: Passing,
    puts: Puts,
    meeting: Meeting,
    own_files: OwnFiles,
}

/// Where the contents of a variable go when they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// They are part of a value.
    Value(Place),
    /// A call is given the variable itself.
    Arguments(FileId, CallId),
}

/// What is read of a variable that differs.
pub(super) type Read = (Target, Difference);

/// All values of some files.
pub(super) fn places_of(facts: &Facts<'_>, files: &[FileId]) -> Vec<Place> {
    let of =
        |&file: &FileId| (0..facts.module(file).values.len()).map(move |index| (file, ValueId::new(index)));
    files.iter().flat_map(of).collect()
}

/// What differs between ranks beside the rank's number.
const DIFFERENT: [Effect; 3] = [Effect::Varies, Effect::DrawsRandom, Effect::ReadsInput];

/// What is computed from the rank's number.
const RANK: [Effect; 2] = [Effect::ReadsRank, Effect::ReadsLocalRank];

impl Values {
    /// Follows the differences through some files.
    #[must_use]
    pub fn new(
        facts: &Facts<'_>,
        blocks: &Blocks,
        overrides: &Overrides,
        closed: &Closed,
        files: &[FileId],
        programs: &[&Program],
    ) -> (Self, Seeds) {
        let places = places_of(facts, files);
        let with = |effects: &[Effect]| -> Vec<Place> {
            places.iter().copied().filter(|&place| facts.gives(place, effects)).collect()
        };
        let variables: FxHashSet<ObjectId> = facts
            .creations
            .iter()
            .filter(|made| made.kind == Kind::Variable && !made.derived && files.contains(&made.file))
            .map(|made| made.object)
            .collect();
        let (passing, puts) = (Passing::new(facts, files), Puts::new(facts, files));
        let meeting = Meeting::new(facts, blocks, closed, files);
        let measured = Measured::new(facts, files, &places);
        let values = Self { measured, variables, passing, puts, meeting, ..Self::default() };
        let mut flood = Flood::new(facts, blocks, overrides, values);
        let told: EffectSet = RANK.into_iter().collect();
        let by_launcher = |&place: &Place| environment::number(facts, place).intersects(told);
        let numbers = with(&RANK).into_iter().chain(places.iter().copied().filter(by_launcher));
        flood.run(numbers.collect(), Cause::Rank);
        let seeds = Seeds::new(facts, &flood.values, programs);
        let different = with(&DIFFERENT);
        let stable = file_questions::stable(facts, files, &different);
        let different = different
            .into_iter()
            .filter(|place| !stable.contains(place))
            // What else the file system tells is weaker: most often it is the same one.
            .filter(|&place| {
                file_questions::is_one(facts, place)
                    || !facts.gives(place, &[Effect::ReadsFile, Effect::ReadsEnvironment])
            })
            .filter(|&place| !(facts.gives(place, &[Effect::DrawsRandom]) && seeds.is_equal(facts, place)));
        flood.run(different.collect(), Cause::Data);
        flood.measure();
        flood.run(with(&[Effect::ReadsFile]), Cause::Files);
        (flood.values, seeds)
    }

    /// Follows what was found to differ beside: what is read of variables.
    pub(super) fn extend(
        &mut self,
        facts: &Facts<'_>,
        blocks: &Blocks,
        overrides: &Overrides,
        news: Vec<Read>,
    ) {
        let mut flood = Flood::new(facts, blocks, overrides, std::mem::take(self));
        let mut found = Vec::new();
        for (target, own) in news {
            match target {
                Target::Value(place) => found.push((place, own)),
                Target::Arguments(file, call) => {
                    flood.values.given.insert((file, call), own);
                }
            }
        }
        flood.spread(found);
        flood.measure();
        *self = flood.values;
    }

    /// Whether all that a value may be, as far as is known, is variables whose contents are followed. That one of them differs somewhere
    /// says nothing of a place that reads it.
    pub(super) fn is_variable(&self, facts: &Facts<'_>, (file, value): Place) -> bool {
        let mut objects =
            facts.solution.values(file, value).iter().filter(|&&own| own != ObjectId::UNKNOWN).peekable();
        !self.variables.is_empty()
            && objects.peek().is_some()
            && objects.all(|own| self.variables.contains(own))
    }

    /// Whether a value may be a variable whose contents are followed.
    pub(super) fn may_be_variable(&self, facts: &Facts<'_>, (file, value): Place) -> bool {
        !self.variables.is_empty()
            && facts.solution.values(file, value).iter().any(|own| self.variables.contains(own))
    }

    /// Whether there are variables whose contents are followed.
    pub(super) fn has_variables(&self) -> bool {
        !self.variables.is_empty()
    }

    /// Why what a call is given in variables may be something else on another rank.
    pub(super) fn given(&self, file: FileId, call: CallId) -> Option<Difference> {
        self.given.get(&(file, call)).copied()
    }

    /// Why a value may be something else on another rank.
    #[must_use]
    pub fn difference(&self, place: Place) -> Option<Difference> {
        self.differing.get(&place).copied()
    }

    /// By which parameters of its function a value differs.
    fn through(&self, place: Place) -> Through {
        match self.through.get(&place) {
            Some(&through) => through,
            None if self.differing.contains_key(&place) => Through::ALWAYS,
            None => Through::NOTHING,
        }
    }

    /// Why a value may have another number of elements on another rank.
    #[must_use]
    pub fn length(&self, place: Place) -> Option<Difference> {
        self.lengths.get(&place).copied()
    }

    /// Whether a value has one element more or less on some ranks: its elements were dealt out one by one.
    pub(super) fn is_dealt_out(&self, place: Place) -> bool {
        self.dealt.contains(&place)
    }

    /// Whether none of several ranks has a value where it goes into another.
    #[must_use]
    pub fn leaves_out(&self, part: Place, whole: Place) -> bool {
        self.meeting.leaves_out(part, whole)
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
