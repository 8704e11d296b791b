//! What some ranks change by data of their own in each turn of a loop: a broadcast in the first turn does not make up
//! for it.

use std::collections::BTreeMap;

use super::super::change::{Change, Changes, Culprit};
use super::super::values::Cause;
use super::Replicas;
use crate::program::Caller;
use crate::semantic::BlockId;

impl Replicas<'_, '_> {
    /// What is trained and changed under one arm of a branch in a loop and not under the other, as the rank's own data
    /// decide; `own` has what the blocks do.
    pub(super) fn parted_each_turn(&self, caller: Caller, id: BlockId, own: &[Changes]) -> Changes {
        let model = self.model;
        let block = &model.facts.module(caller.file).scope(caller.scope).flow.blocks[id.index()];
        let Some(branch) = block.branch else { return Changes::new() };
        let difference = branch.condition.and_then(|condition| model.difference((caller.file, condition)));
        let is_by_data = difference.is_some_and(|own| own.cause == Cause::Data);
        if !is_by_data || !self.may_part(caller, id, &branch) {
            return Changes::new();
        }
        let mut touched: BTreeMap<usize, (u64, Culprit)> = BTreeMap::new();
        for (block, arms) in model.blocks.sides(caller, id) {
            for (&object, change) in &own[block.index()] {
                if let Some(culprit) = change.touched()
                    && self.trained.contains(&self.objects[object])
                {
                    let known = touched.entry(object).or_insert((0, culprit));
                    *known = (known.0 | arms, known.1.min(culprit));
                }
            }
        }
        let by_one_arm = touched.into_iter().filter(|(_, (arms, _))| arms.is_power_of_two());
        by_one_arm.map(|(object, (_, culprit))| (object, Change::parting(culprit))).collect()
    }
}
