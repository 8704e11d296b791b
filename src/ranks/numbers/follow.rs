//! What variables hold from place to place: along the code of all ranks at once, rank 0 and the others side by side.
//!
//! Each scope is gone through from the state that its callers come with, all of them together, to the one that it
//! returns with, until nothing changes. All ranks are taken to be at the same place when they communicate; where they
//! are not, the ranks are out of step, which is another check's finding.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::blocks::Blocks;
use super::evaluate::{Evaluation, kept};
use super::held::{Held, initial, is_wrapped, scopes_of};
use super::interval::Interval;
use super::number::Number;
use super::{Here, first_turn};
use crate::api::{Effect, Symbol};
use crate::program::{Caller, Facts, Object, Place, Program, Via};
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, CallId, CallKind, Flow, Module, Value};

/// How often the whole program is gone through at most.
const PASSES: usize = 16;

/// How often what comes to a place may grow before it is taken to grow for ever.
const GROWTH: u32 = 4;

/// What is known at a place.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    here: Here,
    /// What the variables hold that are made by then.
    numbers: BTreeMap<usize, Number>,
}

impl State {
    fn number(&self, variable: usize) -> Number {
        self.numbers.get(&variable).copied().unwrap_or(Number::NONE)
    }

    fn or(mut self, other: &Self) -> Self {
        self.here = [self.here[0] || other.here[0], self.here[1] || other.here[1]];
        for (&variable, &number) in &other.numbers {
            let joined = self.number(variable).or(number);
            self.numbers.insert(variable, joined);
        }
        self
    }

    /// As [`Self::or`], but what grew goes on to grow.
    fn widened(&self, other: &Self) -> Self {
        let mut joined = self.clone().or(other);
        for (&variable, number) in &mut joined.numbers {
            *number = self.number(variable).widened(*number);
        }
        joined
    }

    /// Without what the ranks have that are not here.
    fn cleared(mut self) -> Self {
        let here = self.here;
        self.numbers.values_mut().for_each(|number| *number = of_here(here, *number));
        self
    }

    fn is_here(&self) -> bool {
        self.here[0] || self.here[1]
    }

    /// The ranks that go to an arm of a branch.
    fn at_arm(mut self, truth: Number, kind: BranchKind, arm: usize) -> Self {
        let Some(holds) = kind.outcome(arm) else { return self };
        self.here[0] &= may_be(truth.root, holds);
        self.here[1] &= may_be(truth.others, holds);
        self.cleared()
    }
}

/// What the ranks have that are here.
fn of_here(here: Here, number: Number) -> Number {
    let own = |is_here: bool, own: Interval| if is_here { own } else { Interval::EMPTY };
    Number { root: own(here[0], number.root), others: own(here[1], number.others) }
}

/// Whether a condition may come out like this.
pub(super) fn may_be(truth: Interval, holds: bool) -> bool {
    let wanted = f64::from(u8::from(holds));
    truth.low <= wanted && wanted <= truth.high
}

/// The following of all variables.
pub(super) struct Follow<'f, 'c> {
    facts: &'f Facts<'c>,
    blocks: &'f Blocks,
    held: Held,
    /// The scopes whose code has to do with variables, or comes to such code.
    relevant: FxHashSet<Caller>,
    entries: FxHashMap<Caller, (State, u32)>,
    exits: FxHashMap<Caller, State>,
    /// The scopes that are being gone through.
    open: Vec<Caller>,
    /// Those that were gone through in this pass.
    done: FxHashSet<Caller>,
    reached: FxHashMap<(Caller, BlockId), Here>,
    is_changed: bool,
}

impl<'f, 'c> Follow<'f, 'c> {
    pub(super) fn new(facts: &'f Facts<'c>, blocks: &'f Blocks, held: Held) -> Self {
        let mut files: Vec<FileId> = held.plain.iter().map(|caller| caller.file).collect();
        files.sort_unstable();
        files.dedup();
        let mut relevant = FxHashSet::default();
        if !held.variables.is_empty() {
            let mut work: Vec<Caller> = scopes_of(facts, &held, &files).into_iter().collect();
            while let Some(caller) = work.pop() {
                if relevant.insert(caller) {
                    let function = facts.function_of(caller);
                    let incoming = function.map_or(&[][..], |function| facts.incoming(function));
                    work.extend(incoming.iter().map(|edge| edge.caller));
                }
            }
        }
        Self {
            facts,
            blocks,
            held,
            relevant,
            entries: FxHashMap::default(),
            exits: FxHashMap::default(),
            open: Vec::new(),
            done: FxHashSet::default(),
            reached: FxHashMap::default(),
            is_changed: false,
        }
    }

    /// What variables hold where they are read, and which ranks come to which blocks.
    pub(super) fn run(mut self, programs: &[&Program]) -> (Held, FxHashMap<(Caller, BlockId), Here>) {
        let tops: BTreeSet<FileId> = programs.iter().flat_map(|program| program.files()).collect();
        if self.relevant.is_empty() {
            return (self.held, self.reached);
        }
        for _ in 0..PASSES {
            self.is_changed = false;
            self.done.clear();
            self.reached.clear();
            for &file in &tops {
                let begins = State { here: [true; 2], ..State::default() };
                self.enter(Caller { file, scope: Module::TOP }, &begins);
            }
            if !self.is_changed {
                return (self.held, self.reached);
            }
        }
        // What does not settle is not known.
        (Held::default(), FxHashMap::default())
    }

    /// Goes through a scope's code; what is known when it returns, `None` as long as that is not known.
    fn enter(&mut self, caller: Caller, state: &State) -> Option<State> {
        let (known, times) = self.entries.entry(caller).or_default();
        let joined = known.clone().or(state);
        let is_news = joined != *known;
        if is_news {
            *known = if *times < GROWTH { joined } else { known.widened(&joined) };
            *times += 1;
            self.is_changed = true;
        }
        let entry = known.clone();
        if self.open.contains(&caller) || self.done.contains(&caller) && !is_news {
            return self.exits.get(&caller).cloned();
        }
        self.open.push(caller);
        let exit = self.scope(caller, entry);
        self.open.pop();
        self.done.insert(caller);
        let known = self.exits.get(&caller);
        let joined = known.map_or(exit.clone(), |known| known.clone().or(&exit));
        if known != Some(&joined) {
            self.is_changed = true;
            self.exits.insert(caller, joined.clone());
        }
        Some(joined)
    }

    fn scope(&mut self, caller: Caller, entry: State) -> State {
        let flow: &Flow = &self.facts.module(caller.file).scope(caller.scope).flow;
        let mut exit = State::default();
        let mut before: Vec<Option<(State, u32)>> = vec![None; flow.blocks.len()];
        before[Flow::ENTRY.index()] = Some((entry, 0));
        let mut work: BTreeSet<BlockId> = std::iter::once(Flow::ENTRY).collect();
        while let Some(id) = work.pop_first() {
            let block = &flow.blocks[id.index()];
            let Some((mut state, _)) = before[id.index()].clone() else { continue };
            let known = self.reached.entry((caller, id)).or_default();
            *known = [known[0] || state.here[0], known[1] || state.here[1]];
            for &call in &self.blocks.of(caller, id).calls {
                self.call(caller, call, &mut state);
            }
            if block.successors.is_empty() {
                exit = exit.or(&state);
            }
            let truth = match block.branch.and_then(|branch| branch.condition) {
                Some(condition) => self.evaluation().truth((caller.file, condition)),
                None => Number::truth([None; 2]),
            };
            for (arm, &next) in block.successors.iter().enumerate() {
                let mut at = state.clone();
                if let Some(branch) = block.branch {
                    at = at.at_arm(truth, branch.kind, arm);
                    // An exception may come from anywhere in between.
                    if branch.kind == BranchKind::Try && arm > 0 {
                        at.numbers.values_mut().for_each(|number| *number = Number::ANY);
                    }
                }
                if !at.is_here() {
                    continue;
                }
                let next = self.behind_head(caller, id, next, at.here);
                let known = &mut before[next.index()];
                let joined = known.as_ref().map_or(at.clone(), |(known, _)| known.clone().or(&at));
                match known {
                    Some((known, _)) if *known == joined => {}
                    Some((known, times)) => {
                        *known = if *times < GROWTH { joined } else { known.widened(&joined) };
                        *times += 1;
                        work.insert(next);
                    }
                    None => {
                        *known = Some((joined, 0));
                        work.insert(next);
                    }
                }
            }
        }
        exit
    }

    /// Where control goes to from a block: past the head of a loop that surely makes a turn.
    fn behind_head(&mut self, caller: Caller, from: BlockId, next: BlockId, here: Here) -> BlockId {
        let is_sure = |iterable| self.evaluation().surely_turns(iterable);
        let Some(body) = first_turn(self.facts, caller, from, next, is_sure) else { return next };
        let known = self.reached.entry((caller, next)).or_default();
        *known = [known[0] || here[0], known[1] || here[1]];
        body
    }

    fn evaluation(&self) -> Evaluation<'_, 'c> {
        Evaluation::new(self.facts, &self.held)
    }

    fn number(&self, place: Place) -> Number {
        self.evaluation().number(place)
    }

    fn call(&mut self, caller: Caller, id: CallId, state: &mut State) {
        let file = caller.file;
        let call = self.facts.module(file).call(id);
        if call.kind != CallKind::Expression || !state.is_here() {
            return;
        }
        self.bodies(file, id, state);
        let facts = self.facts;
        for &object in facts.solution.values(file, call.result) {
            if facts.made_at(object) == Some((file, id))
                && let Some(&variable) = self.held.variables.get(&object)
            {
                let begins = initial(facts, file, id).map_or(Number::ANY, |initial| self.number(initial));
                self.assign(state, variable, begins);
            }
        }
        for edge in facts.callees(file, id) {
            let object = facts.solution.object(edge.callee);
            if let Some(symbol) = facts.symbol(object).filter(|_| !matches!(object, Object::Function(_))) {
                self.symbol(file, id, symbol, state);
            }
        }
    }

    /// The functions of the project that a call runs.
    fn bodies(&mut self, file: FileId, id: CallId, state: &mut State) {
        let facts = self.facts;
        let mut behind: Option<State> = None;
        let mut is_known = true;
        for edge in facts.callees(file, id) {
            let Object::Function(function) = facts.solution.object(edge.callee) else { continue };
            let code = facts.code_of(function);
            let is_followed =
                edge.via == Via::Source && self.relevant.contains(&code) && self.held.plain.contains(&code);
            let returned = if is_followed {
                self.enter(code, state)
            } else if is_wrapped(facts, edge) {
                continue;
            } else {
                Some(state.clone())
            };
            let Some(returned) = returned else {
                is_known = false;
                continue;
            };
            behind = Some(behind.map_or(returned.clone(), |behind| behind.or(&returned)));
        }
        match behind {
            Some(mut behind) => {
                // Others may have called the function from elsewhere.
                behind.here = [behind.here[0] && state.here[0], behind.here[1] && state.here[1]];
                *state = behind.cleared();
            }
            None if !is_known => *state = State::default(),
            None => {}
        }
    }

    /// What a library's function does with variables.
    fn symbol(&mut self, file: FileId, id: CallId, symbol: &Symbol, state: &mut State) {
        let facts = self.facts;
        let call = facts.module(file).call(id);
        if symbol.has(Effect::Collective)
            && symbol.has(Effect::Broadcasts)
            && symbol.has(Effect::UpdatesState)
        {
            let root = facts.argument(file, call, symbol, "root_rank");
            let root = root.map_or(Some(0), |root| self.evaluation().root((file, root.value)));
            let sent = match facts.argument(file, call, symbol, "variables") {
                Some(variables) => self.listed((file, variables.value)),
                None => state.numbers.keys().copied().collect(),
            };
            for variable in sent {
                let own = state.number(variable);
                let is_met = state.here == [true; 2];
                self.assign(state, variable, if is_met { own.broadcast(root) } else { Number::ANY });
            }
            return;
        }
        let Some(kept) = kept(facts, file, call, symbol) else { return };
        let variables = self.held.of(facts, kept);
        if variables.is_empty() {
            return;
        }
        if symbol.has(Effect::KeepsValue) {
            let held = variables.iter().map(|&own| state.number(own)).reduce(Number::or);
            let unmade = |own: Interval| if own.is_empty() { Interval::ANY } else { own };
            let held = of_here(state.here, held.unwrap_or(Number::ANY).map(unmade));
            self.is_changed |= self.held.note_read((file, call.result), held);
        } else if symbol.has(Effect::UpdatesState) {
            let amount = symbol.parameters().first();
            let amount = amount.and_then(|own| facts.argument(file, call, symbol, own.name()));
            let amount = amount.map_or(Number::ANY, |own| self.number((file, own.value)));
            let is_only = facts.solution.values(kept.0, kept.1).len() == 1;
            for &variable in &variables {
                let own = state.number(variable);
                let mut new = if symbol.has(Effect::Adds) {
                    own.with(amount, Interval::plus)
                } else if symbol.has(Effect::Subtracts) {
                    own.with(amount.map(Interval::negated), Interval::plus)
                } else if symbol.parameter("value").is_some() {
                    amount
                } else {
                    Number::ANY
                };
                if !is_only {
                    new = new.or(own);
                }
                self.assign(state, variable, new);
            }
        }
    }

    /// The variables in a list that a collective is given.
    fn listed(&self, place: Place) -> Vec<usize> {
        let facts = self.facts;
        let mut found = self.held.of(facts, place);
        if let Value::Display(..) = facts.module(place.0).value(place.1).value {
            found.extend(facts.influence().operands(place).flat_map(|own| self.held.of(facts, own)));
        }
        found
    }

    fn assign(&mut self, state: &mut State, variable: usize, number: Number) {
        let number = of_here(state.here, number);
        state.numbers.insert(variable, number);
        self.is_changed |= self.held.note_held(variable, number);
    }
}
