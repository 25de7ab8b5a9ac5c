// SPDX-License-Identifier: Apache-2.0
//! A line on standard error for work that doesn't know how much of it is left: that it goes on, and for how long.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::bar::LONG;

/// Between two looks of the line.
const TICK: Duration = Duration::from_millis(200);

/// Shows what goes on while it lives, from its first second on; nothing where standard error is not a terminal.
pub struct Waiting {
    /// Where the crate's own tests look.
    #[doc(hidden)]
    pub shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Waiting {
    /// `what` goes on, as in `compiling "mean"`.
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
            // An error is the end too: the sender has gone.
            let _ = ended.recv();
            bar.finish_and_clear();
        };
        // Nothing depends on the line: without a thread there is none.
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
