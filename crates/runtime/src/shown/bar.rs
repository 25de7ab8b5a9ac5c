// SPDX-License-Identifier: Apache-2.0
//! A progress bar with an estimate of the time left, on standard error. It appears for long work, if standard error is
//! a terminal.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use ringmill_device::progress::{Progress, Step};

/// The least time that work must take for a progress bar to be drawn.
const LONG: Duration = Duration::from_secs(1);
/// The time since the start of the work before which its estimated end is not trusted.
const EARLY: Duration = Duration::from_millis(200);
/// The time between two redraws of the bar. The bar is redrawn even while no step of the work ends.
const TICK: Duration = Duration::from_millis(500);

/// A progress display that draws a bar for long work, if standard error is a terminal.
pub struct Bar {
    wanted: bool,
    /// The bar, once it is drawn. It is public for the crate's own tests.
    #[doc(hidden)]
    pub bar: OnceLock<ProgressBar>,
}

impl Bar {
    /// Makes a progress display that draws a bar only if standard error is a terminal.
    #[expect(
        clippy::new_without_default,
        reason = "what it makes depends on where standard error goes"
    )]
    pub fn new() -> Self {
        Self {
            wanted: std::io::stderr().is_terminal(),
            bar: OnceLock::new(),
        }
    }

    /// Makes a progress display that draws no bar. Lines of text still go to standard error.
    pub fn none() -> Self {
        Self {
            wanted: false,
            bar: OnceLock::new(),
        }
    }
}

/// Returns whether the work has lasted a second, or will last one by a sound estimate.
pub fn is_long(step: &Step) -> bool {
    let whole = step.elapsed + step.remaining.unwrap_or_default();
    step.elapsed >= LONG || (step.elapsed >= EARLY && whole >= LONG)
}

fn draw(step: &Step) -> ProgressBar {
    let bar = ProgressBar::new(step.total).with_elapsed(step.elapsed);
    if let Ok(style) =
        ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len}  {elapsed} elapsed, {prefix}")
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    bar
}

impl Progress for Bar {
    fn step(&self, step: Step) {
        if !self.wanted || (self.bar.get().is_none() && !is_long(&step)) {
            return;
        }
        let bar = self.bar.get_or_init(|| draw(&step));
        bar.set_message(step.stage);
        bar.set_length(step.total);
        bar.set_position(step.done);
        bar.set_prefix(match step.remaining {
            Some(time) => format!("about {:.1} s left", time.as_secs_f64()),
            None => "estimating".to_owned(),
        });
    }

    /// Writes a line of text above the bar, or by itself if no bar is drawn.
    fn told(&self, text: &str) {
        match self.bar.get() {
            Some(bar) => bar.println(text),
            None => eprintln!("{text}"),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
