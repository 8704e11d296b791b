//! Code that no rank comes to when there are several: that of a single rank, as `if hvd.size() == 1:` says, that of a
//! run without Horovod, that of a rank whose number is another one, that behind a condition whose numbers never come, and that which
//! fails whenever it is run. Nothing can go wrong between ranks there.

use rustc_hash::FxHashSet;

use super::failing;
use super::guards::{Atom, Literal, mirrored};
use super::model::Model;
use crate::api::Effect;
use crate::program::{CallEdge, Caller, Place, Unreached};
use crate::semantic::{BlockId, BranchKind, Element, Operator, Statement, Value};

/// What none of several ranks runs, as the programs' conditions on the ranks and their number say.
pub(super) fn of_several(model: &Model<'_>) -> Unreached {
    let mut left_out = model.blocks_asserted_for_one();
    left_out.extend(failing::blocks(model.facts, &model.blocks, &model.files));
    let is_closed = |caller: Caller, block: BlockId, arm: usize| {
        let leads_to_left_out = || {
            let flow = &model.facts.module(caller.file).scope(caller.scope).flow;
            left_out.contains(&(caller, flow.blocks[block.index()].successors[arm]))
        };
        model.is_arm_of_none(caller, block, arm) || !left_out.is_empty() && leads_to_left_out()
    };
    let is_run = |edge: &CallEdge| model.programs.iter().any(|program| model.facts.is_run(program, edge));
    Unreached::behind(model.facts, &model.callers(), is_closed, is_run)
}

impl Model<'_> {
    /// The blocks that begin with `assert hvd.size() == 1`.
    fn blocks_asserted_for_one(&self) -> FxHashSet<(Caller, BlockId)> {
        let asserted = self.files.iter().flat_map(|&file| {
            let module = self.facts.module(file);
            let says_one = module.asserts.iter().filter(move |(own, _)| self.says_one((file, *own), true, 0));
            says_one.map(move |&(_, id)| {
                let statement = module.statement(id);
                (Caller { file, scope: statement.scope }, statement)
            })
        });
        let begins = |&(caller, statement): &(Caller, &Statement)| {
            let calls = &self.blocks.of(caller, statement.block).calls;
            let module = self.facts.module(caller.file);
            calls.iter().all(|&call| module.call(call).range.start() >= statement.range.start())
        };
        asserted.filter(begins).map(|(caller, statement)| (caller, statement.block)).collect()
    }

    fn is_arm_of_none(&self, caller: Caller, block: BlockId, arm: usize) -> bool {
        let branch = self.facts.module(caller.file).scope(caller.scope).flow.blocks[block.index()].branch;
        let told = branch.and_then(|branch| Some((branch.condition?, branch.kind.outcome(arm)?)));
        let Some((condition, holds)) = told else { return false };
        if self.closed.is_arm(caller, block, arm) {
            return true;
        }
        let condition = (caller.file, condition);
        self.says_one(condition, holds, 0)
            || self.literals(condition, holds).0.iter().any(|literal| {
                let other = Literal { atom: literal.atom.clone(), holds: !literal.holds };
                matches!(literal.atom, Atom::Is(..)) && self.own_guard(caller, block).implies(&other)
            })
    }

    /// Whether a condition is so only if there is a single rank.
    fn says_one(&self, place: Place, holds: bool, depth: u32) -> bool {
        let (file, value) = place;
        if depth > 8 {
            return false;
        }
        let module = self.facts.module(file);
        match module.value(value).value {
            Value::Operator { operator: Operator::Not, left, .. } => {
                self.says_one((file, left), !holds, depth + 1)
            }
            Value::Operator { operator: Operator::Compare(method), left, right } => {
                let (count, name) = match (self.is_size((file, left)), self.is_size((file, right))) {
                    (true, false) => (self.int((file, right)), method.name()),
                    (false, true) => (self.int((file, left)), mirrored(method.name())),
                    _ => return false,
                };
                count.is_some_and(|count| !may_be_several(name, count, holds))
            }
            Value::Phi(ref parts) => {
                let part = |&part: &_| self.says_one((file, part), holds, depth + 1);
                match module.junction(module.value(value).range) {
                    Some(BranchKind::And) if holds => parts.iter().any(part),
                    Some(BranchKind::Or) if !holds => parts.iter().any(part),
                    Some(BranchKind::And | BranchKind::Or) => parts.iter().all(part),
                    _ => false,
                }
            }
            _ => self.same(place).is_some_and(|same| self.says_one(same, holds, depth + 1)),
        }
    }

    fn is_size(&self, place: Place) -> bool {
        self.is_size_within(place, 8)
    }

    fn is_size_within(&self, place: Place, depth: u32) -> bool {
        let facts = self.facts;
        let Some(depth) = depth.checked_sub(1) else { return false };
        if facts.gives(place, &[Effect::ReadsSize]) {
            return !facts.gives(place, &[Effect::PerHost]);
        }
        let is_size = |place: Place| self.is_size_within(place, depth);
        match facts.module(place.0).value(place.1).value {
            // What is handed to the function everywhere.
            Value::Parameter(..) => {
                let mut given = facts.influence().operands(place).peekable();
                given.peek().is_some() && given.all(is_size)
            }
            // `rank, size = start()`, where `start` returns `0, 1` without Horovod.
            Value::Unpack { base, index: Some(index), .. } => {
                let Value::Call(call) = facts.module(place.0).value(base).value else { return false };
                let mut elements = facts.called_functions(place.0, call).flat_map(|function| {
                    let module = facts.module(function.file);
                    let returns = &module.function(function.function).returns;
                    returns.iter().filter_map(move |&value| match &module.value(value).value {
                        Value::Display(_, elements) => elements.iter().find_map(|element| match *element {
                            Element::At(at, value) if at == index => Some((function.file, value)),
                            _ => None,
                        }),
                        _ => None,
                    })
                });
                elements.any(is_size)
            }
            _ => self.same(place).is_some_and(is_size),
        }
    }
}

/// Whether a comparison of the number of ranks comes out like this for some number above one.
fn may_be_several(name: &str, count: i64, holds: bool) -> bool {
    // Beyond the number that is compared with, all comparisons stay as they are.
    let numbers = [2, 3, count.saturating_sub(1), count, count.saturating_add(1)];
    numbers.into_iter().filter(|&number| number > 1).any(|number| {
        let is_so = match name {
            "__eq__" => number == count,
            "__ne__" => number != count,
            "__lt__" => number < count,
            "__le__" => number <= count,
            "__gt__" => number > count,
            "__ge__" => number >= count,
            _ => return true,
        };
        is_so == holds
    })
}
