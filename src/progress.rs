//! How far a run is, for whoever wants to watch it.

use std::sync::atomic::{AtomicUsize, Ordering};

/// What a run is busy with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Files are read and analysed by themselves.
    #[default]
    Reading,
    /// Values are followed across files, and the checks ask.
    Checking,
    /// Fixes are applied and proved.
    Fixing,
}

/// Counters that a run moves and others look at.
#[derive(Debug, Default)]
pub struct Progress {
    stage: AtomicUsize,
    read: AtomicUsize,
}

const STAGES: [Stage; 3] = [Stage::Reading, Stage::Checking, Stage::Fixing];

impl Progress {
    /// One more file is read.
    pub fn count(&self) {
        self.read.fetch_add(1, Ordering::Relaxed);
    }

    /// A stage begins.
    pub fn enter(&self, stage: Stage) {
        self.stage.store(stage as usize, Ordering::Relaxed);
    }

    /// The stage, and how many files are read.
    #[must_use]
    pub fn now(&self) -> (Stage, usize) {
        let stage = STAGES.get(self.stage.load(Ordering::Relaxed)).copied().unwrap_or_default();
        (stage, self.read.load(Ordering::Relaxed))
    }
}
