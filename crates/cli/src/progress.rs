//! A progress bar with an estimate, on standard error, when that is a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use ringmill_devices::progress::{Progress, Step};

/// Draws the steps of a run; shows nothing where standard error is not a terminal.
pub struct Bar(Option<ProgressBar>);

impl Bar {
    pub fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template(
            "{msg:12} {wide_bar} {pos}/{len}  {elapsed} elapsed, {prefix}",
        ) {
            bar.set_style(style);
        }
        Self(Some(bar))
    }
}

impl Progress for Bar {
    fn step(&self, step: Step) {
        let Some(bar) = &self.0 else { return };
        bar.set_message(step.stage);
        bar.set_length(step.total);
        bar.set_position(step.done);
        bar.set_prefix(match step.remaining {
            Some(time) => format!("about {:.1} s left", time.as_secs_f64()),
            None => "estimating".to_owned(),
        });
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
