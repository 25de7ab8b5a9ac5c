//! Running on a device, with a trace file where one is asked for.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use ringmill_compiler::Compiled;
use ringmill_device::whole_file::{self, Contents};
use ringmill_limits::Watch;

use crate::{AnswerOf, Runs, RuntimeError, Server, simulate};
use ringmill_device::Saving;
use ringmill_device::progress::Progress;
use ringmill_device::trace::TraceWriter;
use ringmill_device::{Device, Request};

/// Why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum TracedError<E: Error + 'static> {
    #[error(transparent)]
    Run(#[from] RuntimeError<E>),
    /// The trace file, which then does not exist.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

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
pub fn run_on<S: Runs>(
    device: &dyn Device,
    server: &Server<S>,
    ciphers: &BTreeMap<String, S::Ciphertext>,
    plains: &BTreeMap<String, S::Message>,
    asked: Asked<'_>,
    progress: &dyn Progress,
    watch: &Watch,
) -> Result<AnswerOf<S>, TracedError<S::Error>> {
    let clock_mhz = device.clock_mhz();
    let timing = clock_mhz.is_some();
    let Some(path) = asked.trace else {
        let request = asked.request(timing, watch);
        return Ok(server.run(device, ciphers, plains, request, progress)?);
    };
    traced(path, &device.name(), clock_mhz, |writer| {
        let mut request = asked.request(timing, watch);
        if timing {
            request.machine_trace = Some(writer);
        } else {
            request.cpu_spans = Some(writer);
        }
        server.run(device, ciphers, plains, request, progress)
    })
}

/// What is asked of timing alone.
pub struct Simulated<'a> {
    pub spill: bool,
    pub resident_keys: bool,
    pub trace: Option<&'a Path>,
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

/// Timing alone.
///
/// # Errors
/// Those of [`run_on`].
pub fn simulate_on<S: Runs>(
    device: &dyn Device,
    compiled: &Compiled<S>,
    asked: &Simulated<'_>,
    progress: &dyn Progress,
    watch: &Watch,
) -> Result<S::Report, TracedError<S::Error>> {
    let Some(path) = asked.trace else {
        return Ok(simulate(compiled, device, asked.request(watch), progress)?);
    };
    traced(path, &device.name(), device.clock_mhz(), |writer| {
        let mut request = asked.request(watch);
        request.machine_trace = Some(writer);
        simulate(compiled, device, request, progress)
    })
}

/// The answer of a run that writes a trace: the file appears whole, or the run gave none.
fn traced<T, E: Error + 'static>(
    path: &Path,
    process: &str,
    clock_mhz: Option<f64>,
    run: impl FnOnce(&mut TraceWriter<&mut BufWriter<File>>) -> Result<T, RuntimeError<E>>,
) -> Result<T, TracedError<E>> {
    /// The file's name is added where the fault leaves it.
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
        let mut writer = TraceWriter::new(out, process, clock_mhz.unwrap_or(1.0));
        let answer = run(&mut writer).map_err(Fault::Run)?;
        writer.finish()?;
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
