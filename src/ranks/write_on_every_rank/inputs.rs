//! The paths that the programs read: what is put there is input, which every rank needs.

use rustc_hash::FxHashSet;

use super::super::guards::Key;
use super::super::model::Model;
use super::modes::opened_for_writing;
use crate::api::Effect;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId};

/// What each program reads, by the file that it begins with.
pub(in crate::ranks) struct Inputs(FxHashSet<(FileId, Key)>);

impl Inputs {
    pub(in crate::ranks) fn new(model: &Model<'_>) -> Self {
        let facts = model.facts;
        let mut found = FxHashSet::default();
        for caller in model.callers() {
            let module = facts.module(caller.file);
            for index in 0..module.scope(caller.scope).flow.blocks.len() {
                for &id in &model.blocks.of(caller, BlockId::new(index)).calls {
                    let Some(path) = read(model, caller.file, id) else { continue };
                    let of = model.programs.iter().filter(|program| program.reached.contains(&caller));
                    found.extend(of.map(|program| (program.entry, model.key(path))));
                }
            }
        }
        Self(found)
    }

    /// Whether a program that comes to some code reads a path, too.
    pub(super) fn contain(&self, model: &Model<'_>, caller: Caller, path: Place) -> bool {
        let key = model.key(path);
        let mut entries =
            model.programs.iter().filter(|own| own.reached.contains(&caller)).map(|own| own.entry);
        entries.any(|entry| self.0.contains(&(entry, key.clone())))
    }
}

/// The path that a call reads.
fn read(model: &Model<'_>, file: FileId, id: CallId) -> Option<Place> {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    let reads =
        facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::ReadsFile)) || facts.opens(file, call);
    let path = call.arguments.first().filter(|_| reads && opened_for_writing(model, file, id).is_none())?;
    Some((file, path.value))
}
