//! What is read of variables that differ where they are read: behind a broadcast a variable holds the same on all
//! ranks, behind an assignment of the rank's number it does not.
//!
//! Changes are followed forwards, from the beginning of each scope to each of its blocks; a function begins with what
//! its callers have, all of them together.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::change::{Change, Changes, Culprit, State, follow, join, part};
use super::super::values::{Cause, Difference, Read, Target, places_of};
use super::{Manner, Replicas, TURNS};
use crate::api::Effect;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, CallId, CallKind, Use, Value};
use crate::syntax::{TextRange, TextSize};

/// A place that reads variables.
struct Reading {
    block: BlockId,
    /// What ends before has happened.
    end: TextSize,
    target: Target,
    objects: Vec<usize>,
    /// Only what the same code did before tells: of several models that one function makes it can't be told which is
    /// meant.
    is_local: bool,
}

/// The variables that differ at some place, each with what made it differ.
type Differing = BTreeMap<usize, Option<Culprit>>;

/// What a scope does: for each block its changes, with where they are made.
type Events = Vec<Vec<(TextSize, Changes)>>;

impl Replicas<'_, '_> {
    /// What is read of variables that differ there, as far as it is news.
    pub(super) fn reads(&mut self) -> Vec<Read> {
        let mut readings = self.readings();
        if readings.is_empty() {
            return Vec::new();
        }
        let model = self.model;
        let scopes = self.follow();
        let mut entries: FxHashMap<Caller, Differing> = FxHashMap::default();
        let mut found = Vec::new();
        for &caller in model.comms.order.iter().rev() {
            let entry = entries.get(&caller).cloned().unwrap_or_default();
            let flow = &model.facts.module(caller.file).scope(caller.scope).flow;
            let blocks = (0..flow.blocks.len()).map(BlockId::new);
            let events: Events = blocks.clone().map(|block| self.events(caller, block, &scopes)).collect();
            if entry.is_empty() && events.iter().all(Vec::is_empty) {
                continue;
            }
            let before = self.before(caller, &events);
            let at = |block: BlockId, is_past: &dyn Fn(TextSize) -> bool| {
                let mut changes = before[block.index()].clone();
                let past = events[block.index()].iter().filter(|(end, _)| is_past(*end));
                past.for_each(|(_, next)| follow(&mut changes, next));
                changes
            };
            for reading in readings.remove(&caller).unwrap_or_default() {
                let changes = at(reading.block, &|end| end <= reading.end);
                let before = if reading.is_local { &Differing::new() } else { &entry };
                let mut states =
                    reading.objects.iter().map(|&object| (object, state(&changes, before, object)));
                let difference = states.find_map(|(object, state)| match state {
                    State::Equal => None,
                    differs => Some(self.difference(object, differs.culprit(), &reading)),
                });
                found.extend(difference.map(|own| (reading.target, own)));
            }
            for block in blocks {
                for &call in &model.blocks.of(caller, block).calls {
                    let own = model.facts.module(caller.file).call(call);
                    let called = self.called(caller.file, call);
                    if called.is_empty() {
                        continue;
                    }
                    let changes = at(block, &|end| end < own.range.end());
                    for code in called {
                        let known = entries.entry(code).or_default();
                        for object in 0..self.objects.len() {
                            let state = state(&changes, &entry, object);
                            if state != State::Equal {
                                known.entry(object).or_insert(state.culprit());
                            }
                        }
                    }
                }
            }
        }
        found.retain(|(target, _)| match *target {
            Target::Value(place) => model.difference(place).is_none(),
            Target::Arguments(file, call) => model.values.given(file, call).is_none(),
        });
        found
    }

    /// The code that a call runs.
    fn called(&self, file: FileId, id: CallId) -> Vec<Caller> {
        let facts = self.model.facts;
        if facts.module(file).call(id).kind == CallKind::Decorator {
            return Vec::new();
        }
        let edges = facts.callees(file, id).iter().filter(|edge| !self.model.only_wraps(edge));
        let functions = edges.filter_map(|edge| crate::program::code(facts.solution.object(edge.callee)));
        let functions = functions.filter(|&own| !self.model.overrides.is_replaced(file, id, own));
        functions.map(|function| facts.code_of(function)).collect()
    }

    /// Where variables are read, by scope.
    fn readings(&self) -> FxHashMap<Caller, Vec<Reading>> {
        let (facts, values) = (self.model.facts, &self.model.values);
        let mut found: FxHashMap<Caller, Vec<Reading>> = FxHashMap::default();
        let mut seen: FxHashSet<Place> = FxHashSet::default();
        let mut uses: FxHashMap<FileId, Vec<&Use>> = FxHashMap::default();
        for place in places_of(facts, &self.model.files) {
            if !values.may_be_variable(facts, place) {
                continue;
            }
            for (file, value) in facts.influence().dependents(place) {
                let module = facts.module(file);
                let evaluation = module.value(value);
                let (target, caller, block) = match evaluation.value {
                    Value::Call(id) => {
                        let call = module.call(id);
                        let is_given = call.arguments.iter().any(|own| (file, own.value) == place);
                        let caller = Caller { file, scope: call.scope };
                        if is_given {
                            let objects = self.variables_of(place);
                            let target = Target::Arguments(file, id);
                            let end = call.range.start();
                            let given = Reading { block: call.block, end, target, objects, is_local: false };
                            found.entry(caller).or_default().push(given);
                        }
                        (Target::Value((file, value)), caller, call.block)
                    }
                    Value::Attribute { .. } => continue,
                    _ => {
                        let uses = uses.entry(file).or_insert_with(|| {
                            let mut uses: Vec<&Use> = module.uses.iter().collect();
                            uses.sort_by_key(|own| own.range.start());
                            uses
                        });
                        let Some(first) = first_within(uses, evaluation.range) else { continue };
                        let caller = Caller { file, scope: first.scope };
                        (Target::Value((file, value)), caller, first.block)
                    }
                };
                if !values.may_be_variable(facts, (file, value)) && seen.insert((file, value)) {
                    let objects = self.variables_of(place);
                    let end = evaluation.range.end();
                    let reading = Reading { block, end, target, objects, is_local: false };
                    found.entry(caller).or_default().push(reading);
                }
            }
        }
        for (file, id) in facts.calls_with(Effect::CopiesWeights) {
            let call = facts.module(file).call(id);
            let Some(receiver) = facts.receiver(file, call) else { continue };
            let objects = self.variables_of((file, receiver));
            if !objects.is_empty() {
                let (target, end) = (Target::Value((file, call.result)), call.range.end());
                let caller = Caller { file, scope: call.scope };
                let reading = Reading { block: call.block, end, target, objects, is_local: true };
                found.entry(caller).or_default().push(reading);
            }
        }
        found
    }

    fn variables_of(&self, (file, value): Place) -> Vec<usize> {
        let objects = self.model.facts.solution.values(file, value).iter();
        objects.filter_map(|own| self.numbers.get(own).copied()).collect()
    }

    /// What happens from the beginning of a scope to the beginning of each block.
    fn before(&self, caller: Caller, events: &Events) -> Vec<Changes> {
        let flow = &self.model.facts.module(caller.file).scope(caller.scope).flow;
        let mut before: Vec<Option<Changes>> = vec![None; flow.blocks.len()];
        before[0] = Some(Changes::new());
        if events.iter().all(Vec::is_empty) {
            return vec![Changes::new(); flow.blocks.len()];
        }
        let parting = self.parting(caller);
        let mut edges: Vec<Vec<(BlockId, usize)>> = vec![Vec::new(); flow.blocks.len()];
        for (index, block) in flow.blocks.iter().enumerate() {
            let id = BlockId::new(index);
            let is_first_only = block.branch.is_some_and(|branch| {
                branch.kind == BranchKind::Try || self.model.facts.is_main_guard(caller.file, &branch)
            });
            for (arm, next) in block.successors.iter().enumerate() {
                if !(is_first_only && arm > 0 || self.model.unreached.is_arm(caller, id, arm)) {
                    edges[next.index()].push((id, arm));
                }
            }
        }
        for component in flow.components().iter().rev() {
            for _ in 0..TURNS {
                let mut is_stable = true;
                for &block in component.iter().rev() {
                    let mut joined = (block.index() == 0).then(Changes::new);
                    let mut sides: Option<Vec<u64>> = None;
                    for &(from, arm) in &edges[block.index()] {
                        let Some(mut changes) = before[from.index()].clone() else { continue };
                        events[from.index()].iter().for_each(|(_, next)| follow(&mut changes, next));
                        let own: Vec<u64> = parting.iter().map(|parting| parting.side(from, arm)).collect();
                        joined = Some(match joined {
                            None => changes,
                            Some(other) if other == changes => other,
                            Some(other) if sides.as_ref().is_none_or(|sides| *sides == own) => {
                                join(&other, &changes)
                            }
                            Some(other) => part(&other, &changes, &other, &changes),
                        });
                        sides = Some(own);
                    }
                    if joined.is_some() && before[block.index()] != joined {
                        before[block.index()] = joined;
                        is_stable = false;
                    }
                }
                if is_stable || component.len() == 1 {
                    break;
                }
            }
        }
        before.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// The branches of a scope at which ranks may go different ways.
    fn parting(&self, caller: Caller) -> Vec<PartingBranch> {
        let model = self.model;
        let flow = &model.facts.module(caller.file).scope(caller.scope).flow;
        let mut found = Vec::new();
        for (index, block) in flow.blocks.iter().enumerate() {
            let id = BlockId::new(index);
            if block.branch.is_some_and(|branch| self.may_part(caller, id, &branch)) {
                found.push(PartingBranch { branch: id, sides: model.blocks.sides(caller, id) });
            }
        }
        found
    }

    fn difference(&self, object: usize, culprit: Option<Culprit>, reading: &Reading) -> Difference {
        let facts = self.model.facts;
        let itself = match reading.target {
            Target::Value(place) => place,
            Target::Arguments(file, call) => (file, facts.module(file).call(call).result),
        };
        let (cause, source) = match culprit.map(|culprit| self.culprits[culprit as usize].1) {
            Some(Manner::Assigned(own)) => (own.cause, own.source),
            // Another variable that the same place makes may be the one that begins so.
            Some(Manner::Begins(_)) if self.is_made_for_several(self.objects[object], |_| false) => {
                (Cause::Files, itself)
            }
            Some(Manner::Begins(cause)) => (cause, itself),
            // Some ranks change it and others don't: the program's text tells them apart.
            Some(Manner::Changed) => (Cause::Held, itself),
            None => (Cause::Data, itself),
        };
        Difference { cause: cause.min(Cause::Held), source }
    }
}

/// A branch at which ranks may go different ways.
struct PartingBranch {
    branch: BlockId,
    /// The arms under which blocks run that it decides on.
    sides: FxHashMap<BlockId, u64>,
}

impl PartingBranch {
    /// The arms by which control comes along an edge.
    fn side(&self, from: BlockId, arm: usize) -> u64 {
        if from == self.branch { 1 << arm.min(63) } else { self.sides.get(&from).copied().unwrap_or(0) }
    }
}

/// What a variable is like behind some changes.
fn state(changes: &Changes, entry: &Differing, object: usize) -> State {
    let begins = entry.get(&object).map_or(State::Equal, |&culprit| State::Differs(culprit));
    changes.get(&object).copied().unwrap_or(Change::NONE).apply(begins)
}

/// The first name that is read within a range; `uses` are sorted by where they begin.
fn first_within<'u>(uses: &[&'u Use], range: TextRange) -> Option<&'u Use> {
    let from = uses.partition_point(|own| own.range.start() < range.start());
    uses.get(from).copied().filter(|own| range.contains_range(own.range))
}
