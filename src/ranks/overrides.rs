//! Which methods several ranks don't run: those that a class for Horovod overrides.
//!
//! A program that runs with and without Horovod often has a class for one process and one for several, which extends
//! it. Where a method of a class for Horovod may be called, several ranks call that, and no method of a class that has
//! a form for Horovod of its own; such a method is theirs only where that form calls it, by `super().save()` or by the
//! name of its class.

use rustc_hash::FxHashSet;

use crate::api::Effect;
use crate::program::{Ancestor, Caller, ClassRef, Facts, FunctionRef, Program};
use crate::project::FileId;
use crate::semantic::CallId;

/// The methods that classes for Horovod take the place of.
#[derive(Debug, Default)]
pub struct Overrides {
    calls: FxHashSet<(FileId, CallId, FunctionRef)>,
    /// The scopes whose code no other call comes to.
    scopes: FxHashSet<Caller>,
}

/// What tells that code is meant for several ranks.
const OF_RANKS: [Effect; 4] =
    [Effect::ReadsRank, Effect::ReadsLocalRank, Effect::Distributes, Effect::Collective];

impl Overrides {
    /// The calls of some files that may be of a class for Horovod or of one that it extends.
    #[must_use]
    pub fn new(facts: &Facts<'_>, files: &[FileId], programs: &[&Program]) -> Self {
        let classes: FxHashSet<ClassRef> = OF_RANKS
            .into_iter()
            .flat_map(|effect| facts.calls_with(effect))
            .filter_map(|(file, call)| {
                let own = facts.function_of(Caller { file, scope: facts.module(file).call(call).scope })?;
                facts.modules.class_of(own)
            })
            .collect();
        let mut overrides = Self::default();
        if classes.is_empty() {
            return overrides;
        }
        for &file in files {
            for call in (0..facts.module(file).calls.len()).map(CallId::new) {
                let methods: Vec<(FunctionRef, ClassRef)> = facts
                    .called_functions(file, call)
                    .filter_map(|own| Some((own, facts.modules.class_of(own)?)))
                    .collect();
                if !methods.iter().any(|(_, class)| classes.contains(class)) {
                    continue;
                }
                let replaced = methods.iter().filter(|(_, base)| {
                    !classes.contains(base) && classes.iter().any(|&other| extends(facts, other, *base))
                });
                overrides.calls.extend(replaced.map(|&(own, _)| (file, call, own)));
            }
        }
        overrides.close(facts, programs);
        overrides
    }

    /// Whether a call that may be of a function is, on several ranks, of one that takes its place.
    #[must_use]
    pub fn is_replaced(&self, file: FileId, call: CallId, function: FunctionRef) -> bool {
        !self.calls.is_empty() && self.calls.contains(&(file, call, function))
    }

    /// Whether several ranks don't run a scope's code.
    #[must_use]
    pub fn is_unused(&self, caller: Caller) -> bool {
        !self.scopes.is_empty() && self.scopes.contains(&caller)
    }

    /// Finds the functions that are called at such places only.
    fn close(&mut self, facts: &Facts<'_>, programs: &[&Program]) {
        let mut work: Vec<FunctionRef> = self.calls.iter().map(|&(.., function)| function).collect();
        work.sort_unstable();
        while let Some(function) = work.pop() {
            let code = facts.code_of(function);
            let is_called = facts.incoming(function).iter().any(|edge| {
                let is_replaced =
                    edge.call.is_some_and(|call| self.is_replaced(edge.caller.file, call, function));
                !is_replaced
                    && edge.caller != code
                    && !self.scopes.contains(&edge.caller)
                    && programs.iter().any(|program| facts.is_run(program, edge))
            });
            if !is_called && self.scopes.insert(code) {
                work.extend(facts.reached_functions(code).map(|(_, next)| next));
            }
        }
    }
}

fn extends(facts: &Facts<'_>, class: ClassRef, base: ClassRef) -> bool {
    class != base && facts.hierarchy.order(class).contains(&Ancestor::Project(base))
}
