//! The paths that the programs read: what is put there is input, which every rank needs. And those that they write: what
//! is read there may be another rank's.

use rustc_hash::FxHashSet;

use super::super::guards::Key;
use super::super::model::Model;
use super::evaluation::Evaluation;
use super::kept::Kept;
use super::later::Later;
use super::left_out::LeftOut;
use super::modes::opened_for_writing;
use crate::api::Effect;
use crate::program::{Caller, Place};
use crate::project::FileId;
use crate::semantic::{BlockId, CallId};

/// What each program reads and writes, by the file that it begins with.
pub(in crate::ranks) struct Inputs {
    read: FxHashSet<(FileId, Key)>,
    written: FxHashSet<(FileId, Key)>,
    pub(super) later: Later,
    pub(super) kept: Kept,
    pub(super) left_out: LeftOut,
    pub(super) evaluation: Evaluation,
}

impl Inputs {
    pub(in crate::ranks) fn new(model: &Model<'_>) -> Self {
        let facts = model.facts;
        let (mut read_there, mut written) = (FxHashSet::default(), FxHashSet::default());
        for caller in model.callers() {
            let module = facts.module(caller.file);
            for index in 0..module.scope(caller.scope).flow.blocks.len() {
                for &id in &model.blocks.of(caller, BlockId::new(index)).calls {
                    let opened = opened_for_writing(model, caller.file, id);
                    let of = model.programs.iter().filter(|program| program.reached.contains(&caller));
                    if let Some(path) = opened {
                        written.extend(of.map(|program| (program.entry, model.key(path))));
                    } else if let Some(path) = read(model, caller.file, id) {
                        read_there.extend(of.map(|program| (program.entry, model.key(path))));
                    }
                }
            }
        }
        let (later, kept, left_out) = (Later::new(model), Kept::new(model), LeftOut::new(model));
        let evaluation = Evaluation::new(model);
        Self { read: read_there, written, later, kept, left_out, evaluation }
    }

    /// Whether a program that comes to some code reads a path, too.
    pub(super) fn contain(&self, model: &Model<'_>, caller: Caller, path: Place) -> bool {
        is_among(&self.read, model, caller, path)
    }

    /// Whether a program that comes to some code opens a path to write there.
    pub(super) fn are_written(&self, model: &Model<'_>, caller: Caller, path: Place) -> bool {
        is_among(&self.written, model, caller, path)
    }
}

fn is_among(paths: &FxHashSet<(FileId, Key)>, model: &Model<'_>, caller: Caller, path: Place) -> bool {
    let key = model.key(path);
    let mut entries = model.programs.iter().filter(|own| own.reached.contains(&caller)).map(|own| own.entry);
    entries.any(|entry| paths.contains(&(entry, key.clone())))
}

/// The path that a call reads that opens nothing for writing.
fn read(model: &Model<'_>, file: FileId, id: CallId) -> Option<Place> {
    let facts = model.facts;
    let call = facts.module(file).call(id);
    let takes = || facts.called_symbols(file, id).any(|symbol| symbol.has(Effect::ReadsFile));
    let reads = takes() && !facts.asks_for_existence(file, id) || facts.opens(file, call);
    let path = call.arguments.first().filter(|_| reads)?;
    Some((file, path.value))
}
