//! Loops whose first turn is sure: what each turn assigns anew is assigned when they end, however many turns a rank
//! makes.

use std::collections::BTreeMap;

use super::super::change::Changes;
use super::super::numbers;
use super::super::values::agrees;
use super::Replicas;
use crate::program::{Caller, Place};
use crate::semantic::{BlockId, BranchKind, Value, ValueId};

impl Replicas<'_, '_> {
    /// Where control surely goes to behind the head of a loop that it comes to from a block outside.
    pub(super) fn first_turn(&self, caller: Caller, from: BlockId, head: BlockId) -> Option<BlockId> {
        let model = self.model;
        numbers::first_turn(model.facts, caller, from, head, |iterable| {
            model.numbers.surely_turns(model.facts, iterable)
        })
    }

    /// What each turn of a loop whose first turn is sure gives one and the same value, at one place that no turn leaves
    /// out; `own` has what the blocks do.
    pub(super) fn assigned_each_turn(&self, caller: Caller, head: BlockId, own: &[Changes]) -> Vec<usize> {
        let model = self.model;
        let block = &model.facts.module(caller.file).scope(caller.scope).flow.blocks[head.index()];
        let branch = block.branch.filter(|branch| branch.kind == BranchKind::For);
        let Some(iterable) = branch.and_then(|branch| branch.condition) else { return Vec::new() };
        if !model.numbers.surely_turns(model.facts, (caller.file, iterable)) {
            return Vec::new();
        }
        let control = model.facts.control(caller);
        let mut places: BTreeMap<usize, Vec<BlockId>> = BTreeMap::new();
        for block in model.blocks.region(caller, head) {
            for &object in own[block.index()].keys() {
                places.entry(object).or_default().push(block);
            }
        }
        let in_each_turn =
            |block: BlockId| control.direct(block).iter().all(|on| on.branch == head && on.arm == 0);
        let settled = places.into_iter().filter(|(object, blocks)| match blocks[..] {
            [only] => {
                in_each_turn(only)
                    && own[only.index()][object].assigns()
                    && self.is_given_the_same(caller, only, *object, iterable)
            }
            _ => false,
        });
        settled.map(|(object, _)| object).collect()
    }

    /// Whether what a block gives to a variable does not come from the turn that a loop is in.
    fn is_given_the_same(&self, caller: Caller, block: BlockId, object: usize, iterable: ValueId) -> bool {
        let facts = self.model.facts;
        let module = facts.module(caller.file);
        let mut given: Vec<Place> = Vec::new();
        for &id in &self.model.blocks.of(caller, block).calls {
            let call = module.call(id);
            let receiver = facts.receiver(caller.file, call);
            let of = receiver.map_or(&[][..], |receiver| facts.solution.values(caller.file, receiver));
            if of.contains(&self.objects[object]) {
                given.extend(call.arguments.iter().map(|own| (caller.file, own.value)));
            }
        }
        let behind = facts.influence().backwards(&given, |place| agrees(facts, place));
        behind.into_iter().all(|(file, value)| match facts.module(file).value(value).value {
            Value::Phi(_) => false,
            Value::Iteration(of) => of != iterable,
            _ => true,
        })
    }
}
