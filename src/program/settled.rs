//! Attributes that a function has stored to itself before it reads them: behind `self.step = broadcast(self.step)` it sees
//! what it has put there, and not what other code did before.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::influence::Place;
use super::modules::FunctionRef;
use super::overwritten::is_same;
use super::solver::Caller;
use crate::project::FileId;
use crate::semantic::{
    BlockId, CallId, Dominance, Flow, Module, ScopeId, StatementId, StatementKind, Store, StoreKey, Value,
    ValueId,
};
use crate::syntax::TextSize;

/// How many functions are searched for other stores that are called between a store and a read.
const CALLED: usize = 64;

/// The code that stores to the attributes of each name.
#[derive(Default)]
pub(super) struct Stored<'a> {
    by_name: FxHashMap<&'a str, FxHashSet<Caller>>,
}

impl<'a> Stored<'a> {
    pub(super) fn new(facts: &Facts<'a>) -> Self {
        let mut own = Self::default();
        for file in facts.files() {
            let module = facts.module(file);
            for store in &module.stores {
                if let StoreKey::Attribute(name) = store.key {
                    let storing = Caller { file, scope: store.scope };
                    own.by_name.entry(module.names.text(name)).or_default().insert(storing);
                }
            }
        }
        own
    }

    /// Whether several functions store to attributes of a name: a function sees more than its own.
    fn is_shared(&self, name: &str) -> bool {
        self.by_name.get(name).is_some_and(|storing| storing.len() > 1)
    }
}

/// The reads of attributes in a file that see only what their own function stores, each with the function.
pub(super) fn settled<'a>(facts: &Facts<'a>, file: FileId, stored: &Stored<'a>) -> Vec<(Place, Caller)> {
    settled_in(facts, file, stored, |scope| Some(&facts.module(file).scope(scope).flow))
}

/// The reads of attributes that see only what their own function stores if control goes these ways in some scopes, each
/// with the function.
#[must_use]
pub fn settled_along(facts: &Facts<'_>, flows: &FxHashMap<Caller, Flow>) -> Vec<(Place, Caller)> {
    let files: BTreeSet<FileId> = flows.keys().map(|caller| caller.file).collect();
    let stored = Stored::new(facts);
    let of_file = |file| settled_in(facts, file, &stored, move |scope| flows.get(&Caller { file, scope }));
    files.into_iter().flat_map(of_file).collect()
}

fn settled_in<'f, 'a: 'f>(
    facts: &'f Facts<'a>,
    file: FileId,
    stored: &'f Stored<'a>,
    flow_of: impl Fn(ScopeId) -> Option<&'f Flow>,
) -> Vec<(Place, Caller)> {
    let module = facts.module(file);
    let mut stores: FxHashMap<(ScopeId, &str), Vec<&Store>> = FxHashMap::default();
    for store in &module.stores {
        let StoreKey::Attribute(name) = store.key else { continue };
        let name = module.names.text(name);
        let function = || facts.function_of(Caller { file, scope: store.scope });
        let is_generator = |own: FunctionRef| !module.function(own.function).yields.is_empty();
        if stored.is_shared(name) && function().is_some_and(|own| !is_generator(own)) {
            stores.entry((store.scope, name)).or_default().push(store);
        }
    }
    if stores.is_empty() {
        return Vec::new();
    }
    let names: FxHashMap<TextSize, (ScopeId, BlockId)> =
        module.uses.iter().map(|own| (own.range.start(), (own.scope, own.block))).collect();
    let mut codes: FxHashMap<ScopeId, Code<'_, 'a>> = FxHashMap::default();
    let mut found = Vec::new();
    for (index, evaluation) in module.values.iter().enumerate() {
        let Value::Attribute { base, name, .. } = evaluation.value else { continue };
        let (scope, name) = (module.code_scope(evaluation.scope), module.names.text(name));
        let Some(stores) = stores.get(&(scope, name)) else { continue };
        // It begins with the name of the object.
        let start = evaluation.range.start();
        let Some(&(_, block)) = names.get(&start).filter(|(of, _)| *of == scope) else { continue };
        let Some(flow) = flow_of(scope) else { continue };
        let code =
            codes.entry(scope).or_insert_with(|| Code::new(facts, stored, Caller { file, scope }, flow));
        let mut same = stores.iter().filter(|store| is_same(module, store.base, base));
        if same.any(|store| code.settles(store, name, block, start)) {
            found.push(((file, ValueId::new(index)), Caller { file, scope }));
        }
    }
    found
}

/// A function that stores to attributes and reads them.
struct Code<'f, 'a> {
    facts: &'f Facts<'a>,
    stored: &'f Stored<'a>,
    file: FileId,
    module: &'a Module,
    flow: &'f Flow,
    dominance: Dominance,
    /// Its calls of functions of the project.
    calls: Vec<CallId>,
    /// Whether calls come to stores to attributes of a name, as far as somebody asked before.
    known: FxHashMap<(CallId, &'a str), bool>,
}

impl<'f, 'a> Code<'f, 'a> {
    fn new(facts: &'f Facts<'a>, stored: &'f Stored<'a>, caller: Caller, flow: &'f Flow) -> Self {
        let file = caller.file;
        let module = facts.module(file);
        let mut calls: Vec<CallId> =
            facts.reached_functions(caller).filter_map(|(edge, _)| edge.call).collect();
        calls.sort_unstable();
        calls.dedup();
        Self {
            facts,
            stored,
            file,
            module,
            flow,
            dominance: flow.dominance(),
            calls,
            known: FxHashMap::default(),
        }
    }

    /// Whether all ways to a read of the same attribute come from a store, and no other code that stores to it runs between.
    fn settles(&mut self, store: &Store, name: &'a str, to: BlockId, read: TextSize) -> bool {
        let statement = self.module.statement(store.statement);
        let (from, end) = (statement.block, statement.range.end());
        let between: Vec<CallId> = if from == to && end <= read {
            let call = |id: &CallId| self.module.call(*id);
            let is_between = |id: &CallId| {
                call(id).block == from && call(id).range.start() >= end && call(id).range.start() < read
            };
            self.calls.iter().copied().filter(is_between).collect()
        } else if from != to && self.dominance.dominates(from, to) && !is_tried(self.module, store.statement)
        {
            let behind = self.flow.behind(from);
            let is_behind = |id: &CallId| {
                let call = self.module.call(*id);
                if call.block == from { call.range.start() >= end } else { behind.contains(&call.block) }
            };
            self.calls.iter().copied().filter(is_behind).collect()
        } else {
            return false;
        };
        !between.into_iter().any(|call| self.comes_to_store(call, name))
    }

    /// Whether what a call calls may store to attributes of a name.
    fn comes_to_store(&mut self, call: CallId, name: &'a str) -> bool {
        if let Some(&known) = self.known.get(&(call, name)) {
            return known;
        }
        let storing = self.stored.by_name.get(name);
        let facts = self.facts;
        let mut seen: FxHashSet<Caller> = FxHashSet::default();
        let mut work: Vec<Caller> =
            facts.called_functions(self.file, call).map(|own| facts.code_of(own)).collect();
        let mut found = false;
        while let Some(code) = work.pop() {
            if seen.insert(code) {
                found |= storing.is_some_and(|storing| storing.contains(&code)) || seen.len() > CALLED;
                if found {
                    break;
                }
                work.extend(facts.reached_functions(code).map(|(_, own)| facts.code_of(own)));
            }
        }
        self.known.insert((call, name), found);
        found
    }
}

/// Whether an exception may keep a statement from being run, and the code behind it not.
fn is_tried(module: &Module, statement: StatementId) -> bool {
    module.ancestor_ids(statement).any(|own| module.statement(own).kind == StatementKind::Try)
}
