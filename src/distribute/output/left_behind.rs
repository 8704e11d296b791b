//! What code of the project leaves behind in objects that were there before it was called: `self.words = ...` in a method that
//! prepares a file. Who does not call it misses that.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::job::Job;
use crate::api::Effect;
use crate::program::{Caller, Facts, Object, ObjectId, Place};
use crate::project::FileId;
use crate::semantic::{CallId, Value, ValueId};
use crate::syntax::TextRange;

/// What each function of a project changes itself.
#[derive(Debug, Default)]
pub(in crate::distribute) struct Changes {
    /// What it sets attributes or elements of.
    stored: FxHashMap<Caller, Vec<Place>>,
    /// The lists and the like whose elements it changes by their methods: `words.append(word)`.
    resized: FxHashMap<Caller, Vec<ObjectId>>,
    /// The functions that bind variables of another scope: `global words`.
    binding: FxHashSet<Caller>,
    /// The code that does one of this, or calls what does.
    leading: FxHashSet<Caller>,
}

impl Changes {
    pub(in crate::distribute) fn of(facts: &Facts<'_>) -> Self {
        let mut own = Self::default();
        for file in facts.modules.files() {
            let module = facts.module(file);
            for store in &module.stores {
                let code = Caller { file, scope: module.code_scope(store.scope) };
                own.stored.entry(code).or_default().push((file, store.base));
            }
            let binds = module.definitions.iter().filter(|own| own.scope != own.variable.scope);
            own.binding.extend(binds.map(|own| Caller { file, scope: own.scope }));
            for (index, call) in module.calls.iter().enumerate() {
                let edges = facts.callees(file, CallId::new(index)).iter();
                let resized = edges.filter_map(|edge| match facts.solution.object(edge.callee) {
                    Object::BuiltinMethod(receiver, _) => {
                        let effects = facts.effects().of_edge(facts, edge).effects;
                        effects.contains(Effect::UpdatesState).then_some(receiver)
                    }
                    _ => None,
                });
                let code = Caller { file, scope: module.code_scope(call.scope) };
                for list in resized {
                    own.resized.entry(code).or_default().push(list);
                }
            }
        }
        let itself = own.stored.keys().chain(own.resized.keys()).chain(&own.binding);
        let mut work: Vec<Caller> = itself.copied().collect();
        while let Some(code) = work.pop() {
            if own.leading.insert(code)
                && let Some(function) = facts.function_of(code)
            {
                work.extend(facts.incoming(function).iter().map(|edge| edge.caller));
            }
        }
        own
    }
}

/// Whether functions of the project that a call runs change objects made outside of a stretch around it, or variables of
/// modules.
pub(super) fn changes_objects(job: &Job<'_>, file: FileId, call: CallId, within: TextRange) -> bool {
    let facts = job.facts;
    let changes = job.common.changes(facts);
    let functions = facts.called_functions(file, call);
    let mut work: Vec<Caller> = functions.map(|function| facts.code_of(function)).collect();
    if !work.iter().any(|code| changes.leading.contains(code)) {
        return false;
    }
    let mut code = FxHashSet::default();
    while let Some(caller) = work.pop() {
        if code.insert(caller) {
            work.extend(facts.reached_functions(caller).map(|(_, function)| facts.code_of(function)));
        }
    }
    let made = Made { facts, code: &code, within: (file, within) };
    code.iter().any(|caller| {
        let stored = changes.stored.get(caller).into_iter().flatten();
        let resized = changes.resized.get(caller).into_iter().flatten();
        changes.binding.contains(caller)
            || stored.copied().any(|(file, base)| !made.has_value(file, base))
            || resized.copied().any(|list| !made.has(list))
    })
}

/// What code makes itself, or a stretch that calls it.
struct Made<'m> {
    facts: &'m Facts<'m>,
    code: &'m FxHashSet<Caller>,
    within: (FileId, TextRange),
}

impl Made<'_> {
    fn has_value(&self, file: FileId, value: ValueId) -> bool {
        // What a library returns is new, also where nobody knows what it is.
        let is_returned = matches!(self.facts.module(file).value(value).value, Value::Call(_));
        // Objects that one class makes here and elsewhere share its methods: what those change is taken for what is made here.
        is_returned || self.facts.solution.values(file, value).iter().any(|&own| self.has(own))
    }

    fn has(&self, object: ObjectId) -> bool {
        let (Object::Created(_, node) | Object::Instance(_, Some(node)) | Object::Container(_, node)) =
            self.facts.solution.object(object)
        else {
            return false;
        };
        self.facts.solution.origin(node).is_some_and(|(file, value)| {
            let module = self.facts.module(file);
            let made = module.value(value);
            let (of, within) = self.within;
            self.code.contains(&Caller { file, scope: module.code_scope(made.scope) })
                || file == of && within.contains_range(made.range)
        })
    }
}
