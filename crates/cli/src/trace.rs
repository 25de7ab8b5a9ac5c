//! Running on a device, with a trace file where one is asked for.

use std::path::{Path, PathBuf};

use ringmill_compiler::Compiled;
use ringmill_devices::progress::Progress;
use ringmill_devices::report::RunReport;
use ringmill_devices::runtime::{self, AnswerOf, Ciphers, Messages, Served, Server};
use ringmill_devices::trace::TraceWriter;
use ringmill_devices::{Device, Request, Saving};
use ringmill_limits::Watch;

use crate::error::CliError;
use crate::output;

/// What is asked of a run, beside its inputs.
pub struct Asked<'a> {
    pub spill: bool,
    pub trace: Option<&'a Path>,
    pub saving: Option<Saving>,
    /// The checkpoint to go on from.
    pub resume: Option<PathBuf>,
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

/// Function, and timing where the device has it. The trace is of the machine's units, or of the CPU's threads.
///
/// # Errors
/// What the run refuses; a trace file that cannot be written, which then does not exist.
pub fn run_on<S: Served>(
    device: &dyn Device,
    server: &Server<S>,
    (ciphers, plains): (&Ciphers<S>, &Messages<S>),
    asked: Asked<'_>,
    progress: &dyn Progress,
    watch: &Watch,
) -> Result<AnswerOf<S>, CliError> {
    let clock_mhz = device.clock_mhz();
    let timing = clock_mhz.is_some();
    let Some(path) = asked.trace else {
        let request = asked.request(timing, watch);
        return Ok(server.run(device, ciphers, plains, request, progress)?);
    };
    output::whole_file(path, |out| {
        let mut writer = TraceWriter::new(out, &device.name(), clock_mhz.unwrap_or(1.0));
        let mut request = asked.request(timing, watch);
        if timing {
            request.machine_trace = Some(&mut writer);
        } else {
            request.cpu_spans = Some(&mut writer);
        }
        let answer = server.run(device, ciphers, plains, request, progress)?;
        writer.finish()?;
        Ok(answer)
    })
}

/// Timing alone.
pub(crate) fn simulate_on<S: Served>(
    device: &dyn Device,
    compiled: &Compiled<S>,
    (spill, resident_keys): (bool, bool),
    trace: Option<&Path>,
    progress: &dyn Progress,
    watch: &Watch,
) -> Result<RunReport, CliError> {
    let Some(path) = trace else {
        let request = Request {
            spill,
            resident_keys,
            watch: watch.clone(),
            ..Request::timing_only()
        };
        return Ok(runtime::simulate(compiled, device, request, progress)?);
    };
    output::whole_file(path, |out| {
        let mut writer = TraceWriter::new(out, &device.name(), device.clock_mhz().unwrap_or(1.0));
        let request = Request {
            spill,
            resident_keys,
            machine_trace: Some(&mut writer),
            watch: watch.clone(),
            ..Request::timing_only()
        };
        let report = runtime::simulate(compiled, device, request, progress)?;
        writer.finish()?;
        Ok(report)
    })
}
