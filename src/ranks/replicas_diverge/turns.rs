//! What some ranks change in each turn of a loop and others do not: a broadcast in the first turn does not make up for
//! it, and a later turn that all make does not make it the same.

use std::collections::BTreeMap;

use super::super::change::{Change, Changes, Culprit};
use super::super::values::Cause;
use super::Replicas;
use crate::program::Caller;
use crate::semantic::{BlockId, BranchKind};

impl Replicas<'_, '_> {
    /// What is changed under one arm of a branch in a loop and not under the other, as the rank's number decides; where
    /// the rank's own data do, what is trained. `own` has what the blocks do.
    pub(super) fn parted_each_turn(&self, caller: Caller, id: BlockId, own: &[Changes]) -> Changes {
        let model = self.model;
        let block = &model.facts.module(caller.file).scope(caller.scope).flow.blocks[id.index()];
        let difference = block.branch.and_then(|branch| Some((branch, self.parts_by(caller, id, &branch)?)));
        let Some((branch, difference)) = difference else { return Changes::new() };
        let is_by_data = matches!(difference.cause, Cause::Data | Cause::Files);
        let is_turns = branch.kind == BranchKind::For;
        let mut touched: BTreeMap<usize, (u64, Culprit)> = BTreeMap::new();
        for (block, arms) in model.blocks.sides(caller, id) {
            for (&object, change) in &own[block.index()] {
                if let Some(culprit) = change.touched()
                    && (!is_by_data || self.trained.contains(&self.objects[object]))
                    && !(is_turns && change.assigns())
                {
                    let known = touched.entry(object).or_insert((0, culprit));
                    *known = (known.0 | arms, known.1.min(culprit));
                }
            }
        }
        let change = if is_by_data { Change::parting } else { Change::differing };
        let by_one_arm = touched.into_iter().filter(|(_, (arms, _))| arms.is_power_of_two());
        by_one_arm.map(|(object, (_, culprit))| (object, change(culprit))).collect()
    }
}
