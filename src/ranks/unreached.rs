//! Code that no rank comes to when there are several: that of a single rank, as `if hvd.size() == 1:` says, that of a
//! run without Horovod, that of a rank whose number is another one, and that behind a condition whose numbers never come. Nothing can go wrong between ranks there.

use rustc_hash::FxHashSet;

use super::guards::{Atom, Literal, mirrored, outcome};
use super::model::Model;
use crate::api::{Calls, Effect};
use crate::program::{Ancestor, Caller, Facts, FunctionRef, Object, Place, TrainingLoop};
use crate::semantic::{Argument, BlockId, BranchKind, CallId, Element, Flow, Operator, Passing, Value};

/// What none of several ranks runs.
#[derive(Debug, Default)]
pub struct Unreached {
    arms: FxHashSet<(Caller, BlockId, usize)>,
    blocks: FxHashSet<(Caller, BlockId)>,
    /// The scopes that are only called there.
    scopes: FxHashSet<Caller>,
}

impl Unreached {
    /// What the programs' conditions on the ranks and their number say.
    #[must_use]
    pub fn new(model: &Model<'_>) -> Self {
        let mut unreached = Self::default();
        for caller in model.callers() {
            let flow = &model.facts.module(caller.file).scope(caller.scope).flow;
            let before = unreached.arms.len();
            for (index, block) in flow.blocks.iter().enumerate() {
                let id = BlockId::new(index);
                let arms = (0..block.successors.len()).filter(|&arm| model.is_arm_of_none(caller, id, arm));
                unreached.arms.extend(arms.map(|arm| (caller, id, arm)));
            }
            if unreached.arms.len() > before {
                unreached.close(caller, flow);
            }
        }
        unreached.follow_calls(model);
        unreached
    }

    /// Whether the code of a scope is called at such places only.
    #[must_use]
    pub fn is_scope(&self, caller: Caller) -> bool {
        !self.scopes.is_empty() && self.scopes.contains(&caller)
    }

    /// Finds the scopes that are only called where none of several ranks comes.
    fn follow_calls(&mut self, model: &Model<'_>) {
        let facts = model.facts;
        let mut callers: Vec<Caller> = self.blocks.iter().map(|&(caller, _)| caller).collect();
        callers.sort_unstable();
        callers.dedup();
        let called = |caller: Caller| facts.reached_functions(caller).map(|(_, function)| function);
        let mut work: Vec<FunctionRef> = callers.into_iter().flat_map(called).collect();
        while let Some(function) = work.pop() {
            let code = facts.code_of(function);
            let mut incoming = facts.incoming(function).iter();
            let is_called = incoming.any(|edge| {
                let is_here = match edge.call {
                    Some(call) => {
                        !self.is_block(edge.caller, facts.module(edge.caller.file).call(call).block)
                    }
                    None => self.is_handed(facts, edge.caller, function),
                };
                is_here
                    && edge.caller != code
                    && !self.scopes.contains(&edge.caller)
                    && model.programs.iter().any(|program| facts.is_run(program, edge))
            });
            if !is_called && self.scopes.insert(code) {
                work.extend(called(code));
            }
        }
    }

    /// Whether some rank of several hands a library an object of the function's class, to call this method of it:
    /// `fit(callbacks=[Saver()])`.
    fn is_handed(&self, facts: &Facts<'_>, caller: Caller, function: FunctionRef) -> bool {
        let own = facts.module(function.file).function(function.function);
        let Some(class) = facts.modules.class_of(function) else { return true };
        let method = facts.module(function.file).names.text(own.name);
        let has_method = |object| match object {
            Object::Instance(of, _) => facts.hierarchy.order(of).contains(&Ancestor::Project(class)),
            _ => false,
        };
        let may_hold = |place: Place| {
            let mut behind = facts.influence().backwards(&[place], |_| false).into_iter();
            facts.is_unknown(place.0, place.1)
                || behind.any(|(file, value)| facts.objects(file, value).any(|(_, own)| has_method(own)))
        };
        let module = facts.module(caller.file);
        let calls = module.calls.iter().enumerate().filter(|(_, call)| call.scope == caller.scope);
        let mut takers = calls
            .flat_map(|(index, call)| {
                let id = CallId::new(index);
                facts.called_symbols(caller.file, id).map(move |symbol| (call, symbol))
            })
            .flat_map(|(call, symbol)| symbol.calls().iter().map(move |called| (call, symbol, called)))
            .filter_map(|(call, symbol, called)| match called {
                Calls::ArgumentMethod(parameter, name) if name == method => Some((call, symbol, parameter)),
                _ => None,
            })
            .peekable();
        takers.peek().is_none()
            || takers.any(|(call, symbol, parameter)| {
                let hides = |own: &Argument| matches!(own.passing, Passing::Spread | Passing::Merge);
                !self.is_block(caller, call.block)
                    && match facts.argument(caller.file, call, symbol, parameter) {
                        Some(given) => may_hold((caller.file, given.value)),
                        None => call.arguments.iter().any(hides),
                    }
            })
    }

    /// Whether none of several ranks comes to a training loop.
    #[must_use]
    pub fn is_loop(&self, facts: &Facts<'_>, own: &TrainingLoop) -> bool {
        let block = facts.module(own.caller.file).call(own.call).block;
        self.is_block(own.caller, block) || self.is_scope(own.caller)
    }

    /// Whether none of several ranks goes to this arm of a branch.
    #[must_use]
    pub fn is_arm(&self, caller: Caller, block: BlockId, arm: usize) -> bool {
        !self.arms.is_empty() && self.arms.contains(&(caller, block, arm))
    }

    /// Whether none of several ranks comes to a block.
    #[must_use]
    pub fn is_block(&self, caller: Caller, block: BlockId) -> bool {
        !self.blocks.is_empty() && self.blocks.contains(&(caller, block))
    }

    /// Finds the blocks that control comes to through such arms unreached.
    fn close(&mut self, caller: Caller, flow: &Flow) {
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let mut work = vec![Flow::ENTRY];
        while let Some(block) = work.pop() {
            if seen.insert(block) {
                let next = flow.blocks[block.index()].successors.iter().enumerate();
                work.extend(next.filter(|&(arm, _)| !self.is_arm(caller, block, arm)).map(|(_, &next)| next));
            }
        }
        let others = (0..flow.blocks.len()).map(BlockId::new).filter(|block| !seen.contains(block));
        self.blocks.extend(others.map(|block| (caller, block)));
    }
}

impl Model<'_> {
    fn is_arm_of_none(&self, caller: Caller, block: BlockId, arm: usize) -> bool {
        let branch = self.facts.module(caller.file).scope(caller.scope).flow.blocks[block.index()].branch;
        let told = branch.and_then(|branch| Some((branch.condition?, outcome(branch.kind, arm)?)));
        let Some((condition, holds)) = told else { return false };
        if self.alone.is_arm(caller, block, arm) || self.numbers.is_closed(caller, block, arm) {
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
                match self.blocks.junction(file, module.value(value).range) {
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
            return true;
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
