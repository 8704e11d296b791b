//! What the thread that listens tells the one that works, while it works.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use lsp_server::RequestId;

/// Which message changed texts last, and which answers nobody waits for any more.
#[derive(Debug, Default)]
pub(super) struct Watch {
    newest: AtomicU64,
    cancelled: Mutex<HashSet<RequestId>>,
}

impl Watch {
    /// Takes down that everything that is known so far is about to be out of date; gives the number of that.
    pub(super) fn supersede(&self) -> u64 {
        self.newest.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// The number of the last change.
    pub(super) fn newest(&self) -> u64 {
        self.newest.load(Ordering::SeqCst)
    }

    /// Takes down that nobody waits for an answer.
    pub(super) fn cancel(&self, id: RequestId) {
        self.requests().insert(id);
    }

    /// Whether nobody waits for an answer.
    pub(super) fn is_cancelled(&self, id: &RequestId) -> bool {
        self.requests().contains(id)
    }

    /// Forgets a request that is answered.
    pub(super) fn answered(&self, id: &RequestId) {
        self.requests().remove(id);
    }

    fn requests(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        // A set of numbers is whole whatever has happened.
        self.cancelled.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
