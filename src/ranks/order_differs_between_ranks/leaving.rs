//! Numbers that differ because some ranks have left: behind `if done: return` in a loop the others hold what they came to
//! last, and those that are still in it hold all the same.

use rustc_hash::FxHashSet;

use super::super::environment;
use super::super::model::Model;
use super::is_of_rank;
use crate::api::Effect;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, Flow, ScopeId, Value, ValueId};

/// A block of some code.
pub(super) type Moment = (Caller, BlockId);

/// Whether a number that differs by the rank also does so among the ranks that come to a block of code.
pub(super) fn differs_among_the_others(model: &Model<'_>, number: Place, at: Moment) -> bool {
    let mut asked: FxHashSet<Place> = FxHashSet::default();
    let mut work = vec![(number, at)];
    while let Some((place, at)) = work.pop() {
        if !asked.insert(place) {
            continue;
        }
        let held = Held::by_rank(model, place, at);
        for &place in &held.behind {
            match held.reason(place) {
                Reason::Own => return true,
                Reason::Decided(by) => work.extend(by),
                Reason::Parts => {}
            }
        }
    }
    false
}

/// Why a value differs by the rank.
enum Reason {
    /// By itself, as far as is known.
    Own,
    /// By what it is computed from.
    Parts,
    /// By these conditions, too.
    Decided(Vec<(Place, Moment)>),
}

/// What a number is computed from, as far as that differs by the rank, and where it is asked for.
struct Held<'h, 'c> {
    model: &'h Model<'c>,
    behind: FxHashSet<Place>,
    at: Moment,
}

impl<'h, 'c> Held<'h, 'c> {
    fn by_rank(model: &'h Model<'c>, number: Place, at: Moment) -> Self {
        let differs = |&place: &Place| is_of_rank(model, place);
        let behind = model.facts.influence().backwards(&[number], |place| !differs(&place));
        Self { model, behind: behind.into_iter().filter(differs).collect(), at }
    }

    fn reason(&self, place: Place) -> Reason {
        let facts = self.model.facts;
        let own = facts.module(place.0).value(place.1);
        let number = [Effect::ReadsRank, Effect::ReadsLocalRank].into_iter().collect();
        match own.value {
            Value::Phi(ref parts) if own.range.is_empty() => {
                Reason::Decided(self.decided(place.0, own.scope, parts))
            }
            Value::Phi(_) => Reason::Decided(self.chosen(place)),
            _ if facts.gives(place, &[Effect::ReadsRank, Effect::ReadsLocalRank])
                || environment::number(facts, place).intersects(number) =>
            {
                Reason::Own
            }
            _ if facts.influence().operands(place).any(|part| self.behind.contains(&part)) => Reason::Parts,
            _ => Reason::Own,
        }
    }

    /// The conditions by which a conditional expression chooses.
    fn chosen(&self, (file, value): Place) -> Vec<(Place, Moment)> {
        let module = self.model.facts.module(file);
        let around = module.value(value);
        let caller = Caller { file, scope: module.code_scope(around.scope) };
        let blocks = (0..).map(BlockId::new).zip(&module.scope(caller.scope).flow.blocks);
        let branches = blocks.filter_map(|(id, block)| Some((id, block.branch?)));
        let branches = branches.filter(|(_, own)| around.range.contains_range(own.range));
        let conditions = branches.filter_map(|(id, own)| Some(((file, own.condition?), (caller, id))));
        conditions.filter(|&(condition, _)| is_of_rank(self.model, condition)).collect()
    }

    /// The conditions behind which ranks that went different ways come to the same code with merged values: to what is
    /// read of them, or to where the number is asked for.
    fn decided(&self, file: FileId, scope: ScopeId, parts: &[ValueId]) -> Vec<(Place, Moment)> {
        let model = self.model;
        let module = model.facts.module(file);
        let own = Caller { file, scope: module.code_scope(scope) };
        let reads = module.uses.iter().filter(|read| read.scope == own.scope);
        let reads = reads.filter(|read| self.behind.contains(&(file, read.value)));
        let here = (self.at.0 == own).then_some(self.at.1);
        let reads: FxHashSet<BlockId> = reads.map(|read| read.block).chain(here).collect();
        let bound = module.definitions.iter();
        let bound = bound.filter(|bound| bound.scope == own.scope && parts.contains(&bound.value));
        bound.flat_map(|bound| self.deciding(own, bound.block, &reads)).collect()
    }

    /// The conditions that decide whether a block is run, for ranks that come to one of others afterwards.
    fn deciding(&self, own: Caller, run: BlockId, reads: &FxHashSet<BlockId>) -> Vec<(Place, Moment)> {
        let control = self.model.control(own);
        let flow = &self.model.facts.module(own.file).scope(own.scope).flow;
        let mut found = Vec::new();
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let mut work = vec![run];
        while let Some(block) = work.pop() {
            for on in control.direct(block).iter().filter(|on| seen.insert(on.branch)) {
                work.push(on.branch);
                let condition = flow.blocks[on.branch.index()].branch.and_then(|branch| branch.condition);
                let condition = condition.map(|condition| (own.file, condition));
                let condition = condition.filter(|&condition| is_of_rank(self.model, condition));
                if let Some(condition) = condition
                    && self.comes_by_several_arms(own, on.branch, run, reads)
                {
                    found.push((condition, (own, on.branch)));
                }
            }
        }
        found
    }

    /// Whether control comes to one of some blocks from several arms of a branch of which some run another block, or
    /// behind a loop whose turns end at the branch.
    fn comes_by_several_arms(
        &self,
        own: Caller,
        branch: BlockId,
        run: BlockId,
        wanted: &FxHashSet<BlockId>,
    ) -> bool {
        let flow = &self.model.facts.module(own.file).scope(own.scope).flow;
        let arms = &flow.blocks[branch.index()].successors;
        let behind: Vec<FxHashSet<BlockId>> =
            arms.iter().map(|&arm| reached(flow, arm, |block| block != branch)).collect();
        let head = self.head_of_loop(own, flow, branch);
        let turns = |arm: usize| head.is_some_and(|head| self.comes_back(own, flow, arms[arm], head));
        wanted.iter().any(|block| {
            let (to_it, others): (Vec<usize>, Vec<usize>) =
                (0..arms.len()).partition(|&arm| behind[arm].contains(block));
            let running = to_it.iter().filter(|&&arm| behind[arm].contains(&run)).count();
            0 < running && running < to_it.len()
                || to_it.iter().any(|&arm| !turns(arm)) && others.iter().any(|&arm| turns(arm))
        })
    }

    /// The head of the innermost loop around a block.
    fn head_of_loop(&self, own: Caller, flow: &Flow, block: BlockId) -> Option<BlockId> {
        let next = &flow.blocks[block.index()].successors;
        let heads = (0..flow.blocks.len()).map(BlockId::new).filter(|&head| {
            self.is_behind(own, head, block)
                && next.iter().any(|&next| self.comes_back(own, flow, next, head))
        });
        heads.reduce(|outer, head| if self.is_behind(own, outer, head) { head } else { outer })
    }

    /// Whether control comes from a block to the head of a loop without leaving the loop.
    fn comes_back(&self, own: Caller, flow: &Flow, from: BlockId, head: BlockId) -> bool {
        reached(flow, from, |block| block != head && self.is_behind(own, head, block)).contains(&head)
    }

    fn is_behind(&self, own: Caller, block: BlockId, later: BlockId) -> bool {
        self.model.guards.is_behind(self.model.facts, own, block, later)
    }
}

/// What control comes to from a block on, as far as it goes on there.
fn reached(flow: &Flow, from: BlockId, goes_on: impl Fn(BlockId) -> bool) -> FxHashSet<BlockId> {
    let mut found: FxHashSet<BlockId> = FxHashSet::default();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if found.insert(block) && goes_on(block) {
            work.extend(&flow.blocks[block.index()].successors);
        }
    }
    found
}
