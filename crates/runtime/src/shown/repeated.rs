// SPDX-License-Identifier: Apache-2.0
//! Repeats a program's run on one device to measure its time.

use std::time::{Duration, Instant};

use ringmill_device::progress::Progress;
use ringmill_device::{Device, Request};
use ringmill_limits::Watch;

use crate::report::RunReport;
use crate::{AnswerOf, Ciphers, Messages, RuntimeError, Served, Server};

/// The most runs of a program whose time is measured. No further run begins once the measured runs have taken
/// [`LONG`] in all.
const RUNS: usize = 3;
const LONG: Duration = Duration::from_secs(2);

/// The result of a program's repeated runs on one device.
pub struct Repeated<S: Served> {
    /// The answer of the first run, whose time includes the planning of the program's procedures.
    pub first: AnswerOf<S>,
    /// The report of the run with the median time among the later runs, or of the faster one of two.
    pub report: RunReport,
    /// The number of measured runs after the first.
    pub runs: usize,
}

/// Runs a program on a device once to plan, and then up to three times more to measure its time.
///
/// # Errors
/// The errors of a run.
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
