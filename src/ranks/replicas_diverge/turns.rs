//! What some ranks change in each turn of a loop and others do not: a broadcast in the first turn does not make up for
//! it, and a later turn that all make does not make it the same.

use std::collections::BTreeMap;

use super::super::change::{Change, Changes, Culprit};
use super::super::values::Cause;
use super::Replicas;
use crate::api::Kind;
use crate::program::{Caller, ObjectId, Repeated, loop_around};
use crate::project::FileId;
use crate::semantic::{BlockId, BranchKind, CallId, Constant, StatementId, Value};

impl Replicas<'_, '_> {
    /// What is changed under one arm of a branch in a loop and not under the other, as the rank's number alone decides:
    /// variables; where the rank's own data do, what is trained. `own` has what the blocks do.
    pub(super) fn parted_each_turn(&self, caller: Caller, id: BlockId, own: &[Changes]) -> Changes {
        let model = self.model;
        let block = &model.facts.module(caller.file).scope(caller.scope).flow.blocks[id.index()];
        let Some((branch, condition)) = block.branch.and_then(|branch| Some((branch, branch.condition?)))
        else {
            return Changes::new();
        };
        let place = (caller.file, condition);
        let is_turns = branch.kind == BranchKind::For;
        let is_by_data = model.difference(place).is_some_and(|own| own.cause == Cause::Data);
        let Some(parts_by) = self.parts_by(caller, id, &branch) else { return Changes::new() };
        let is_by_rank = parts_by.cause == Cause::Rank && (is_turns || model.is_on_rank(place));
        if !is_by_data && !is_by_rank {
            return Changes::new();
        }
        // A model is trained by steps, in which all ranks take part; that some make none is another check's finding.
        let is_meant = |own: ObjectId| {
            if is_by_data {
                self.trained.contains(&own)
            } else {
                model.facts.kind(own) == Some(Kind::Variable)
            }
        };
        let mut touched: BTreeMap<usize, (u64, Culprit)> = BTreeMap::new();
        for (block, arms) in model.blocks.sides(caller, id) {
            for (&object, change) in &own[block.index()] {
                if let Some(culprit) = change.touched()
                    && is_meant(self.objects[object])
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

    /// Whether a scope's code is run in turns of a loop elsewhere.
    pub(super) fn is_run_each_turn(&self, caller: Caller) -> bool {
        matches!(self.model.facts.repetition().of(caller), Some(Repeated::Loop(..)))
    }

    /// Whether a call is made in each turn of a loop, in which no flag is set anew under which a broadcast may stand.
    pub(super) fn is_made_each_turn(&self, file: FileId, id: CallId) -> bool {
        let facts = self.model.facts;
        let call = facts.module(file).call(id);
        let caller = Caller { file, scope: call.scope };
        let around = loop_around(facts, file, call.statement, call.block, caller);
        around.is_some_and(|around| !self.sets_flag(caller, around))
    }

    /// The same of a call that is made on each of several variables, in a loop over them.
    pub(super) fn is_made_on_all_each_turn(&self, file: FileId, id: CallId) -> bool {
        let facts = self.model.facts;
        let module = facts.module(file);
        let call = module.call(id);
        let caller = Caller { file, scope: call.scope };
        let over_variables = loop_around(facts, file, call.statement, call.block, caller);
        let around = over_variables.and_then(|own| {
            let statement = module.statement(own);
            loop_around(facts, file, own, statement.block, caller).filter(|&outer| outer != own)
        });
        around.is_some_and(|around| !self.sets_flag(caller, around))
    }

    /// Whether a loop sets a flag in each turn: `is_first = True`.
    fn sets_flag(&self, caller: Caller, around: StatementId) -> bool {
        let facts = self.model.facts;
        let module = facts.module(caller.file);
        let within = module.statement(around).range;
        let is_flag = |value| matches!(module.value(value).value, Value::Constant(Constant::Bool(_)));
        let in_each_turn = |block: BlockId| {
            let conditions = facts.conditions(caller, block).into_iter().map(|own| own.branch);
            let mut inside = conditions.filter(|own| within.contains_range(own.range));
            inside.all(|own| own.kind != BranchKind::If)
        };
        let mut set = module.definitions.iter().filter(|own| own.scope == caller.scope);
        set.any(|own| within.contains_range(own.range) && is_flag(own.value) && in_each_turn(own.block))
    }
}
