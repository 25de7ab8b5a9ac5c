// SPDX-License-Identifier: Apache-2.0
//! A line on standard error that shows how long work of unknown length has been going on.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use ringmill_device::progress::{Progress, Step};
use ringmill_runtime::shown::{Bar, is_long};

/// The least duration of work before a line on standard error shows that the work goes on.
const LONG: Duration = Duration::from_secs(1);
/// The time between two updates of the line that shows that work goes on.
const TICK: Duration = Duration::from_millis(200);

/// A line on standard error that shows that work goes on, and for how long. It appears after the work's first second,
/// if standard error is a terminal, and goes when this value is dropped.
pub struct Waiting {
    /// The thread that shows the line, and the sender whose drop ends the thread. It is public for the crate's own
    /// tests.
    #[doc(hidden)]
    pub shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Waiting {
    /// Begins to wait with the line that shows that work goes on. `what` names the work, as in `compiling "mean"`.
    pub fn new(what: String) -> Self {
        Self::told(what, std::io::stderr().is_terminal())
    }

    /// Begins to wait as [`Self::new`] does. The line appears only if `wanted` is set.
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

/// A display that shows that work goes on before its first step is done, and then the steps.
pub struct Going {
    /// The line that shows that work goes on, until the progress bar begins. It is public for the crate's own tests.
    #[doc(hidden)]
    pub waiting: Mutex<Option<Waiting>>,
    bar: Bar,
}

impl Going {
    /// Begins the display. `what` names the work, as in `reproducing the tables of ring`.
    pub fn new(what: String) -> Self {
        Self {
            waiting: Mutex::new(Some(Waiting::new(what))),
            bar: Bar::new(),
        }
    }

    /// Ends the line that shows that work goes on, since the progress bar takes its place.
    fn end(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        drop(waiting.take());
    }
}

impl Progress for Going {
    fn step(&self, step: Step) {
        // Until then no bar is drawn either.
        if is_long(&step) {
            self.end();
        }
        self.bar.step(step);
    }

    fn told(&self, text: &str) {
        self.end();
        self.bar.told(text);
    }
}
