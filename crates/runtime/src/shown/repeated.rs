// SPDX-License-Identifier: Apache-2.0
//! A run that is repeated to be measured.

use std::time::{Duration, Instant};

use ringmill_device::progress::Progress;
use ringmill_device::{Device, Request};
use ringmill_limits::Watch;

use crate::report::RunReport;
use crate::{AnswerOf, Ciphers, Messages, RuntimeError, Served, Server};

/// Runs that count at most, and the time after which no further one begins.
const RUNS: usize = 3;
const LONG: Duration = Duration::from_secs(2);

/// What a repeated run gave.
pub struct Repeated<S: Served> {
    /// The answer of the first run, which plans.
    pub first: AnswerOf<S>,
    /// Of the runs after it the one whose time is the median.
    pub report: RunReport,
    /// How many these are.
    pub runs: usize,
}

/// Runs a program on a device once to plan, and then up to three times more.
///
/// # Errors
/// What a run refuses.
pub fn repeated<S: Served>(
    device: &dyn Device,
    server: &Server<S>,
    ciphers: &Ciphers<S>,
    plains: &Messages<S>,
    progress: &dyn Progress,
    watch: &Watch,
) -> Result<Repeated<S>, RuntimeError<S::Error>> {
    let mut running = server.open(device, watch)?;
    let mut run = || {
        let request = Request {
            watch: watch.clone(),
            ..Request::function_only()
        };
        running.run(ciphers, plains, request, progress)
    };
    let first = run()?;
    let begin = Instant::now();
    let mut report = run()?.report;
    let mut others = Vec::with_capacity(RUNS);
    while others.len() + 1 < RUNS && begin.elapsed() < LONG {
        others.push(run()?.report);
    }
    let runs = others.len() + 1;
    let seconds = |report: &RunReport| report.cpu.as_ref().map_or(0.0, |cpu| cpu.stats.seconds());
    others.push(report);
    others.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    report = others.swap_remove((runs - 1) / 2);
    Ok(Repeated {
        first,
        report,
        runs,
    })
}
