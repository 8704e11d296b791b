//! The progress bar on standard error: for people at a terminal who have waited for a second.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::GlobalArgs;
use crate::progress::{Progress, Stage};

/// A run that is done sooner shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAWN: Duration = Duration::from_millis(100);

/// A bar that goes away when this is dropped. What is printed meanwhile would be drawn over.
pub(super) struct Bar {
    /// Dropped to stop the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    /// Watches `progress` over `files` files, if somebody may be looking.
    pub(super) fn watch(progress: &Arc<Progress>, files: usize, global: &GlobalArgs) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if global.quiet || is_dumb || !io::stderr().is_terminal() {
            return Self { stop: None, thread: None };
        }
        let (stop, stopped) = mpsc::channel::<()>();
        let progress = Arc::clone(progress);
        let draw = move || {
            if stopped.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = bar(files);
            while stopped.recv_timeout(REDRAWN) == Err(RecvTimeoutError::Timeout) {
                let (stage, read) = progress.now();
                bar.set_position(u64::try_from(read.min(files)).unwrap_or(0));
                bar.set_message(match stage {
                    Stage::Reading => "reading",
                    Stage::Checking => "checking",
                    Stage::Fixing => "proving fixes",
                });
            }
            bar.finish_and_clear();
        };
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(draw).ok();
        Self { stop: Some(stop), thread }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A bar that could not be drawn is no reason to fail.
            _ = thread.join();
        }
    }
}

fn bar(files: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("hvdlint: {bar:30} {pos}/{len} files, {msg}");
    let target = ProgressDrawTarget::stderr();
    let bar = ProgressBar::with_draw_target(u64::try_from(files).ok(), target);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
