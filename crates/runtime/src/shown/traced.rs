// SPDX-License-Identifier: Apache-2.0
//! Runs a program on a device, and writes a trace file and a timeline on request.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use ringmill_compiler::Compiled;
use ringmill_device::whole_file::{self, Contents};
use ringmill_limits::Watch;

use crate::report::{RunReport, operations};
use crate::{AnswerOf, RuntimeError, Served, Server, simulate};
use ringmill_device::Saving;
use ringmill_device::progress::Progress;
use ringmill_device::timeline::Timeline;
use ringmill_device::trace::{Both, SpanSink, TraceSink, TraceWriter};
use ringmill_device::{Device, Request};

/// The reason why a run with a trace gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum TracedError<E: Error + 'static> {
    #[error(transparent)]
    Run(#[from] RuntimeError<E>),
    /// The trace file could not be written. A regular file that was there before keeps its old contents.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

/// The options of a run that computes outputs: whether a machine may spill, the trace and the timeline,
/// checkpoints, and the memory for expanded limbs.
pub struct Asked<'a> {
    pub spill: bool,
    pub trace: Option<&'a Path>,
    /// Whether the run's report has a timeline of units and memories.
    pub timeline: bool,
    pub saving: Option<Saving>,
    /// The checkpoint file from which the run continues, if any.
    pub resume: Option<PathBuf>,
    /// The most bytes of expanded key limbs and encoded constants that the run keeps in memory, as
    /// [`Request::expanded_bytes`].
    pub expanded_bytes: Option<u64>,
}

impl Asked<'_> {
    fn request<'r>(self, timing: bool, watch: &Watch) -> Request<'r> {
        Request {
            timing,
            spill: self.spill,
            watch: watch.clone(),
            saving: self.saving,
            resume: self.resume,
            expanded_bytes: self.expanded_bytes,
            ..Request::function_only()
        }
    }
}

/// Runs a program for its outputs, and also for its timing if the device models timing. The trace and the timeline
/// show the machine's units, or the CPU's threads.
///
/// # Errors
/// [`TracedError::Run`] for an error of the run; [`TracedError::File`] for a trace file that cannot be written. In both
/// cases a regular trace file that was there before keeps its old contents.
pub fn run_on<S: Served>(
    device: &dyn Device,
    server: &Server<S>,
    ciphers: &BTreeMap<String, S::Ciphertext>,
    plains: &BTreeMap<String, S::Message>,
    asked: Asked<'_>,
    progress: &dyn Progress,
    watch: &Watch,
) -> Result<AnswerOf<S>, TracedError<S::Error>> {
    let timing = device.clock_mhz().is_some();
    let wanted = Wanted {
        trace: asked.trace,
        timeline: asked.timeline,
    };
    let (mut answer, timeline) = wanted.told(device, server.compiled(), |sink| {
        let mut request = asked.request(timing, watch);
        match sink {
            None => {}
            Some(sink) if timing => request.machine_trace = Some(sink),
            Some(sink) => request.cpu_spans = Some(sink),
        }
        server.run(device, ciphers, plains, request, progress)
    })?;
    answer.report.timeline = timeline;
    Ok(answer)
}

/// The options of a run for timing alone, without data.
pub struct Simulated<'a> {
    pub spill: bool,
    pub resident_keys: bool,
    pub trace: Option<&'a Path>,
    /// Whether the run's report has a timeline of units and memories.
    pub timeline: bool,
}

impl Simulated<'_> {
    fn request<'r>(&self, watch: &Watch) -> Request<'r> {
        Request {
            spill: self.spill,
            resident_keys: self.resident_keys,
            watch: watch.clone(),
            ..Request::timing_only()
        }
    }
}

/// Computes a program's timing on a device without data.
///
/// # Errors
/// The errors of [`run_on`].
pub fn simulate_on<S: Served>(
    device: &dyn Device,
    compiled: &Compiled<S>,
    asked: &Simulated<'_>,
    progress: &dyn Progress,
    watch: &Watch,
) -> Result<RunReport, TracedError<S::Error>> {
    let wanted = Wanted {
        trace: asked.trace,
        timeline: asked.timeline,
    };
    let (mut report, timeline) = wanted.told(device, compiled, |sink| {
        let mut request = asked.request(watch);
        request.machine_trace = sink.map(|sink| -> &mut dyn TraceSink { sink });
        simulate(compiled, device, request, progress)
    })?;
    report.timeline = timeline;
    Ok(report)
}

/// A receiver of the events of a run: when each unit of a machine, or each thread of the CPU, was busy with what.
trait Sink: TraceSink + SpanSink {}

impl<T: TraceSink + SpanSink> Sink for T {}

/// The receivers of a run's events: the trace file and the timeline, each if the caller asked for it.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    trace: Option<&'a Path>,
    timeline: bool,
}

impl Wanted<'_> {
    /// Runs a program with the receivers of events that the caller asked for. Returns the answer of the run, and
    /// the timeline if the caller asked for one.
    fn told<S: Served, T>(
        self,
        device: &dyn Device,
        compiled: &Compiled<S>,
        run: impl FnOnce(Option<&mut dyn Sink>) -> Result<T, RuntimeError<S::Error>>,
    ) -> Result<(T, Option<Timeline>), TracedError<S::Error>> {
        let clock_mhz = device.clock_mhz().unwrap_or(1.0);
        let mut timeline = self.timeline.then(|| Timeline::new(clock_mhz));
        let Some(path) = self.trace else {
            let answer = match &mut timeline {
                Some(timeline) => run(Some(timeline)),
                None => run(None),
            };
            return Ok((answer?, timeline));
        };
        let answer = traced(path, |out| {
            let writer = TraceWriter::new(out, &device.name(), clock_mhz);
            let mut writer = writer.with_operations(operations(compiled));
            let answer = match &mut timeline {
                Some(timeline) => run(Some(&mut Both(&mut writer, timeline))),
                None => run(Some(&mut writer)),
            };
            Ok((answer?, writer.finish().map(drop)))
        })?;
        Ok((answer, timeline))
    }
}

/// Calls the function `run` with a writer of a trace file. The file is written whole. If the run fails, it keeps its
/// old contents, or does not appear.
fn traced<T, E: Error + 'static>(
    path: &Path,
    run: impl FnOnce(&mut BufWriter<File>) -> Result<(T, io::Result<()>), RuntimeError<E>>,
) -> Result<T, TracedError<E>> {
    /// The error of a run with a trace, without the trace file's name, which the caller adds.
    enum Fault<E> {
        Run(RuntimeError<E>),
        Io(io::Error),
    }
    impl<E> From<io::Error> for Fault<E> {
        fn from(fault: io::Error) -> Self {
            Self::Io(fault)
        }
    }
    let filled = whole_file::fill(path, Contents::Public, |out| {
        let (answer, written) = run(out).map_err(Fault::Run)?;
        written?;
        Ok(answer)
    });
    filled.map_err(|fault| match fault {
        Fault::Run(error) => TracedError::Run(error),
        Fault::Io(source) => TracedError::File {
            path: path.to_owned(),
            source,
        },
    })
}
