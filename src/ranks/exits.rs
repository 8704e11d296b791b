//! Who decides what runs in code that may end the program: behind `if hvd.rank() > 0: sys.exit()` comes rank 0 alone.

use rustc_hash::{FxHashMap, FxHashSet};

use super::model::Model;
use crate::api::Effect;
use crate::program::{Caller, Facts};
use crate::project::FileId;
use crate::semantic::{BlockId, ControlDependence, Flow};

/// The scopes that may end the program.
#[derive(Debug, Default)]
pub(super) struct Exits {
    /// The blocks that do.
    blocks: FxHashMap<Caller, FxHashSet<BlockId>>,
    control: FxHashMap<Caller, ControlDependence>,
}

impl Exits {
    /// Of the scopes of some files.
    pub(super) fn new(facts: &Facts<'_>, files: &[FileId]) -> Self {
        let mut blocks: FxHashMap<Caller, FxHashSet<BlockId>> = FxHashMap::default();
        for (file, id) in facts.calls_with(Effect::Exits).filter(|(file, _)| files.contains(file)) {
            // A function that is handed on is called later, if at all.
            let ends = |own: &crate::api::Symbol| own.has(Effect::Exits) && own.calls().is_empty();
            if facts.called_symbols(file, id).any(ends) {
                let call = facts.module(file).call(id);
                blocks.entry(Caller { file, scope: call.scope }).or_default().insert(call.block);
            }
        }
        let control = blocks.iter().map(|(&caller, ends)| {
            let mut flow = facts.module(caller.file).scope(caller.scope).flow.blocks.clone();
            for (index, block) in flow.iter_mut().enumerate() {
                if ends.contains(&BlockId::new(index)) {
                    block.successors.clear();
                    block.branch = None;
                }
            }
            (caller, Flow::new(flow).control_dependence())
        });
        let control = control.collect();
        Self { blocks, control }
    }

    /// Whether a block ends the program.
    pub(super) fn ends(&self, caller: Caller, block: BlockId) -> bool {
        self.blocks.get(&caller).is_some_and(|ends| ends.contains(&block))
    }
}

impl Model<'_> {
    /// Who decides whether the blocks of a scope run.
    pub(super) fn control(&self, caller: Caller) -> &ControlDependence {
        self.exits.control.get(&caller).unwrap_or_else(|| self.facts.control(caller))
    }
}
