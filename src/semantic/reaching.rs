//! Which definitions of a variable reach a point, and whether a variable is still read after it: classical
//! data flow on demand, for the scopes that a question is asked about.

use rustc_hash::{FxHashMap, FxHashSet};

use super::id::{BlockId, ScopeId};
use super::module::Module;
use super::value::Variable;

/// An event of a variable in the order of evaluation within its block.
#[derive(Clone, Copy, Debug)]
enum Event {
    Use(usize),
    Definition(usize),
}

/// The uses and definitions of one scope's own variables, by block.
#[derive(Debug)]
pub struct Reaching<'a> {
    module: &'a Module,
    scope: ScopeId,
    predecessors: Vec<Vec<BlockId>>,
    events: FxHashMap<(Variable, BlockId), Vec<(u32, Event)>>,
}

impl<'a> Reaching<'a> {
    /// Collects what `scope` does with its variables.
    #[must_use]
    pub fn new(module: &'a Module, scope: ScopeId) -> Self {
        let flow = &module.scope(scope).flow;
        let mut predecessors = vec![Vec::new(); flow.blocks.len()];
        for (index, block) in flow.blocks.iter().enumerate() {
            for successor in &block.successors {
                predecessors[successor.index()].push(BlockId::new(index));
            }
        }
        let mut events: FxHashMap<(Variable, BlockId), Vec<(u32, Event)>> = FxHashMap::default();
        for (index, reading) in module.uses.iter().enumerate() {
            if let Some(variable) = reading.variable
                && reading.scope == scope
            {
                events.entry((variable, reading.block)).or_default().push((reading.order, Event::Use(index)));
            }
        }
        for (index, definition) in module.definitions.iter().enumerate() {
            if definition.scope == scope {
                let event = (definition.order, Event::Definition(index));
                events.entry((definition.variable, definition.block)).or_default().push(event);
            }
        }
        events.values_mut().for_each(|events| events.sort_unstable_by_key(|&(order, _)| order));
        Self { module, scope, predecessors, events }
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
        let last = |block: BlockId, before: u32| {
            let events = self.events.get(&(variable, block))?;
            events.iter().rev().find_map(|&(order, event)| match event {
                Event::Definition(index) if order < before => Some(index),
                _ => None,
            })
        };
        if let Some(index) = last(at, order) {
            return vec![index];
        }
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = self.predecessors[at.index()].clone();
        while let Some(block) = work.pop() {
            if seen.insert(block) {
                match last(block, u32::MAX) {
                    Some(index) => found.push(index),
                    None => work.extend(&self.predecessors[block.index()]),
                }
            }
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
        let definition = &self.module.definitions[definition];
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = vec![(definition.block, definition.order)];
        while let Some((block, after)) = work.pop() {
            let events = self.events.get(&(definition.variable, block)).map_or(&[][..], Vec::as_slice);
            let mut overwritten = false;
            for &(order, event) in events {
                if order <= after {
                    continue;
                }
                match event {
                    Event::Use(index) => found.push(index),
                    Event::Definition(_) => {
                        overwritten = true;
                        break;
                    }
                }
            }
            if !overwritten {
                for &next in &self.module.scope(self.scope).flow.blocks[block.index()].successors {
                    if seen.insert(next) {
                        work.push((next, 0));
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
