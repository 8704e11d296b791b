//! What only a single process brings to where ways meet: behind `if hvd.size() > 1: step = hvd.broadcast_object(step)` several
//! ranks have what was broadcast, and not what was there before.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::blocks::Blocks;
use super::super::closed::Closed;
use crate::program::{Caller, Facts, Place, settled_along};
use crate::project::FileId;
use crate::semantic::{BlockId, Flow, Module, NameId, StatementKind, StoreKey, Value, ValueId, Variable};

/// So many definitions of a variable are told apart, each by a bit.
const DEFINITIONS: usize = 64;

/// So many merged values are looked through for the definitions that they merge.
const MERGED: usize = 64;

/// The parts of merged values, and what is stored to attributes, that none of several ranks has where these are read.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    left_out: FxHashSet<(Place, Place)>,
}

impl Meeting {
    pub(super) fn new(facts: &Facts<'_>, blocks: &Blocks, closed: &Closed, files: &[FileId]) -> Self {
        let flows = closed.flows(facts);
        let mut left_out = FxHashSet::default();
        if !flows.is_empty() {
            left_out.extend(merged(facts, blocks, &flows, files));
            left_out.extend(stored(facts, &flows));
        }
        Self { left_out }
    }

    /// Whether none of several ranks has a value where it goes into another.
    pub(super) fn leaves_out(&self, part: Place, whole: Place) -> bool {
        !self.left_out.is_empty() && self.left_out.contains(&(whole, part))
    }
}

/// The parts of variables' merged values.
fn merged(
    facts: &Facts<'_>,
    blocks: &Blocks,
    flows: &FxHashMap<Caller, Flow>,
    files: &[FileId],
) -> Vec<(Place, Place)> {
    let with_flows: FxHashSet<FileId> = flows.keys().map(|caller| caller.file).collect();
    let mut merged: FxHashMap<(Caller, Variable), Vec<ValueId>> = FxHashMap::default();
    for &file in files.iter().filter(|file| with_flows.contains(file)) {
        let module = facts.module(file);
        for (index, own) in module.values.iter().enumerate() {
            let (value, caller) = (ValueId::new(index), Caller { file, scope: module.code_scope(own.scope) });
            if let Value::Phi(_) = own.value
                && let &[variable] = blocks.names_of((file, value))
                && variable.scope == caller.scope
                && flows.contains_key(&caller)
            {
                merged.entry((caller, variable)).or_default().push(value);
            }
        }
    }
    let left_out = |((caller, variable), merged): ((Caller, Variable), Vec<ValueId>)| {
        let held = Held::new(facts.module(caller.file), blocks, &flows[&caller], caller, variable);
        held.map(|held| held.left_out(&merged)).unwrap_or_default()
    };
    merged.into_iter().flat_map(left_out).collect()
}

/// What other functions have stored to attributes that a function reads behind a store of its own.
fn stored(facts: &Facts<'_>, flows: &FxHashMap<Caller, Flow>) -> Vec<(Place, Place)> {
    let settled = settled_along(facts, flows);
    let mut stored: FxHashMap<(Caller, NameId), FxHashSet<ValueId>> = FxHashMap::default();
    for file in settled.iter().map(|&((file, _), _)| file).collect::<BTreeSet<FileId>>() {
        for store in &facts.module(file).stores {
            if let StoreKey::Attribute(name) = store.key {
                let storing = Caller { file, scope: store.scope };
                stored.entry((storing, name)).or_default().insert(store.value);
            }
        }
    }
    let mut found = Vec::new();
    for (read @ (file, value), caller) in settled {
        let Value::Attribute { base, name, narrowed } = facts.module(file).value(value).value else {
            continue;
        };
        let is_own = |from: Place| {
            let is_stored = || stored.get(&(caller, name)).is_some_and(|own| own.contains(&from.1));
            from.0 == file && (from.1 == base || Some(from.1) == narrowed || is_stored())
        };
        let others = facts.influence().operands(read).filter(|&from| !is_own(from));
        found.extend(others.map(|from| (read, from)));
    }
    found
}

/// What a variable holds in each block of its scope that several ranks come to.
struct Held<'h> {
    module: &'h Module,
    blocks: &'h Blocks,
    caller: Caller,
    variable: Variable,
    /// The definitions of each value.
    definitions: FxHashMap<ValueId, u64>,
    /// By block, those that may hold where it begins.
    at: Vec<u64>,
}

impl<'h> Held<'h> {
    fn new(
        module: &'h Module,
        blocks: &'h Blocks,
        flow: &Flow,
        caller: Caller,
        variable: Variable,
    ) -> Option<Self> {
        let mut definitions: FxHashMap<ValueId, u64> = FxHashMap::default();
        let mut bound: Vec<u64> = vec![0; flow.blocks.len()];
        let mut binds_always = vec![false; flow.blocks.len()];
        let mut count = 0;
        for index in 0..flow.blocks.len() {
            for &definition in &blocks.of(caller, BlockId::new(index)).definitions {
                let own = &module.definitions[definition as usize];
                if own.variable == variable {
                    let bit = 1_u64.checked_shl(count).filter(|_| (count as usize) < DEFINITIONS)?;
                    count += 1;
                    *definitions.entry(own.value).or_default() |= bit;
                    bound[index] |= bit;
                    // An exception may leave the block before.
                    let mut around = own.statement.into_iter().flat_map(|own| module.ancestor_ids(own));
                    binds_always[index] |= own.statement.is_some()
                        && !around.any(|around| module.statement(around).kind == StatementKind::Try);
                }
            }
        }
        let mut at = vec![0; flow.blocks.len()];
        let mut seen = vec![false; flow.blocks.len()];
        let mut work: VecDeque<BlockId> = std::iter::once(Flow::ENTRY).collect();
        while let Some(block) = work.pop_front() {
            let own = block.index();
            seen[own] = true;
            let behind = if binds_always[own] { bound[own] } else { at[own] | bound[own] };
            for &next in &flow.blocks[own].successors {
                let known = at[next.index()];
                if !seen[next.index()] || known | behind != known {
                    at[next.index()] |= behind;
                    work.push_back(next);
                }
            }
        }
        Some(Self { module, blocks, caller, variable, definitions, at })
    }

    /// The parts of merged values that several ranks never have where these are read.
    fn left_out(&self, merged: &[ValueId]) -> Vec<(Place, Place)> {
        let file = self.caller.file;
        let mut users: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
        for &value in merged {
            for &part in self.parts(value) {
                users.entry(part).or_default().push(value);
            }
        }
        let mut found = Vec::new();
        for &value in merged {
            let Some(read) = self.read(value, &users) else { continue };
            let parts = self.parts(value).iter();
            let out = parts.filter(|&&part| self.bound_by(part).is_some_and(|bound| bound & read == 0));
            found.extend(out.map(|&part| ((file, value), (file, part))));
        }
        found
    }

    fn parts(&self, value: ValueId) -> &[ValueId] {
        match &self.module.value(value).value {
            Value::Phi(parts) => parts,
            _ => &[],
        }
    }

    /// The definitions that may hold where a merged value is read, by itself or merged again; nothing if that is not
    /// known.
    fn read(&self, value: ValueId, users: &FxHashMap<ValueId, Vec<ValueId>>) -> Option<u64> {
        let mut found = None;
        Self::follow(value, |own| {
            for (reader, block) in self.blocks.readers((self.caller.file, own), self.variable) {
                // A function that is defined here reads it at any time.
                let here = if reader == self.caller { self.at[block.index()] } else { u64::MAX };
                found = Some(found.unwrap_or_default() | here);
            }
            users.get(&own).map_or(&[], Vec::as_slice)
        })?;
        found
    }

    /// The definitions that bind what a value may be; nothing if it comes from elsewhere.
    fn bound_by(&self, value: ValueId) -> Option<u64> {
        let mut found = Some(0);
        Self::follow(value, |own| {
            let parts = self.parts(own);
            if parts.is_empty() || self.definitions.contains_key(&own) {
                let bound = self.definitions.get(&own);
                found = found.zip(bound).map(|(found, bound)| found | bound);
            }
            parts
        })?;
        found
    }

    /// Goes from value to value, each once; nothing if there are too many.
    fn follow<'v>(from: ValueId, mut next: impl FnMut(ValueId) -> &'v [ValueId]) -> Option<()> {
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut work = vec![from];
        while let Some(value) = work.pop() {
            if seen.insert(value) {
                if seen.len() > MERGED {
                    return None;
                }
                work.extend(next(value));
            }
        }
        Some(())
    }
}
