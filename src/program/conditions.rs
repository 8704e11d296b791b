//! Under which conditions code runs, also along the calls that lead to it, and whether a condition may differ
//! between ranks.
//!
//! A *decision* is a condition as a reader of the program sees it: a branch that the code stands in, or an
//! earlier branch that may leave the function or the program. Loops around the code with their `break` and
//! `continue`, guards that only raise and the guard of a main module decide nothing.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::{Condition, Facts};
use super::influence::Place;
use super::object::Object;
use super::programs::Program;
use super::solver::{CallEdge, Caller};
use crate::api::{Effect, EffectSet, Role};
use crate::finding::Location;
use crate::project::FileId;
use crate::semantic::{
    Block, BlockId, Branch, BranchKind, Call, CallId, CallKind, Constant, Flow, Module, ScopeId, StatementId,
    StatementKind, Suite, Value, ValueId,
};

/// How a condition decides whether code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Manner {
    /// The code stands in the branch.
    Within,
    /// The code stands in an `except` clause.
    Handler,
    /// A branch before it may leave the function by `return`, or the program.
    After,
}

/// A condition that decides whether code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// On what it depends.
    pub condition: Condition,
    /// How.
    pub manner: Manner,
}

/// A call on a way to some code that stands under a condition.
#[derive(Clone, Copy, Debug)]
pub struct ConditionalCall {
    /// The call.
    pub edge: CallEdge,
    /// The nearest condition of the call, one that may differ between ranks first.
    pub decision: Decision,
}

/// How a program comes to some code.
#[derive(Clone, Debug, Default)]
pub struct Approach {
    /// There is a way without any condition.
    pub unconditional: bool,
    /// The calls under a condition on all ways, nearest to the code first.
    pub calls: Vec<ConditionalCall>,
}

/// What returns something else on another rank.
const DIFFERENT: [Effect; 4] = [Effect::Varies, Effect::DrawsRandom, Effect::ReadsRank, Effect::ReadsInput];

/// What returns the same on all ranks, whatever it is given.
const EQUAL: [Effect; 1] = [Effect::Agrees];

impl Facts<'_> {
    /// The decisions on whether a statement's code in `block` runs once its scope does, nearest first.
    #[must_use]
    pub fn decisions(&self, caller: Caller, statement: StatementId, block: BlockId) -> Vec<Decision> {
        let mut found: Vec<Decision> = self
            .conditions(caller, block)
            .into_iter()
            .filter_map(|condition| {
                let manner = self.manner(condition, statement)?;
                Some(Decision { condition, manner })
            })
            .collect();
        found.extend(self.exits_before(caller, statement, block));
        found
    }

    fn manner(&self, condition: Condition, statement: StatementId) -> Option<Manner> {
        let module = self.module(condition.caller.file);
        let branch = condition.branch;
        let around = module.statement(branch.statement);
        // The operators of a loop's test are no conditions of their own.
        let is_test = around.kind == StatementKind::While && branch.statement != statement;
        if is_test
            || is_literal(module, &branch)
            || matches!(branch.kind, BranchKind::For | BranchKind::While | BranchKind::Assert)
        {
            return None;
        }
        if let Some(suite) = suite_of(module, branch.statement, statement) {
            return match suite {
                Suite::Handler => Some(Manner::Handler),
                Suite::Finally => None,
                _ => Some(Manner::Within),
            };
        }
        let leaves =
            returns_within(module, branch.statement) && !share_loop(module, branch.statement, statement);
        leaves.then_some(Manner::After)
    }

    /// The conditions under which the program ends, without an error, before it comes to a statement.
    fn exits_before(&self, caller: Caller, statement: StatementId, block: BlockId) -> Vec<Decision> {
        let module = self.module(caller.file);
        let mut found: Vec<Decision> = Vec::new();
        if !self.effects().of_scope(caller).effects.contains(Effect::Exits) {
            return found;
        }
        for edge in self.outgoing(caller) {
            let Some(id) = edge.call else { continue };
            let call = module.call(id);
            if !self.ends_well(edge, call)
                || share_loop(module, call.statement, statement)
                || !reaches(&module.scope(caller.scope).flow, call.block, block)
            {
                continue;
            }
            // The end in an `except` clause is an error's, as that by `raise`.
            let in_handler = module.ancestors(call.statement).chain([module.statement(call.statement)]);
            if in_handler.into_iter().any(|around| around.suite == Suite::Handler) {
                continue;
            }
            let inner = self.conditions(caller, call.block).into_iter().find(|condition| {
                suite_of(module, condition.branch.statement, call.statement).is_some()
                    && suite_of(module, condition.branch.statement, statement).is_none()
                    && !matches!(condition.branch.kind, BranchKind::For | BranchKind::While)
            });
            let decision = inner.map(|condition| Decision { condition, manner: Manner::After });
            found.extend(decision.filter(|decision| !found.contains(decision)));
        }
        found
    }

    /// Whether a call ends the program as it was meant to: `sys.exit()`, not `sys.exit("no data")` nor
    /// `app.run(main)`, which comes back to the program first.
    fn ends_well(&self, edge: &CallEdge, call: &Call) -> bool {
        let status =
            call.arguments.first().map(|status| &self.module(edge.caller.file).value(status.value).value);
        let well = matches!(status, None | Some(Value::Constant(Constant::Int(0) | Constant::None)));
        let calls_back =
            self.symbol(self.solution.object(edge.callee)).is_some_and(|symbol| !symbol.calls().is_empty());
        let exits = !matches!(self.solution.object(edge.callee), Object::Function(_))
            && self.effects().of_edge(self, edge).effects.contains(Effect::Exits);
        exits && well && !calls_back && call.kind == CallKind::Expression
    }

    /// What a condition rests on that may be something else on another rank: the place of a random draw, of a
    /// question to the clock or the file system. The beginning of an `except` clause's `try` for an exception.
    #[must_use]
    pub fn difference(&self, decision: &Decision) -> Option<Location> {
        let Condition { caller, branch } = decision.condition;
        if branch.kind == BranchKind::Try {
            let differs = decision.manner != Manner::Within;
            return differs.then(|| self.location(caller.file, branch.range));
        }
        let &(file, value) = self.varying().get(&(caller.file, branch.condition?))?;
        Some(self.location(file, self.module(file).value(value).range))
    }

    /// All values that rest on something that may be something else on another rank, with the nearest such.
    #[must_use]
    pub fn varying(&self) -> &FxHashMap<Place, Place> {
        self.varying.get_or_init(|| {
            let mut sources = Vec::new();
            for file in self.files() {
                let places = (0..self.module(file).values.len()).map(|index| (file, ValueId::new(index)));
                sources.extend(places.filter(|&place| self.differs(place)));
            }
            self.influence()
                .nearest_sources(&sources, |place| self.gives(place, &EQUAL) || self.counts_turns(place))
        })
    }

    /// Whether a value is the number of a turn, `number` in `for number, batch in enumerate(batches):`, whatever the turns
    /// go over.
    fn counts_turns(&self, (file, value): Place) -> bool {
        let module = self.module(file);
        let Value::Unpack { base, index: Some(0), .. } = module.value(value).value else { return false };
        let Value::Iteration(iterated) = module.value(base).value else { return false };
        let Value::Call(call) = module.value(iterated).value else { return false };
        let enumerate = self.library.lookup("builtins.enumerate");
        let mut callees = self.callees(file, call).iter().map(|edge| self.solution.object(edge.callee));
        callees.any(|own| enumerate.is_some() && self.symbol(own) == enumerate)
    }

    fn differs(&self, place: Place) -> bool {
        self.gives(place, &DIFFERENT) && !self.gives(place, &EQUAL)
    }

    /// Whether a value is the result of a library's call, or a library's attribute, with one of the effects.
    #[must_use]
    pub fn gives(&self, (file, value): Place, effects: &[Effect]) -> bool {
        let wanted: EffectSet = effects.iter().copied().collect();
        match self.module(file).value(value).value {
            Value::Call(call) => self
                .callees(file, call)
                .iter()
                .filter(|edge| !matches!(self.solution.object(edge.callee), Object::Function(_)))
                .any(|edge| {
                    let symbol = self.symbol(self.solution.object(edge.callee));
                    symbol.is_some_and(|symbol| symbol.effects().intersects(wanted))
                        || self.effects().of_edge(self, edge).effects.intersects(wanted)
                }),
            Value::Attribute { .. } | Value::Import(_) => self.objects(file, value).any(|(_, object)| {
                let symbol = self.symbol(object).filter(|symbol| {
                    *symbol.role() == Role::Attribute || matches!(object, Object::Created(..))
                });
                symbol.is_some_and(|symbol| symbol.effects().intersects(wanted))
            }),
            _ => false,
        }
    }

    /// How a program comes to a scope's code.
    #[must_use]
    pub fn approach(&self, program: &Program, to: Caller) -> Approach {
        let mut approach = Approach::default();
        let mut seen: FxHashSet<Caller> = std::iter::once(to).collect();
        let mut free: FxHashSet<Caller> = seen.clone();
        let mut queue: VecDeque<Caller> = seen.iter().copied().collect();
        while let Some(at) = queue.pop_front() {
            let edges = self.function_of(at).map_or(&[][..], |function| self.incoming(function));
            let mut edges: Vec<CallEdge> =
                edges.iter().filter(|edge| self.is_run(program, edge)).copied().collect();
            edges.sort_unstable_by_key(|edge| edge.caller);
            approach.unconditional |= edges.is_empty() && free.contains(&at);
            for calls in edges.chunk_by(|one, other| one.caller == other.caller) {
                let caller = calls[0].caller;
                let decisions: Vec<Option<Decision>> =
                    calls.iter().map(|edge| self.nearest_decision(edge)).collect();
                let inevitable = self.is_inevitable(caller, calls);
                let is_free = inevitable || decisions.contains(&None);
                if !inevitable {
                    let conditional = calls
                        .iter()
                        .zip(&decisions)
                        .filter_map(|(&edge, &decision)| Some(ConditionalCall { edge, decision: decision? }));
                    approach.calls.extend(conditional);
                }
                let newly_free = is_free && free.contains(&at) && free.insert(caller);
                if seen.insert(caller) || newly_free {
                    queue.push_back(caller);
                }
            }
        }
        let mut known = FxHashSet::default();
        approach.calls.retain(|call| known.insert(call.edge));
        approach
    }

    /// Whether every way through a scope comes to one of the calls: one in each arm of an `if`.
    fn is_inevitable(&self, caller: Caller, calls: &[CallEdge]) -> bool {
        let module = self.module(caller.file);
        let blocks: Option<FxHashSet<BlockId>> =
            calls.iter().map(|edge| Some(module.call(edge.call?).block)).collect();
        let Some(blocks) = blocks.filter(|blocks| blocks.len() > 1) else { return false };
        let flow = &module.scope(caller.scope).flow;
        let mut seen = FxHashSet::default();
        let mut work = vec![Flow::ENTRY];
        while let Some(block) = work.pop() {
            if blocks.contains(&block) || !seen.insert(block) {
                continue;
            }
            let Block { successors, branch, .. } = &flow.blocks[block.index()];
            if successors.is_empty() {
                return false;
            }
            let is_guard = branch.is_some_and(|branch| self.is_main_guard(caller.file, &branch));
            work.extend(successors.iter().take(if is_guard { 1 } else { successors.len() }));
        }
        true
    }

    /// Whether a program makes a call that the source shows: its code is reached, and it does not stand under the guard of
    /// a main module that the program imports.
    #[must_use]
    pub fn runs(&self, program: &Program, file: FileId, call: CallId) -> bool {
        let module = self.module(file);
        let call = module.call(call);
        let is_foreign_module = file != program.entry && call.scope == Module::TOP;
        program.reached.contains(&Caller { file, scope: module.code_scope(call.scope) })
            && !(is_foreign_module && self.in_main_guard(file, call.statement))
    }

    /// Whether a program makes a call: not under the guard of a main module that it imports.
    #[must_use]
    pub fn is_run(&self, program: &Program, edge: &CallEdge) -> bool {
        let is_foreign_module = edge.caller.file != program.entry && edge.caller.scope == Module::TOP;
        let guarded =
            |call| self.in_main_guard(edge.caller.file, self.module(edge.caller.file).call(call).statement);
        program.reached.contains(&edge.caller) && !(is_foreign_module && edge.call.is_some_and(guarded))
    }

    fn nearest_decision(&self, edge: &CallEdge) -> Option<Decision> {
        let call = self.module(edge.caller.file).call(edge.call?);
        let decisions = self.decisions(edge.caller, call.statement, call.block);
        decisions.iter().find(|decision| self.difference(decision).is_some()).or(decisions.first()).copied()
    }
}

/// In which suite of `around` a statement stands; the first one for `around` itself.
fn suite_of(module: &Module, around: StatementId, statement: StatementId) -> Option<Suite> {
    if around == statement {
        return Some(Suite::Body);
    }
    let mut at = module.statement(statement);
    while let Some(parent) = at.parent {
        if parent == around {
            return Some(at.suite);
        }
        at = module.statement(parent);
    }
    None
}

/// Whether a condition is written as a literal: `if True` is none.
fn is_literal(module: &Module, branch: &Branch) -> bool {
    let is_constant =
        branch.condition.is_some_and(|condition| matches!(module.value(condition).value, Value::Constant(_)));
    is_constant && !module.uses.iter().any(|reading| branch.range.contains_range(reading.range))
}

/// Whether a `return` of the same scope stands in a statement.
fn returns_within(module: &Module, around: StatementId) -> bool {
    let outer = module.statement(around);
    module.statements[around.index()..]
        .iter()
        .take_while(|statement| statement.range.start() < outer.range.end())
        .any(|statement| statement.kind == StatementKind::Return && statement.scope == outer.scope)
}

/// Whether a loop of their scope repeats both statements: to leave it is no condition on its turns.
fn share_loop(module: &Module, first: StatementId, second: StatementId) -> bool {
    let loops = |statement: StatementId| {
        let scope: ScopeId = module.statement(statement).scope;
        module.ancestors(statement).filter(move |around| {
            around.scope == scope && matches!(around.kind, StatementKind::For | StatementKind::While)
        })
    };
    loops(first).any(|one| loops(second).any(|other| one.range == other.range))
}

/// Whether control may come from one block to another.
pub(super) fn reaches(flow: &Flow, from: BlockId, to: BlockId) -> bool {
    let mut seen = FxHashSet::default();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if block == to {
            return true;
        }
        if seen.insert(block) {
            work.extend(&flow.blocks[block.index()].successors);
        }
    }
    false
}
