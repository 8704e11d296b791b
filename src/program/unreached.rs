//! Code that control does not come to where some arms of branches are never taken: what stands in them, and the scopes
//! that are only called from there.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::facts::Facts;
use super::hierarchy::Ancestor;
use super::influence::Place;
use super::loops::TrainingLoop;
use super::modules::{ClassRef, FunctionRef};
use super::object::{Object, ObjectId};
use super::solver::{CallEdge, Caller};
use crate::api::Calls;
use crate::project::FileId;
use crate::semantic::{Argument, BlockId, CallId, Flow, FunctionId, Passing};

/// What control does not come to.
#[derive(Debug, Default)]
pub struct Unreached {
    arms: FxHashSet<(Caller, BlockId, usize)>,
    blocks: FxHashSet<(Caller, BlockId)>,
    /// The scopes that have such blocks.
    partly: FxHashSet<Caller>,
    /// The scopes that are only called there.
    scopes: FxHashSet<Caller>,
}

impl Unreached {
    /// What is behind the arms of the scopes' branches that are closed; `is_run` tells which calls are made at all.
    #[must_use]
    pub fn behind(
        facts: &Facts<'_>,
        callers: &[Caller],
        is_closed: impl Fn(Caller, BlockId, usize) -> bool,
        is_run: impl Fn(&CallEdge) -> bool,
    ) -> Self {
        let mut unreached = Self::default();
        for &caller in callers {
            let flow = &facts.module(caller.file).scope(caller.scope).flow;
            let before = unreached.arms.len();
            for (index, block) in flow.blocks.iter().enumerate() {
                let id = BlockId::new(index);
                let arms = (0..block.successors.len()).filter(|&arm| is_closed(caller, id, arm));
                unreached.arms.extend(arms.map(|arm| (caller, id, arm)));
            }
            if unreached.arms.len() > before {
                unreached.close(caller, flow);
            }
        }
        unreached.follow_calls(facts, is_run);
        unreached
    }

    /// Beside it what only these functions call, which nobody does.
    #[must_use]
    pub fn and_uncalled(mut self, facts: &Facts<'_>, functions: &[FunctionRef]) -> Self {
        self.scopes.extend(functions.iter().map(|&function| facts.code_of(function)));
        self.follow_calls(facts, |_| true);
        self
    }

    /// Whether the code of a scope is called at such places only.
    #[must_use]
    pub fn is_scope(&self, caller: Caller) -> bool {
        !self.scopes.is_empty() && self.scopes.contains(&caller)
    }

    /// Finds the scopes that are only called where control does not come.
    fn follow_calls(&mut self, facts: &Facts<'_>, is_run: impl Fn(&CallEdge) -> bool) {
        let mut callers: Vec<Caller> = self.partly.iter().chain(&self.scopes).copied().collect();
        callers.sort_unstable();
        let called = |caller: Caller| facts.reached_functions(caller).map(|(_, function)| function);
        let mut work: Vec<FunctionRef> = callers.into_iter().flat_map(called).collect();
        work.extend(self.methods_of_made(facts));
        while let Some(function) = work.pop() {
            let code = facts.code_of(function);
            let mut incoming = facts.incoming(function).iter();
            let is_called = incoming.any(|edge| {
                let is_here = match edge.call {
                    Some(call) => {
                        !self.is_block(edge.caller, facts.module(edge.caller.file).call(call).block)
                            && !self.is_of_unmade(facts, edge.caller.file, call, function)
                    }
                    None => self.is_handed(facts, edge.caller, function),
                };
                is_here && edge.caller != code && !self.scopes.contains(&edge.caller) && is_run(edge)
            });
            if !is_called && self.scopes.insert(code) {
                work.extend(called(code));
            }
        }
    }

    /// The methods of the objects that are made where control does not come: a library may call them elsewhere.
    fn methods_of_made(&self, facts: &Facts<'_>) -> Vec<FunctionRef> {
        if self.blocks.is_empty() {
            return Vec::new();
        }
        let mut classes: FxHashSet<ClassRef> = FxHashSet::default();
        for (id, object) in facts.solution.objects() {
            if let Object::Instance(class, _) = object
                && self.is_never_made(facts, id)
            {
                let order = facts.hierarchy.order(class).iter();
                classes.extend(order.filter_map(|own| match own {
                    &Ancestor::Project(own) => Some(own),
                    Ancestor::External(_) | Ancestor::Builtin(_) | Ancestor::Unknown => None,
                }));
            }
        }
        let files: BTreeSet<FileId> = classes.iter().map(|class| class.file).collect();
        let mut found = Vec::new();
        for file in files {
            for (index, function) in facts.module(file).functions.iter().enumerate() {
                let own = FunctionRef { file, function: FunctionId::new(index) };
                let is_method =
                    function.class.is_some_and(|class| classes.contains(&ClassRef { file, class }));
                if is_method && !facts.incoming(own).is_empty() {
                    found.push(own);
                }
            }
        }
        found
    }

    /// Whether the call that makes an object stands where control does not come.
    fn is_never_made(&self, facts: &Facts<'_>, object: ObjectId) -> bool {
        facts.made_at(object).is_some_and(|(file, call)| {
            let made = facts.module(file).call(call);
            let maker = Caller { file, scope: made.scope };
            self.is_block(maker, made.block) || self.is_scope(maker)
        })
    }

    /// Whether a call is one of this method only on objects that are made where control does not come.
    fn is_of_unmade(&self, facts: &Facts<'_>, file: FileId, call: CallId, method: FunctionRef) -> bool {
        let receiver = facts.receiver(file, facts.module(file).call(call));
        let Some(receiver) = receiver.filter(|&receiver| !facts.is_unknown(file, receiver)) else {
            return false;
        };
        let module = facts.module(method.file);
        let name = module.names.text(module.function(method.function).name);
        let mut having = facts.objects(file, receiver).filter(|&(_, object)| match object {
            Object::Instance(class, _) => facts.method(class, name) == Some(method),
            _ => false,
        });
        having.next().is_some_and(|(first, _)| self.is_never_made(facts, first))
            && having.all(|(object, _)| self.is_never_made(facts, object))
    }

    /// Whether code that control comes to hands a library an object of the function's class, to call this method of it:
    /// `fit(callbacks=[Saver()])`.
    fn is_handed(&self, facts: &Facts<'_>, caller: Caller, function: FunctionRef) -> bool {
        let own = facts.module(function.file).function(function.function);
        let Some(class) = facts.modules.class_of(function) else { return true };
        let method = facts.module(function.file).names.text(own.name);
        let has_method = |(id, object)| match object {
            Object::Instance(of, _) => {
                facts.hierarchy.order(of).contains(&Ancestor::Project(class))
                    && !self.is_never_made(facts, id)
            }
            _ => false,
        };
        let may_hold = |place: Place| {
            let mut behind = facts.influence().backwards(&[place], |_| false).into_iter();
            facts.is_unknown(place.0, place.1)
                || behind.any(|(file, value)| facts.objects(file, value).any(has_method))
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

    /// Whether control does not come to a training loop.
    #[must_use]
    pub fn is_loop(&self, facts: &Facts<'_>, own: &TrainingLoop) -> bool {
        let block = facts.module(own.caller.file).call(own.call).block;
        self.is_block(own.caller, block) || self.is_scope(own.caller)
    }

    /// Whether there are blocks of a scope that control does not come to.
    #[must_use]
    pub fn is_partly(&self, caller: Caller) -> bool {
        self.partly.contains(&caller)
    }

    /// Whether control does not go to this arm of a branch.
    #[must_use]
    pub fn is_arm(&self, caller: Caller, block: BlockId, arm: usize) -> bool {
        !self.arms.is_empty() && self.arms.contains(&(caller, block, arm))
    }

    /// Whether control does not come to a block.
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
        let before = self.blocks.len();
        self.blocks.extend(others.map(|block| (caller, block)));
        if self.blocks.len() > before {
            self.partly.insert(caller);
        }
    }
}
