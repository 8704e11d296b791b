//! What branches decide: values that depend on how a branch goes, though they are not computed from its condition.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::super::leaving::Turn;
use super::super::parts::{self, Part};
use super::super::passing::Through;
use super::super::returning::Remaining;
use super::super::sameness::are_one;
use super::super::{objects, puts};
use super::{Decided, Flood};
use crate::program::{Caller, Place};
use crate::semantic::{BlockId, BranchKind, Module, StatementKind, StoreKey, Value, ValueId, Variable};

impl Flood<'_, '_> {
    /// The values that depend on how a branch goes, though they are not computed from its condition: the same ones, however
    /// often more of the condition turns out to differ.
    pub(super) fn decided(&mut self, caller: Caller, branch: BlockId) -> Decided {
        if let Some(known) = self.decided.get(&(caller, branch)) {
            return Rc::clone(known);
        }
        let module = self.facts.module(caller.file);
        let remaining = self.remaining.entry(caller);
        remaining.or_insert_with(|| Remaining::new(module, self.blocks, caller));
        let decided: Decided = self.find_decided(caller, branch).into();
        self.decided.insert((caller, branch), Rc::clone(&decided));
        decided
    }

    fn find_decided(&self, caller: Caller, branch: BlockId) -> Vec<(Place, Part)> {
        let facts = self.facts;
        let file = caller.file;
        let module = facts.module(file);
        let mut found = Vec::new();
        let own = module.scope(caller.scope).flow.blocks[branch.index()].branch;
        // What the elements are does not decide on the turns of a loop; how many there are does.
        if own.is_some_and(|own| own.kind == BranchKind::For) {
            return Vec::new();
        }
        let meets = self.meet(caller, branch);
        let turn = Turn::left_at(facts, self.blocks, caller, branch);
        let remaining = self.remaining.get(&caller).and_then(Option::as_ref);
        let region_of_remaining = remaining.map(|own| own.region(branch)).unwrap_or_default();
        let is_same_where_read = |block: BlockId, place: Place, variable: Variable| {
            remaining.is_some_and(|own| {
                !region_of_remaining.contains(&block)
                    && own.keeps(facts, self.blocks, caller, place, variable)
            })
        };
        let mut returns = false;
        for block in self.blocks.region(caller, branch) {
            let contents = self.blocks.of(caller, block);
            for &index in contents.definitions.iter().filter(|_| meets) {
                let own = &module.definitions[index as usize];
                let dependents = facts.influence().dependents((file, own.value));
                found.extend(dependents.filter(|&place| {
                    self.merges(place, (file, own.value), own.variable)
                        && !self.values.meeting.leaves_out((file, own.value), place)
                        && turn.as_ref().is_none_or(|turn| !turn.keeps(place, own.variable))
                        && !is_same_where_read(block, place, own.variable)
                }));
            }
            for &index in &contents.stores {
                let store = &module.stores[index as usize];
                let StoreKey::Attribute(stored) = store.key else { continue };
                let dependents = facts.influence().dependents((file, store.value));
                let dependents =
                    dependents.filter(|&place| !self.values.meeting.leaves_out((file, store.value), place));
                found.extend(dependents.filter(|&(of, value)| {
                    // One value may stand for many: `None` is stored in all kinds of attributes.
                    matches!(facts.module(of).value(value).value, Value::Attribute { name, .. }
                        if facts.module(of).names.text(name) == module.names.text(stored))
                }));
            }
            returns |= self.has_return(caller, block);
        }
        let mut stored: Vec<(Place, Part)> = Vec::new();
        for block in self.blocks.region(caller, branch) {
            for &index in &self.blocks.of(caller, block).stores {
                let store = &module.stores[index as usize];
                let part = match store.key {
                    StoreKey::Attribute(_) => continue,
                    StoreKey::Item(key) => parts::text(facts, file, key),
                    StoreKey::Slice => None,
                };
                let part = part.map_or(Part::Whole, |key| Part::perhaps([key]));
                stored.push(((file, store.base), part));
            }
            for &call in &self.blocks.of(caller, block).calls {
                let changed = puts::changed(facts, file, call);
                stored.extend(changed.map(|(dictionary, part)| ((file, dictionary), part)));
            }
        }
        // `a if hvd.rank() == 0 else b`
        if let Some(own) = own.filter(|own| own.kind == BranchKind::If) {
            found.extend(self.blocks.choice_around(file, own.range).map(|value| (file, value)));
        }
        // `batches = tqdm(batches)`
        found.retain(|&(file, value)| match &facts.module(file).value(value).value {
            Value::Phi(parts) => !are_one(self.facts, file, parts),
            _ => true,
        });
        let arms = module.scope(caller.scope).flow.blocks[branch.index()].successors.iter();
        let mut ended = self.blocks.region(caller, branch).into_iter().chain(arms.copied());
        let leaves_loop = ended.any(|block| {
            remaining.is_some_and(|own| own.leaves_loop(block)) && self.has_return(caller, block)
        });
        if let Some(function) = facts.function_of(caller)
            && let own = &module.function(function.function).returns
            && (returns && own.len() > 1 && !are_one(self.facts, file, own)
                || leaves_loop && !own.iter().all(|&value| is_constant(module, value)))
        {
            let calls = facts.incoming(function).iter().filter_map(|edge| {
                let (file, call) = (edge.caller.file, edge.call?);
                (!self.overrides.is_replaced(file, call, function)).then_some((file, call))
            });
            found.extend(calls.map(|(file, call)| (file, facts.module(file).call(call).result)));
        }
        let differing = |(file, value): Place| match &facts.module(file).value(value).value {
            Value::Phi(parts) => objects::of_made(facts, self.blocks, file, parts).unwrap_or(Part::Whole),
            _ => Part::Whole,
        };
        found.into_iter().map(|place| (place, differing(place))).chain(stored).collect()
    }

    fn has_return(&self, caller: Caller, block: BlockId) -> bool {
        let module = self.facts.module(caller.file);
        let mut leaves = self.blocks.of(caller, block).leaves.iter();
        leaves.any(|&statement| module.statement(statement).kind == StatementKind::Return)
    }

    /// By what a value differs that a branch of a scope decides.
    pub(super) fn decided_through(&self, caller: Caller, through: Through, (file, value): Place) -> Through {
        let known = |place: Place| self.values.through(place);
        let module = self.facts.module(file);
        let is_here = file == caller.file && module.code_scope(module.value(value).scope) == caller.scope;
        match self.facts.function_of(caller) {
            _ if is_here => through,
            // The result of a call of the function that the branch stands in.
            Some(function) if matches!(module.value(value).value, Value::Call(_)) => {
                self.values.passing.returns((file, value), function, through, known)
            }
            _ => Through::ALWAYS,
        }
    }

    /// Whether ranks that went different ways from a branch come to the same code of its scope again.
    fn meet(&self, caller: Caller, branch: BlockId) -> bool {
        let flow = &self.facts.module(caller.file).scope(caller.scope).flow;
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let arms = flow.blocks[branch.index()].successors.iter();
        arms.flat_map(|&arm| flow.behind(arm)).any(|block| !seen.insert(block))
    }

    /// Whether a value is what a variable holds behind branches of which one bound it to another value. One value may
    /// stand for many: `None` is what all kinds of variables are bound to.
    fn merges(&self, (of, value): Place, (file, part): Place, variable: Variable) -> bool {
        match self.facts.module(of).value(value).value {
            Value::Cell(own) => of != file || own == variable,
            Value::Phi(_) => {
                let own = self.facts.module(of).value(value);
                let names = self.blocks.names_of((of, value));
                let is_shared = matches!(self.facts.module(file).value(part).value, Value::Constant(_));
                own.range.is_empty() && if names.is_empty() { !is_shared } else { names.contains(&variable) }
            }
            _ => false,
        }
    }
}

fn is_constant(module: &Module, value: ValueId) -> bool {
    matches!(module.value(value).value, Value::Constant(_))
}
