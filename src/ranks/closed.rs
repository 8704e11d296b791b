//! The arms of branches that none of several ranks takes, whatever differs between them: where a flag is off that Horovod is
//! started under, and where the numbers say so, as those of `if hvd.size() > 1:` do.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::alone::Alone;
use super::numbers::Numbers;
use crate::program::{Caller, Facts};
use crate::semantic::{BlockId, Branch, BranchKind, Flow, Value, ValueId};
use crate::syntax::TextRange;

/// An arm of the branch at the end of a block.
pub(super) type Arm = (Caller, BlockId, usize);

/// Such arms.
#[derive(Debug, Default)]
pub struct Closed {
    arms: FxHashSet<Arm>,
    /// The scopes of their branches, in order.
    callers: BTreeSet<Caller>,
}

impl Closed {
    /// The arms that flags and numbers close, and those that both close together: `if distributed and hvd.size() > 1:`
    #[must_use]
    pub fn new(facts: &Facts<'_>, alone: &Alone, numbers: &Numbers) -> Self {
        let arms: FxHashSet<Arm> = alone.arms().chain(numbers.closed()).collect();
        let callers = arms.iter().map(|&(caller, ..)| caller).collect();
        let mut closed = Self { arms, callers };
        let together: Vec<Arm> =
            closed.callers.iter().flat_map(|&caller| closed.chains(facts, numbers, caller)).collect();
        closed.arms.extend(together);
        closed
    }

    /// Whether none of several ranks takes an arm of a branch.
    #[must_use]
    pub fn is_arm(&self, caller: Caller, block: BlockId, arm: usize) -> bool {
        !self.arms.is_empty() && self.arms.contains(&(caller, block, arm))
    }

    /// The scopes that have such arms, each with its code but for these.
    pub(super) fn flows(&self, facts: &Facts<'_>) -> FxHashMap<Caller, Flow> {
        let open = |caller: Caller| {
            let mut blocks = facts.module(caller.file).scope(caller.scope).flow.blocks.clone();
            for (index, block) in blocks.iter_mut().enumerate() {
                let arms = std::mem::take(&mut block.successors).into_iter().enumerate();
                let id = BlockId::new(index);
                let open = arms.filter(|&(arm, _)| !self.is_arm(caller, id, arm));
                block.successors = open.map(|(_, next)| next).collect();
            }
            Flow::new(blocks)
        };
        self.callers.iter().map(|&caller| (caller, open(caller))).collect()
    }

    /// The arms of a scope's branches behind chains of `and` or `or` each of whose operands is decided.
    fn chains(&self, facts: &Facts<'_>, numbers: &Numbers, caller: Caller) -> Vec<Arm> {
        let module = facts.module(caller.file);
        let ends = module.scope(caller.scope).flow.blocks.iter().enumerate();
        let ends = ends.filter_map(|(index, block)| Some((BlockId::new(index), block.branch?)));
        let ends: Vec<(BlockId, Branch)> = ends.collect();
        // The operands but for the last one of each chain, which its value stands for behind it.
        let mut tests: FxHashMap<TextRange, Vec<(BlockId, Branch)>> = FxHashMap::default();
        for &(id, branch) in &ends {
            if matches!(branch.kind, BranchKind::And | BranchKind::Or) {
                tests.entry(branch.range).or_default().push((id, branch));
            }
        }
        let mut found = Vec::new();
        for (id, branch) in ends {
            let Some(condition) = branch.condition else { continue };
            let own = module.value(condition);
            let Value::Phi(operands) = &own.value else { continue };
            let Some(kind) = module.junction(own.range) else { continue };
            // What decides the chain by itself: an operand of `and` that is false, one of `or` that is true.
            let holds = kind == BranchKind::Or;
            let arm_of = |branch: Branch| (0..2).find(|&arm| branch.kind.outcome(arm) == Some(holds));
            let Some(arm) = arm_of(branch) else { continue };
            let tests = tests.get(&own.range).map_or(&[][..], Vec::as_slice);
            let is_never = |operand: ValueId| {
                let mut own = tests.iter().filter(|(_, test)| test.condition == Some(operand));
                own.any(|&(at, test)| arm_of(test).is_some_and(|arm| self.is_arm(caller, at, arm)))
                    || numbers.is_never(facts, (caller, id), operand, holds)
            };
            if operands.iter().all(|&operand| is_never(operand)) {
                found.push((caller, id, arm));
            }
        }
        found
    }
}
