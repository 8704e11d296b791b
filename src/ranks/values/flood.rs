//! How differences flow from one value to the next: along what is computed from what, and through decisions.

mod deciding;

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::blocks::Blocks;
use super::super::file_questions;
use super::super::lengths;
use super::super::overrides::Overrides;
use super::agreeing::{agrees, asks_for_form};
use super::parts::{self, Part};
use super::passing::Through;
use super::returning::Remaining;
use super::unpacking;
use super::{Cause, Difference, Values};
use crate::api::Effect;
use crate::program::{Caller, Facts, Object, ObjectId, Place};
use crate::semantic::{BlockId, Value};

/// Follows differences from one value to the next.
pub(super) struct Flood<'f, 'a> {
    facts: &'f Facts<'a>,
    blocks: &'f Blocks,
    overrides: &'f Overrides,
    pub(super) values: Values,
    /// What a library makes of the rank's number: differs, but nobody knows how.
    weaker: Vec<Arrival>,
    /// Elements of what functions return, which did not differ when the rest of it did.
    unpacked: Vec<Arrival>,
    /// What differing elements are unpacked to.
    unpacked_from: FxHashMap<Place, Vec<Place>>,
    /// The variables that count the steps of optimizers.
    step_counters: FxHashSet<ObjectId>,
    /// What branches decide, as far as it was asked for.
    decided: FxHashMap<(Caller, BlockId), Decided>,
    /// Who decides on the way to where ways meet, in the scopes that branches leave.
    remaining: FxHashMap<Caller, Option<Remaining>>,
}

/// What a branch decides.
type Decided = Rc<[(Place, Part)]>;

/// A difference that comes to a value.
#[derive(Clone, Debug)]
struct Arrival {
    place: Place,
    own: Difference,
    through: Through,
    part: Part,
}

impl Arrival {
    /// Of a value that differs by itself.
    fn whole((place, own): (Place, Difference)) -> Self {
        Self { place, own, through: Through::ALWAYS, part: Part::Whole }
    }
}

impl<'f, 'a> Flood<'f, 'a> {
    pub(super) fn new(
        facts: &'f Facts<'a>,
        blocks: &'f Blocks,
        overrides: &'f Overrides,
        values: Values,
    ) -> Self {
        Self {
            facts,
            blocks,
            overrides,
            values,
            weaker: Vec::new(),
            unpacked: Vec::new(),
            unpacked_from: FxHashMap::default(),
            step_counters: facts.step_counters(),
            decided: FxHashMap::default(),
            remaining: FxHashMap::default(),
        }
    }

    /// Follows what differs by itself.
    pub(super) fn run(&mut self, sources: Vec<Place>, cause: Cause) {
        let weaker = if cause == Cause::Data { std::mem::take(&mut self.weaker) } else { Vec::new() };
        let sources = sources.into_iter().map(|source| (source, Difference { cause, source }));
        self.begin(weaker.into_iter().chain(sources.map(Arrival::whole)));
    }

    /// How many elements there are is measured and counted with, which may make other lengths differ.
    pub(super) fn measure(&mut self) {
        loop {
            let measured = lengths::find(self.facts, self.blocks, &self.values, &self.values.measured);
            let news: Vec<(Place, Difference)> = measured
                .differing
                .iter()
                .filter(|(place, own)| {
                    self.values.lengths.get(place).is_none_or(|known| known.cause < own.cause)
                })
                .map(|(&place, &own)| (place, own))
                .collect();
            self.values.lengths.extend(news);
            self.values.dealt = measured.dealt;
            let counts: Vec<(Place, Difference)> = measured
                .counts
                .into_iter()
                .filter(|(place, _)| !self.values.differing.contains_key(place))
                .collect();
            if counts.is_empty() {
                break;
            }
            // A measure agrees whatever it is computed from, but not if it is the length that differs.
            self.values.differing.extend(counts.iter().copied());
            self.follow(counts.into_iter().map(Arrival::whole).collect());
            let weaker = std::mem::take(&mut self.weaker);
            self.begin(weaker);
        }
    }

    /// Follows differences from where they begin.
    pub(super) fn spread(&mut self, begin: Vec<(Place, Difference)>) {
        self.begin(begin.into_iter().map(Arrival::whole));
    }

    fn begin(&mut self, arrivals: impl IntoIterator<Item = Arrival>) {
        let mut queue = VecDeque::new();
        for arrival in arrivals {
            self.insert(arrival, &mut queue);
        }
        self.follow(queue);
    }

    /// What differs for a weaker reason makes nothing differ for the stronger one that another part of the value has.
    fn follow(&mut self, mut queue: VecDeque<Arrival>) {
        while let Some(arrival) = queue.pop_front().or_else(|| self.next_unpacked()) {
            let Arrival { place, own, through, part } = arrival;
            let is_variable = self.values.is_variable(self.facts, place);
            let known = |place: Place| self.values.through(place);
            let mut arrivals: Vec<Arrival> = Vec::new();
            for next in self.facts.influence().dependents(place) {
                let is_read = is_variable && !self.values.may_be_variable(self.facts, next);
                let is_other = self.is_other_entry(place, next);
                let is_out = self.values.meeting.leaves_out(place, next);
                if is_read
                    || is_other
                    || is_out
                    || self.is_guessed(place, next)
                    || self.is_of_replaced(place, next)
                {
                    continue;
                }
                let part = self.values.puts.carried(self.facts, place, &part, next);
                let through = self.values.passing.carried(self.facts, place, through, next, known);
                if let Some(part) = part.filter(|_| through != Through::NOTHING) {
                    arrivals.push(Arrival { place: next, own, through, part });
                }
            }
            for &next in self.values.puts.under(place) {
                let through = self.values.passing.carried(self.facts, place, through, next, known);
                arrivals.push(Arrival { place: next, own, through, part: Part::Whole });
            }
            for (returned, next) in self.values.passing.back(self.facts, place, known) {
                let is_other = self.is_other_entry(returned, next);
                if !is_other && !self.is_of_replaced(returned, next) {
                    let part = self.values.parts.get(&returned).cloned().unwrap_or(Part::Whole);
                    let cause = self.values.differing[&returned].cause.min(own.cause);
                    let own = Difference { cause, ..own };
                    arrivals.push(Arrival { place: next, own, through, part });
                }
            }
            // More of an element may differ now than when it was unpacked.
            for &next in self.unpacked_from.get(&place).into_iter().flatten() {
                arrivals.push(Arrival { place: next, own, through: known(next), part: Part::Whole });
            }
            for arrival in arrivals {
                let arrival = self.as_unpacked(arrival);
                let next = arrival.place;
                if !self.unpacks_differing(next) {
                    self.unpacked.push(arrival);
                } else if !own.cause.is_weak()
                    && self.values.own_files.are_read(self.facts, &self.values, place, next)
                {
                    let own = Difference { cause: Cause::Files, ..own };
                    self.insert(Arrival { own, ..arrival }, &mut queue);
                } else if own.cause == Cause::Rank && (self.is_of_library(next) || self.is_part(place, next))
                {
                    self.weaker.push(Arrival { own: Difference { cause: Cause::Data, ..own }, ..arrival });
                } else if own.cause == Cause::Data && self.is_read_of_own_file(own, next) {
                    self.insert(
                        Arrival { own: Difference { cause: Cause::Files, ..own }, ..arrival },
                        &mut queue,
                    );
                } else {
                    self.insert(arrival, &mut queue);
                }
            }
            // Which name a file of the process's own has decides nothing: only its form is asked for.
            let decides =
                !self.facts.gives(own.source, &[Effect::Temporary]) && !part.has_one_truth(self.facts, place);
            // Ranks seldom find different files: what that decides, such as the epoch to go on at, is as weak as what
            // they read there.
            let cause = if file_questions::is_one(self.facts, own.source) { Cause::Files } else { own.cause };
            for &(caller, block) in self.blocks.decided_by(place).iter().filter(|_| decides) {
                for (decided, part) in &*self.decided(caller, block) {
                    let (place, part) = (*decided, part.clone());
                    let through = self.decided_through(caller, through, place);
                    if through != Through::NOTHING {
                        let own = Difference { cause: cause.min(own.cause), ..own };
                        self.insert(Arrival { place, own, through, part }, &mut queue);
                    }
                }
            }
        }
    }

    /// Whether a value is what is read from a file of the process's own: each rank has another name for it, and the
    /// program puts the same there. Code that nobody knows most likely reads the file that it is told.
    fn is_read_of_own_file(&self, own: Difference, place: Place) -> bool {
        self.facts.gives(own.source, &[Effect::Temporary])
            && (self.facts.gives(place, &[Effect::ReadsFile, Effect::LoadsModel])
                || self.is_of_unknown(place))
    }

    /// Whether a value is what code returns that nobody knows.
    fn is_of_unknown(&self, (file, value): Place) -> bool {
        let facts = self.facts;
        let Value::Call(call) = facts.module(file).value(value).value else { return false };
        let mut callees = facts.callees(file, call).iter().map(|edge| facts.solution.object(edge.callee));
        callees.any(|callee| match callee {
            Object::Unknown => true,
            Object::External(_) => facts.symbol(callee).is_none(),
            _ => false,
        })
    }

    /// Whether a value is the part of others that a number tells: the elements of `files[hvd.rank()::hvd.size()]` are
    /// data.
    fn is_part(&self, number: Place, (file, value): Place) -> bool {
        match &self.facts.module(file).value(value).value {
            Value::Slice { base, .. } => (file, *base) != number,
            _ => false,
        }
    }

    /// Whether a call gets another entry of what it passes than those that differ there.
    fn is_other_entry(&self, returned: Place, result: Place) -> bool {
        !self.values.through(returned).contains(Through::ALWAYS)
            && parts::is_other_entry(self.facts, &self.values.parts, returned, result)
    }

    /// An element of what a function returns that turned out to differ itself.
    fn next_unpacked(&mut self) -> Option<Arrival> {
        let index = self.unpacked.iter().position(|own| self.unpacks_differing(own.place))?;
        let arrival = self.unpacked.swap_remove(index);
        let arrival = self.as_unpacked(arrival);
        let known = self.values.through(arrival.place);
        if let Entry::Vacant(entry) = self.values.differing.entry(arrival.place) {
            entry.insert(arrival.own);
            if arrival.part != Part::Whole {
                self.values.parts.insert(arrival.place, arrival.part.clone());
            }
        }
        self.values.through.insert(arrival.place, known.union(arrival.through));
        Some(arrival)
    }

    fn insert(&mut self, mut arrival: Arrival, queue: &mut VecDeque<Arrival>) {
        let place = arrival.place;
        let values = &mut self.values;
        if values.differing.contains_key(&place) {
            // It may differ at more calls now, or more of it.
            let known = values.through(place);
            let all = known.union(arrival.through);
            let mut grows = all != known;
            values.through.insert(place, all);
            if let Some(known) = values.parts.get_mut(&place) {
                grows |= known.join(arrival.part.clone());
                if *known == Part::Whole {
                    arrival.part = Part::Whole;
                    values.parts.remove(&place);
                }
            }
            if grows {
                queue.push_back(arrival);
            }
            return;
        }
        let own = arrival.own;
        if agrees(self.facts, place)
            || lengths::cancels(self.facts, values, place)
            || lengths::asks_for_first_turn(self.facts, place)
            || matches!(own.cause, Cause::Data | Cause::Held) && asks_for_form(self.facts, place)
        {
            return;
        }
        values.differing.insert(place, own);
        values.through.insert(place, arrival.through);
        if arrival.part != Part::Whole {
            values.parts.insert(place, arrival.part.clone());
        }
        queue.push_back(arrival);
    }

    /// Whether a value differs if what it is unpacked from does: the other elements are no reason for it.
    fn unpacks_differing(&self, place: Place) -> bool {
        if unpacking::is_fetched_step(self.facts, &self.step_counters, place) {
            return false;
        }
        let elements = unpacking::elements(self.facts, place);
        elements.is_none_or(|own| own.iter().any(|element| self.values.differing.contains_key(element)))
    }

    /// An arrival for no surer reason than the elements differ for that the value is unpacked from, and with as much as
    /// differs of them.
    fn as_unpacked(&mut self, mut arrival: Arrival) -> Arrival {
        let elements = unpacking::elements(self.facts, arrival.place).unwrap_or_default();
        let differing = elements.into_iter().filter_map(|own| Some((own, self.values.difference(own)?)));
        let mut parts = Vec::new();
        let mut surest: Option<Difference> = None;
        for (element, own) in differing.collect::<Vec<(Place, Difference)>>() {
            surest = surest.filter(|known| known.cause >= own.cause).or(Some(own));
            parts.push(self.values.parts.get(&element).cloned().unwrap_or(Part::Whole));
            let unpacked = self.unpacked_from.entry(element).or_default();
            if !unpacked.contains(&arrival.place) {
                unpacked.push(arrival.place);
            }
        }
        let joined = parts.into_iter().reduce(|mut all, own| {
            all.join(own);
            all
        });
        arrival.part = joined.unwrap_or(arrival.part);
        arrival.own = surest.filter(|own| own.cause < arrival.own.cause).unwrap_or(arrival.own);
        arrival
    }

    /// Whether a value is an attribute of something unknown that code of another file stores to an attribute of this
    /// name: most likely of something else.
    fn is_guessed(&self, (from, _): Place, (file, value): Place) -> bool {
        let Value::Attribute { base, .. } = self.facts.module(file).value(value).value else { return false };
        from != file && self.facts.solution.values(file, base).iter().all(|&own| own == ObjectId::UNKNOWN)
    }

    /// Whether a value is what a method returns that several ranks don't call there: a class for Horovod has its own.
    fn is_of_replaced(&self, (file, value): Place, (of, next): Place) -> bool {
        let Value::Call(call) = self.facts.module(of).value(next).value else { return false };
        let mut returning = self.facts.called_functions(of, call).filter(|own| {
            own.file == file && self.facts.module(file).function(own.function).returns.contains(&value)
        });
        returning.next().is_some_and(|own| self.overrides.is_replaced(of, call, own))
            && returning.next().is_none()
    }

    /// Whether a value is what a library returns, as opposed to Python's own functions and the project's.
    fn is_of_library(&self, (file, value): Place) -> bool {
        let Value::Call(call) = self.facts.module(file).value(value).value else { return false };
        self.facts.callees(file, call).iter().any(|edge| {
            matches!(self.facts.solution.object(edge.callee), Object::External(_) | Object::Unknown)
        })
    }
}
