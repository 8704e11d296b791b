//! Stores to attributes that the same function overwrites before any other code can read them: behind
//! `if rank == 0: flags.port = listen()` and `flags.port = broadcast(flags.port)` nobody sees the first one.

use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::influence::Place;
use super::solver::Caller;
use crate::project::FileId;
use crate::semantic::{BlockId, Call, CallId, Module, ScopeId, Store, StoreKey, Value, ValueId};
use crate::syntax::TextRange;

/// Where what some stores of a file put into attributes can be read, for those that are overwritten.
pub(super) struct Overwritten<'a> {
    file: FileId,
    module: &'a Module,
    stretches: FxHashMap<usize, TextRange>,
}

impl<'a> Overwritten<'a> {
    pub(super) fn new(facts: &Facts<'a>, file: FileId) -> Self {
        let module = facts.module(file);
        let mut alike: FxHashMap<(ScopeId, &str), Vec<usize>> = FxHashMap::default();
        for (index, store) in module.stores.iter().enumerate() {
            if let StoreKey::Attribute(name) = store.key {
                alike.entry((store.scope, module.names.text(name))).or_default().push(index);
            }
        }
        let mut stretches = FxHashMap::default();
        for stores in alike.values().filter(|stores| stores.len() > 1) {
            for &first in stores {
                let mut others = stores.iter().filter(|&&other| other != first);
                let stretch = others
                    .find_map(|&other| stretch(facts, file, &module.stores[first], &module.stores[other]));
                stretches.extend(stretch.map(|stretch| (first, stretch)));
            }
        }
        Self { file, module, stretches }
    }

    /// Whether a value may read what a store of the file puts into its attribute.
    pub(super) fn is_read(&self, store: usize, (file, read): Place) -> bool {
        let Some(stretch) = self.stretches.get(&store) else { return true };
        let module = self.module;
        file == self.file && {
            let read = module.value(read);
            module.code_scope(read.scope) == module.stores[store].scope && stretch.contains_range(read.range)
        }
    }
}

/// The code from one store to another that overwrites it, if all ways lead there and no other code runs between them.
fn stretch(facts: &Facts<'_>, file: FileId, first: &Store, last: &Store) -> Option<TextRange> {
    let module = facts.module(file);
    let function = facts.function_of(Caller { file, scope: first.scope })?;
    let (from, to) = (module.statement(first.statement), module.statement(last.statement));
    let is_generator = !module.function(function.function).yields.is_empty();
    if is_generator || !is_same(module, first.base, last.base) || from.range.end() > to.range.start() {
        return None;
    }
    let stretch = TextRange::new(from.range.end(), to.range.end());
    let runs_others = |(index, own): (usize, &Call)| {
        own.scope == first.scope
            && stretch.contains_range(own.range)
            && facts.called_functions(file, CallId::new(index)).next().is_some()
    };
    (comes_to(module, first.scope, from.block, to.block) && !module.calls.iter().enumerate().any(runs_others))
        .then_some(stretch)
}

/// Whether stores are to attributes of the same object.
fn is_same(module: &Module, one: ValueId, other: ValueId) -> bool {
    one == other
        || match (&module.value(one).value, &module.value(other).value) {
            (Value::Cell(one), Value::Cell(other)) => one == other,
            _ => false,
        }
}

/// Whether all ways from a block that do not end in an exception come to another, and none comes back.
fn comes_to(module: &Module, scope: ScopeId, from: BlockId, to: BlockId) -> bool {
    let flow = &module.scope(scope).flow;
    if flow.leads(from, from) {
        return false;
    }
    let mut seen = vec![false; flow.blocks.len()];
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if block == to || std::mem::replace(&mut seen[block.index()], true) {
            continue;
        }
        let next = &flow.blocks[block.index()].successors;
        if next.is_empty() && !module.raises(scope, block) {
            return false;
        }
        work.extend(next);
    }
    true
}
