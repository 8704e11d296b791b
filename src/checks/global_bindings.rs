//! Global variables that hold objects of a kind: who binds them, and which functions read them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::api::Kind;
use crate::finding::Location;
use crate::program::{Caller, Facts, Object};
use crate::project::FileId;
use crate::semantic::{BlockId, DefinitionKind, Module, ScopeId, StoreKey, ValueId, Variable};
use crate::syntax::{TextRange, TextSize};

/// A binding of a global variable to an object of the kind.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Whose code binds; another file's only by `module.name = ...`.
    pub caller: Caller,
    /// The variable's name, or the target.
    pub range: TextRange,
    /// What is bound.
    pub value: ValueId,
    block: BlockId,
    order: u32,
}

impl Binding {
    /// Where it is.
    #[must_use]
    pub fn location(&self) -> Location {
        Location::new(self.caller.file, self.range)
    }

    /// Whether it runs when the module is loaded.
    #[must_use]
    pub fn is_of_module(&self, file: FileId) -> bool {
        self.caller == Caller { file, scope: Module::TOP }
    }
}

/// `module.name = object`, by the module's file and the name.
pub type Elsewhere<'a> = FxHashMap<(FileId, &'a str), Vec<Binding>>;

/// The objects of the kind that code stores into modules' variables.
#[must_use]
pub fn stores_into_modules<'a>(facts: &Facts<'a>, kind: Kind) -> Elsewhere<'a> {
    let mut found = Elsewhere::default();
    for file in facts.files().filter(|&file| facts.has_any(file, |held| held == kind)) {
        let module = facts.module(file);
        for store in &module.stores {
            let StoreKey::Attribute(name) = store.key else { continue };
            for (_, object) in facts.objects(file, store.base) {
                if let Object::Module(target) = object
                    && facts.may_be(file, store.value, kind)
                {
                    let caller = Caller { file, scope: store.scope };
                    let block = module.statement(store.statement).block;
                    let binding = Binding { caller, range: store.range, value: store.value, block, order: 0 };
                    found.entry((target, module.names.text(name))).or_default().push(binding);
                }
            }
        }
    }
    found
}

/// The bindings of the module's variables to objects of the kind, in source order, other files' last.
#[must_use]
pub fn bindings(
    facts: &Facts<'_>,
    file: FileId,
    kind: Kind,
    elsewhere: &Elsewhere<'_>,
) -> FxHashMap<Variable, Vec<Binding>> {
    let module = facts.module(file);
    let mut found: FxHashMap<Variable, Vec<Binding>> = FxHashMap::default();
    for definition in &module.definitions {
        // What another module made is bound by the import, in the order that imports have.
        if definition.variable.scope != Module::TOP
            || matches!(definition.kind, DefinitionKind::Import | DefinitionKind::Deletion)
            || !facts.may_be(file, definition.value, kind)
        {
            continue;
        }
        let caller = Caller { file, scope: definition.scope };
        let (range, value, block) = (definition.range, definition.value, definition.block);
        let binding = Binding { caller, range, value, block, order: definition.order };
        found.entry(definition.variable).or_default().push(binding);
    }
    for (index, symbol) in (0..).zip(&module.scope(Module::TOP).symbols) {
        if let Some(stores) = elsewhere.get(&(file, module.names.text(symbol.name))) {
            let variable = Variable { scope: Module::TOP, symbol: index };
            found.entry(variable).or_default().extend(stores);
        }
    }
    for bindings in found.values_mut() {
        bindings.sort_by_key(|binding| (binding.caller.file != file, binding.location()));
    }
    found
}

/// A function's reading of a global variable.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The outermost function: its definition is what the module executes.
    pub function: ScopeId,
    /// Where that begins.
    pub begins: TextSize,
    /// What reads.
    pub range: TextRange,
}

/// The functions' readings of a global variable, in the order of the functions.
#[must_use]
pub fn uses_in_functions(module: &Module, variable: Variable) -> Vec<Reading> {
    let readings = module.uses.iter().filter(|reading| reading.variable == Some(variable));
    let mut found: Vec<Reading> = readings
        .filter_map(|reading| {
            let function = outermost_function(module, reading.scope)?;
            Some(Reading { function, begins: module.scope(function).range.start(), range: reading.range })
        })
        .collect();
    found.sort_by_key(|reading| (reading.begins, reading.range.start()));
    found
}

/// The function or lambda around a scope that stands in no other; `None` for code that runs with the module.
#[must_use]
pub fn outermost_function(module: &Module, scope: ScopeId) -> Option<ScopeId> {
    let mut found = None;
    let mut scope = module.code_scope(scope);
    while scope != Module::TOP {
        found = Some(scope);
        scope = module.code_scope(module.scope(scope).parent?);
    }
    found
}

/// Whether control can come from one binding to the other, both of the module's own code.
#[must_use]
pub fn is_before(module: &Module, first: &Binding, second: &Binding) -> bool {
    if first.block == second.block && first.order < second.order {
        return true;
    }
    let blocks = &module.scope(Module::TOP).flow.blocks;
    let mut work = blocks[first.block.index()].successors.clone();
    let mut seen = FxHashSet::default();
    while let Some(block) = work.pop() {
        if block == second.block {
            return true;
        }
        if seen.insert(block) {
            work.extend(&blocks[block.index()].successors);
        }
    }
    false
}
