//! What code of the project that a stretch calls leaves behind in objects that were there before: `self.words = ...` in a method
//! that prepares a file. Who leaves the stretch out misses it.

use rustc_hash::FxHashSet;

use super::job::Job;
use crate::api::Effect;
use crate::program::{Caller, Object, ObjectId};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};
use crate::syntax::TextRange;

/// Whether functions of the project that a stretch calls change objects made elsewhere, or variables of modules.
pub(super) fn changes_objects(job: &Job<'_>, file: FileId, within: TextRange) -> bool {
    let facts = job.facts;
    let inside = |id: &CallId| within.contains_range(facts.module(file).call(*id).range);
    let calls = job.calls_in(file).filter(inside);
    let mut work: Vec<Caller> = calls
        .flat_map(|call| facts.called_functions(file, call).map(|function| facts.code_of(function)))
        .collect();
    let mut called = Called { job, file, within, code: FxHashSet::default() };
    while let Some(code) = work.pop() {
        if called.code.insert(code) {
            work.extend(facts.reached_functions(code).map(|(_, function)| facts.code_of(function)));
        }
    }
    called.code.iter().any(|&code| called.stores(code) || called.binds(code) || called.resizes(code))
}

/// The code that a stretch calls.
struct Called<'j> {
    job: &'j Job<'j>,
    file: FileId,
    within: TextRange,
    code: FxHashSet<Caller>,
}

impl Called<'_> {
    /// Whether code sets attributes or elements of objects made elsewhere.
    fn stores(&self, code: Caller) -> bool {
        let module = self.job.facts.module(code.file);
        let stores = module.stores.iter().filter(|own| module.code_scope(own.scope) == code.scope);
        stores.into_iter().any(|own| !self.has_made(code.file, own.base))
    }

    /// Whether code binds variables of another scope: `global words`.
    fn binds(&self, code: Caller) -> bool {
        let definitions = self.job.facts.module(code.file).definitions.iter();
        definitions.filter(|own| own.scope == code.scope).any(|own| own.variable.scope != code.scope)
    }

    /// Whether code changes lists and the like that are made elsewhere: `self.words.append(word)`.
    fn resizes(&self, code: Caller) -> bool {
        let facts = self.job.facts;
        facts.outgoing(code).iter().any(|edge| match facts.solution.object(edge.callee) {
            Object::BuiltinMethod(receiver, _) => {
                facts.effects().of_edge(facts, edge).effects.contains(Effect::UpdatesState)
                    && !self.is_made(receiver)
            }
            _ => false,
        })
    }

    /// Whether the called code itself makes what a value is.
    fn has_made(&self, file: FileId, value: ValueId) -> bool {
        let facts = self.job.facts;
        // What a library returns is new, also where nobody knows what it is.
        let is_returned = matches!(facts.module(file).value(value).value, Value::Call(_));
        let mut objects = facts.solution.values(file, value).iter().copied().peekable();
        is_returned || objects.peek().is_some() && objects.all(|own| self.is_made(own))
    }

    /// Whether an object is made in the stretch, or in the code that it calls.
    fn is_made(&self, object: ObjectId) -> bool {
        let facts = self.job.facts;
        let (Object::Created(_, node) | Object::Instance(_, Some(node)) | Object::Container(_, node)) =
            facts.solution.object(object)
        else {
            return false;
        };
        facts.solution.origin(node).is_some_and(|(file, value)| {
            let module = facts.module(file);
            let made = module.value(value);
            self.code.contains(&Caller { file, scope: module.code_scope(made.scope) })
                || file == self.file && self.within.contains_range(made.range)
        })
    }
}
