// SPDX-License-Identifier: Apache-2.0
//! A line on standard error that shows how long work of unknown length has been going on.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::bar::LONG;

/// The time between two updates of the line.
const TICK: Duration = Duration::from_millis(200);

/// Shows the line from the work's first second until it is dropped, if standard error is a terminal.
pub struct Waiting {
    /// Where the crate's own tests look.
    #[doc(hidden)]
    pub shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Waiting {
    /// Begins to show that `what` goes on, as in `compiling "mean"`.
    pub fn new(what: String) -> Self {
        Self::told(what, std::io::stderr().is_terminal())
    }

    /// As [`Self::new`], by who knows whether the line is wanted.
    #[doc(hidden)]
    pub fn told(what: String, wanted: bool) -> Self {
        let begin = Instant::now();
        let (done, ended) = channel();
        let line = move || {
            if ended.recv_timeout(LONG) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner().with_elapsed(begin.elapsed());
            if let Ok(style) = ProgressStyle::with_template("{msg}, {elapsed}") {
                bar.set_style(style);
            }
            bar.set_message(what);
            bar.enable_steady_tick(TICK);
            // An error also means the end: the sender is gone.
            let _ = ended.recv();
            bar.finish_and_clear();
        };
        // Nothing depends on the line, so it is left out if there is no thread.
        let thread = wanted.then(|| thread::Builder::new().spawn(line).ok());
        Self {
            shown: thread.flatten().map(|thread| (done, thread)),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.shown.take() {
            drop(done);
            let _ = thread.join();
        }
    }
}
