//! What a function does where its call tells it which way to go: `train_step(x, y, False)` has no part in the broadcast
//! under `if first:`.

use super::super::change::Changes;
use super::Replicas;
use crate::program::{Caller, FunctionRef, Literal, Object, Place};
use crate::project::FileId;
use crate::semantic::{Block, BlockId, CallId, Operator, Passing, Value};

/// An arm of a branch that control does not take.
pub(super) type Closed = (BlockId, usize);

impl Replicas<'_, '_> {
    /// Whether a scope has a branch that a parameter of its function decides.
    pub(super) fn is_told(&self, caller: Caller) -> bool {
        let blocks = &self.model.facts.module(caller.file).scope(caller.scope).flow.blocks;
        blocks.iter().any(|block| self.asked(caller, block).is_some())
    }

    /// What a function does with what a call passes to it, if that decides on one of its branches.
    pub(super) fn as_told(&self, file: FileId, id: CallId, function: FunctionRef) -> Option<Changes> {
        let facts = self.model.facts;
        let caller = facts.code_of(function);
        let own = self.told.get(&caller)?;
        let blocks = &facts.module(caller.file).scope(caller.scope).flow.blocks;
        let mut closed: Vec<Closed> = Vec::new();
        for (index, block) in blocks.iter().enumerate() {
            let Some((position, wanted)) = self.asked(caller, block) else { continue };
            let Some(passed) = self.passed(file, id, function, position) else { continue };
            let Some(is_true) = self.truth(passed) else { continue };
            let Some(kind) = block.branch.map(|branch| branch.kind) else { continue };
            let arms = 0..block.successors.len();
            let other = arms.filter(|&arm| kind.outcome(arm).is_some_and(|own| own != (is_true == wanted)));
            closed.extend(other.map(|arm| (BlockId::new(index), arm)));
        }
        (!closed.is_empty()).then(|| self.summary(caller, own, &closed))
    }

    /// What a call passes for a parameter; a method's first one is the object that it is called on.
    fn passed(&self, file: FileId, id: CallId, function: FunctionRef, position: u32) -> Option<Place> {
        let facts = self.model.facts;
        let (module, of) = (facts.module(file), facts.module(function.file));
        let call = module.call(id);
        let is_plain = |(_, callee)| matches!(callee, Object::Function(_));
        if facts.objects(file, call.callee).any(is_plain) {
            return facts.passed_for(file, id, function, position);
        }
        let own = of.function(function.function);
        let receiver = facts.receiver(file, call)?;
        let is_instance = |(_, object)| matches!(object, Object::Instance(..));
        if !facts.objects(file, receiver).all(is_instance) {
            return None;
        }
        let name = of.names.text(own.parameters.get(position as usize)?.name);
        let is_named =
            |passing| matches!(passing, Passing::Keyword(keyword) if module.names.text(keyword) == name);
        let is_plain = |passing| matches!(passing, Passing::Positional | Passing::Keyword(_));
        if !call.arguments.iter().all(|own| is_plain(own.passing)) {
            return None;
        }
        let named = call.arguments.iter().find(|own| is_named(own.passing));
        let mut positional = call.arguments.iter().filter(|own| own.passing == Passing::Positional);
        let given = named.or_else(|| positional.nth((position as usize).checked_sub(1)?));
        given.map(|own| (file, own.value))
    }

    /// The parameter that decides at the end of a block, by its position, and whether its truth is that of the condition.
    fn asked(&self, caller: Caller, block: &Block) -> Option<(u32, bool)> {
        let module = self.model.facts.module(caller.file);
        let mut condition = block.branch?.condition?;
        let mut wanted = true;
        while let Value::Operator { operator: Operator::Not, left, .. } = module.value(condition).value {
            condition = left;
            wanted = !wanted;
        }
        let Value::Parameter(function, position) = module.value(condition).value else { return None };
        let own = self.model.facts.function_of(caller)?;
        (own.function == function).then_some((position, wanted))
    }

    /// Whether a value is `True`, or `False`, whatever way control came.
    fn truth(&self, (file, value): Place) -> Option<bool> {
        let mut truths = self.model.facts.objects(file, value).map(|(_, object)| match object {
            Object::Literal(Literal::Bool(is_true)) => Some(is_true),
            _ => None,
        });
        let first = truths.next()??;
        truths.all(|other| other == Some(first)).then_some(first)
    }
}
