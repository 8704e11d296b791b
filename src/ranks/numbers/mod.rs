//! What numbers the programs' values and variables can hold, and which ways are never taken because of that.
//!
//! A broadcast gives every rank the 1.5 that rank 0 began with, so all ranks know how `if v > 2.2` comes out. Numbers are
//! ranges ([`interval`]), one for rank 0 and one for every other rank ([`number`]), so that what follows holds for two
//! ranks or more. They are computed where they are asked for ([`evaluate`]); what variables hold, which changes while
//! the program runs, is followed along its code ([`follow`]), for those variables that nothing else changes ([`held`]).
//!
//! A condition of literals alone, `DEBUG = False`, is a setting: people change it, and both ways are looked at.

mod evaluate;
mod follow;
mod held;
mod interval;
mod number;

use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::Blocks;
use super::closed::Arm;
use crate::program::{Caller, Facts, Place, Program};
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, ValueId};

use evaluate::Evaluation;
use follow::Follow;
use held::Held;
use number::Number;

/// Which of rank 0 and the others come to a block.
type Here = [bool; 2];

/// What the numbers of a project's programs decide.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The arms of branches that no rank takes.
    closed: FxHashSet<Arm>,
    held: Held,
    reached: FxHashMap<(Caller, BlockId), Here>,
}

impl Numbers {
    /// What the numbers decide in the code that the programs run.
    #[must_use]
    pub fn new(facts: &Facts<'_>, blocks: &Blocks, files: &[FileId], programs: &[&Program]) -> Self {
        let held = Held::new(facts, files, programs);
        let (held, reached) = Follow::new(facts, blocks, held).run(programs);
        let mut numbers = Self { closed: FxHashSet::default(), held, reached };
        let mut callers: Vec<Caller> =
            programs.iter().flat_map(|program| program.reached.iter().copied()).collect();
        callers.sort_unstable();
        callers.dedup();
        for caller in callers {
            numbers.close(facts, caller);
        }
        numbers
    }

    /// The arms of branches that no rank takes, for what their conditions are computed from.
    pub(super) fn closed(&self) -> impl Iterator<Item = Arm> + '_ {
        self.closed.iter().copied()
    }

    /// Whether a condition never comes out this way on a rank that comes to a block.
    pub(super) fn is_never(
        &self,
        facts: &Facts<'_>,
        (caller, block): (Caller, BlockId),
        condition: ValueId,
        holds: bool,
    ) -> bool {
        let truth = self.truth(facts, (caller.file, condition));
        truth.is_some_and(|truth| is_never(truth, self.here(caller, block), holds))
    }

    /// Whether a condition holds, as far as the ranks' numbers decide it or what they agree on.
    fn truth(&self, facts: &Facts<'_>, condition: Place) -> Option<Number> {
        let mut evaluation = Evaluation::new(facts, &self.held);
        let truth = evaluation.truth(condition);
        (evaluation.rests_on_ranks && truth != Number::truth([None; 2])).then_some(truth)
    }

    /// Finds the arms of a scope's branches that no rank takes.
    fn close(&mut self, facts: &Facts<'_>, caller: Caller) {
        let flow = &facts.module(caller.file).scope(caller.scope).flow;
        for (index, block) in flow.blocks.iter().enumerate() {
            let id = BlockId::new(index);
            let Some(branch) = block.branch else { continue };
            let condition = branch.condition.filter(|_| branch.kind.outcome(0).is_some());
            let truth = condition.and_then(|condition| self.truth(facts, (caller.file, condition)));
            let Some(truth) = truth else { continue };
            let here = self.here(caller, id);
            let arms = 0..block.successors.len();
            let is_closed =
                |arm: &usize| branch.kind.outcome(*arm).is_some_and(|holds| is_never(truth, here, holds));
            self.closed.extend(arms.filter(is_closed).map(|arm| (caller, id, arm)));
        }
    }

    /// Which ranks come to a block, as far as is known.
    fn here(&self, caller: Caller, block: BlockId) -> Here {
        self.reached.get(&(caller, block)).copied().unwrap_or([true; 2])
    }

    /// Whether a value is zero on every rank that comes to a block.
    #[must_use]
    pub fn is_zero(&self, facts: &Facts<'_>, caller: Caller, block: BlockId, place: Place) -> bool {
        let [root, others] = self.here(caller, block);
        let own = Evaluation::new(facts, &self.held).number(place);
        let is_zero = |number: interval::Interval| number.is_equal(interval::Interval::of(0.0)) == Some(true);
        (root || others) && (!root || is_zero(own.root)) && (!others || is_zero(own.others))
    }

    /// Whether a loop makes at least one turn on every rank: over `range(hvd.rank() + 1)`.
    #[must_use]
    pub fn surely_turns(&self, facts: &Facts<'_>, iterable: Place) -> bool {
        Evaluation::new(facts, &self.held).surely_turns(iterable)
    }
}

/// Whether a truth never comes out this way on the ranks that are here.
fn is_never(truth: Number, here: Here, holds: bool) -> bool {
    let is_decided =
        |is_here: bool, own: interval::Interval| !is_here || !own.is_empty() && !follow::may_be(own, holds);
    (here[0] || here[1]) && is_decided(here[0], truth.root) && is_decided(here[1], truth.others)
}

/// Where control surely goes to behind the head of a loop that it comes to from a block outside, if the loop makes a turn
/// in any case.
pub(super) fn first_turn(
    facts: &Facts<'_>,
    caller: Caller,
    from: BlockId,
    head: BlockId,
    surely_turns: impl FnOnce(Place) -> bool,
) -> Option<BlockId> {
    let flow = &facts.module(caller.file).scope(caller.scope).flow;
    let block = &flow.blocks[head.index()];
    let branch = block.branch.filter(|branch| branch.kind == BranchKind::For)?;
    let is_sure = surely_turns((caller.file, branch.condition?));
    (is_sure && !flow.leads(head, from)).then(|| block.successors[0])
}
