//! Which definitions of a variable reach a point, and whether a variable is still read after it: classical
//! data flow on demand, for the scopes that a question is asked about.

use rustc_hash::{FxHashMap, FxHashSet};

use super::flow::Detour;
use super::id::{BlockId, ScopeId};
use super::value::Variable;
use super::{Definition, Module};

/// The uses and definitions of one scope's own variables.
#[derive(Debug)]
pub struct Reaching<'a> {
    module: &'a Module,
    scope: ScopeId,
    predecessors: Vec<Vec<BlockId>>,
    /// Indices into [`Module::definitions`], in the order of evaluation.
    definitions: FxHashMap<Variable, Vec<usize>>,
    /// Indices into [`Module::uses`].
    uses: FxHashMap<Variable, Vec<usize>>,
}

impl<'a> Reaching<'a> {
    /// Collects what `scope` does with its variables.
    #[must_use]
    pub fn new(module: &'a Module, scope: ScopeId) -> Self {
        let flow = &module.scope(scope).flow;
        let mut predecessors = vec![Vec::new(); flow.blocks.len()];
        for (index, block) in flow.blocks.iter().enumerate().filter(|&(index, _)| flow.reachable[index]) {
            for successor in &block.successors {
                predecessors[successor.index()].push(BlockId::new(index));
            }
        }
        let mut uses: FxHashMap<Variable, Vec<usize>> = FxHashMap::default();
        for (index, reading) in module.uses.iter().enumerate() {
            if let Some(variable) = reading.variable
                && reading.scope == scope
            {
                uses.entry(variable).or_default().push(index);
            }
        }
        let mut definitions: FxHashMap<Variable, Vec<usize>> = FxHashMap::default();
        for (index, definition) in module.definitions.iter().enumerate() {
            if definition.scope == scope && flow.is_reachable(definition.block) {
                definitions.entry(definition.variable).or_default().push(index);
            }
        }
        Self { module, scope, predecessors, definitions, uses }
    }

    /// The definitions (indices into [`Module::definitions`]) of the variable that `reading` (an index into
    /// [`Module::uses`], of this scope) may see, in source order.
    #[must_use]
    pub fn definitions(&self, reading: usize) -> Vec<usize> {
        let reading = &self.module.uses[reading];
        let Some(variable) = reading.variable.filter(|_| reading.scope == self.scope) else {
            return Vec::new();
        };
        self.reaching(variable, reading.block, reading.order)
    }

    /// The definitions (indices into [`Module::definitions`]) that the definition (another one, of this scope)
    /// may overwrite, in source order.
    #[must_use]
    pub fn overwritten(&self, definition: usize) -> Vec<usize> {
        let definition = &self.module.definitions[definition];
        self.reaching(definition.variable, definition.block, definition.order)
    }

    fn reaching(&self, variable: Variable, at: BlockId, order: u32) -> Vec<usize> {
        let flow = &self.module.scope(self.scope).flow;
        let all = self.definitions.get(&variable).map_or(&[][..], Vec::as_slice);
        let definition = |index: usize| -> &Definition { &self.module.definitions[index] };
        let last = |block: BlockId, before: u32| {
            let is_in = |&index: &usize| definition(index).block == block && definition(index).order < before;
            all.iter().copied().rev().find(is_in)
        };
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = vec![(at, order)];
        while let Some((block, before)) = work.pop() {
            if let Some(index) = last(block, before) {
                found.push(index);
                continue;
            }
            // It comes from where control came from.
            let mut from = &self.predecessors[block.index()][..];
            match &flow.blocks[block.index()].detour {
                Some(Detour::Exception(stretch)) => {
                    found.extend(
                        all.iter().copied().filter(|&index| stretch.contains(definition(index).order)),
                    );
                }
                Some(Detour::Finally(normal, stretch))
                    if !all.iter().any(|&index| stretch.contains(definition(index).order)) =>
                {
                    from = std::slice::from_ref(normal);
                }
                _ => {}
            }
            work.extend(
                from.iter().copied().filter(|&block| seen.insert(block)).map(|block| (block, u32::MAX)),
            );
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The uses (indices into [`Module::uses`]) that may see the definition (an index into
    /// [`Module::definitions`], of this scope), in source order. The variable is live behind the definition if
    /// there is one.
    #[must_use]
    pub fn uses(&self, definition: usize) -> Vec<usize> {
        let variable = self.module.definitions[definition].variable;
        let readings = self.uses.get(&variable).map_or(&[][..], Vec::as_slice);
        readings.iter().copied().filter(|&reading| self.definitions(reading).contains(&definition)).collect()
    }
}
