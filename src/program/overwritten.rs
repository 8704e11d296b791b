//! Stores to attributes that the same function overwrites before any other code can read them: behind
//! `if rank == 0: flags.port = listen()` and `flags.port = broadcast(flags.port)` nobody sees the first one.

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::influence::Place;
use super::solver::Caller;
use crate::project::FileId;
use crate::semantic::{
    BlockId, CallId, Module, ScopeId, StatementId, StatementKind, Store, StoreKey, Value, ValueId,
};
use crate::syntax::{TextRange, TextSize};

/// How many of the stores behind one are tried: those of the arms of an `if` statement stand before the one that
/// overwrites them all.
const NEARBY: usize = 4;

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
            if let StoreKey::Attribute(name) = store.key
                && facts.function_of(Caller { file, scope: store.scope }).is_some()
            {
                alike.entry((store.scope, module.names.text(name))).or_default().push(index);
            }
        }
        alike.retain(|_, stores| stores.len() > 1);
        let mut stretches = FxHashMap::default();
        if !alike.is_empty() {
            let search = Search { facts, file, module, calls: calls_of_functions(facts, file) };
            for mut stores in alike.into_values() {
                stores.sort_unstable_by_key(|&store| {
                    module.statement(module.stores[store].statement).range.start()
                });
                for (index, &first) in stores.iter().enumerate() {
                    let mut behind = stores[index + 1..].iter().take(NEARBY);
                    let stretch =
                        behind.find_map(|&last| search.stretch(&module.stores[first], &module.stores[last]));
                    stretches.extend(stretch.map(|stretch| (first, stretch)));
                }
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

/// Where the calls of a file begin that call functions of the project, by their scopes and in order.
fn calls_of_functions(facts: &Facts<'_>, file: FileId) -> FxHashMap<ScopeId, Vec<TextSize>> {
    let mut found: FxHashMap<ScopeId, Vec<TextSize>> = FxHashMap::default();
    for (index, call) in facts.module(file).calls.iter().enumerate() {
        if facts.called_functions(file, CallId::new(index)).next().is_some() {
            found.entry(call.scope).or_default().push(call.range.start());
        }
    }
    for starts in found.values_mut() {
        starts.sort_unstable();
    }
    found
}

struct Search<'f, 'a> {
    facts: &'f Facts<'a>,
    file: FileId,
    module: &'a Module,
    calls: FxHashMap<ScopeId, Vec<TextSize>>,
}

impl Search<'_, '_> {
    /// The code from one store to another that overwrites it, if all ways lead there and no other code runs between them.
    fn stretch(&self, first: &Store, last: &Store) -> Option<TextRange> {
        let module = self.module;
        let function = self.facts.function_of(Caller { file: self.file, scope: first.scope })?;
        let (from, to) = (module.statement(first.statement), module.statement(last.statement));
        let is_generator = !module.function(function.function).yields.is_empty();
        if is_generator || !is_same(module, first.base, last.base) || from.range.end() > to.range.start() {
            return None;
        }
        let stretch = TextRange::new(from.range.end(), to.range.end());
        let runs_others = self.calls.get(&first.scope).is_some_and(|starts| {
            let next = starts.partition_point(|&start| start < stretch.start());
            starts.get(next).is_some_and(|&start| start < stretch.end())
        });
        let is_due = !runs_others
            && !is_repeated(module, first.statement)
            && comes_to(module, first.scope, from.block, to.block);
        is_due.then_some(stretch)
    }
}

/// Whether stores are to attributes of the same object.
pub(super) fn is_same(module: &Module, one: ValueId, other: ValueId) -> bool {
    one == other
        || match (&module.value(one).value, &module.value(other).value) {
            (Value::Cell(one), Value::Cell(other)) => one == other,
            _ => false,
        }
}

/// Whether a statement stands in a loop.
fn is_repeated(module: &Module, statement: StatementId) -> bool {
    let mut around = std::iter::once(statement).chain(module.ancestor_ids(statement));
    around.any(|own| matches!(module.statement(own).kind, StatementKind::For | StatementKind::While))
}

/// Whether all ways from a block that do not end in an exception come to another.
pub(crate) fn comes_to(module: &Module, scope: ScopeId, from: BlockId, to: BlockId) -> bool {
    let flow = &module.scope(scope).flow;
    let mut seen: FxHashSet<BlockId> = FxHashSet::default();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if block == to || !seen.insert(block) {
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
