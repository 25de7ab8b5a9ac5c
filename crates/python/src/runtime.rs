//! Compiled programs: keys, encryption, runs, decryption. The interpreter's lock is not held while computing.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use num_complex::Complex64;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use ringmill_cli::{Asked, Bar, CliError};
use ringmill_compiler::ckks::saved::{self, Returned};
use ringmill_compiler::ckks::{Compiled, InputRange, Options, ParamsChoice, Wanted};
use ringmill_devices::Saving;
use ringmill_devices::runtime::{self, Ciphertexts, Client, RuntimeError, Server};
use ringmill_isa::macros::MacroProgram;
use ringmill_isa::{macros, mid};
use ringmill_limits::{Halt, Watch};
use ringmill_machines::{SimOptions, registry};
use ringmill_schemes::ckks::file::InsecureParams;
use ringmill_schemes::ckks::{SecurityLevel, SecurityTable, file};

use crate::data::{Ciphertext, EvaluationKeys};
use crate::errors::{CompileError, DeviceError, Fault, FileError, ParameterError, raise, refused};
use crate::files;
use crate::keys::{Arrays, Keys, failed, vectors};
use crate::params::Params;
use crate::program::{self, Program};
use crate::watch::{halted, interruptible};

/// A range as our own Python spells it: one number for a radius, two for the ends.
fn range(ends: Option<&[f64]>) -> Option<InputRange> {
    match *ends? {
        [radius] => Some(InputRange::Disc { radius }),
        [lowest, highest] => Some(InputRange::Real { lowest, highest }),
        _ => None,
    }
}

/// Compiles a traced program for given parameters, or chooses the smallest secure ones.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "the one caller is our own Python, which names them"
)]
fn compile_program(
    py: Python<'_>,
    program: &Program,
    params: Option<&Params>,
    precision: u32,
    integer_bits: u32,
    input_bound: f64,
    ranges: Vec<Option<Vec<f64>>>,
    sample: Option<Vec<PyReadonlyArray1<'_, Complex64>>>,
    margin: f64,
    table: &str,
    security: u32,
    target: Option<&str>,
) -> PyResult<CompiledProgram> {
    let target = target.map(ringmill_devices::target).transpose();
    let target = target.map_err(raise::<DeviceError, _>)?;
    let choice = match params {
        Some(params) => ParamsChoice::Given(Arc::clone(&params.inner)),
        None => ParamsChoice::Choose(Wanted {
            precision_bits: precision,
            integer_bits,
            table: SecurityTable::from_name(table).map_err(raise::<ParameterError, _>)?,
            level: SecurityLevel::from_bits(security).map_err(raise::<ParameterError, _>)?,
        }),
    };
    let options = Options {
        params: choice,
        target,
        input_bound,
        ranges: ranges.iter().map(|ends| range(ends.as_deref())).collect(),
        margin,
        sample: sample.map(|inputs| inputs.iter().map(|v| v.as_array().to_vec()).collect()),
        ..Options::default()
    };
    compiled(py, program.inner.clone(), options, None)
}

fn compiled(
    py: Python<'_>,
    source: MacroProgram,
    options: Options,
    returned: Option<Returned>,
) -> PyResult<CompiledProgram> {
    let compile = move |watch: &Watch| {
        let mut options = options;
        options.watch = watch.clone();
        ringmill_compiler::compile(source, &options).map(|compiled| (compiled, options))
    };
    let (compiled, options) = interruptible(py, compile)?.map_err(|e| refused(py, e))?;
    Ok(CompiledProgram {
        compiled: Arc::new(compiled),
        options: Arc::new(options),
        returned,
        server: Mutex::new(None),
    })
}

/// The program that [`CompiledProgram::save`] wrote, compiled as it was; None for macro text that does not say how.
#[pyfunction]
fn load_compiled(
    py: Python<'_>,
    path: PathBuf,
    insecure: bool,
) -> PyResult<Option<CompiledProgram>> {
    let insecure = if insecure {
        InsecureParams::AllowForTestsOnly
    } else {
        InsecureParams::Refuse
    };
    let read = move |watch: &Watch| {
        files::read(&path, watch, |bytes| -> Result<_, Fault> {
            let text = std::str::from_utf8(bytes)?;
            watch.admit("the program", macros::text::memory_for(text))?;
            let saved = saved::parse(text, insecure)?;
            Ok(saved.map(|(source, options)| (source, options, saved::returned(text))))
        })
    };
    match interruptible(py, read)?? {
        Some((source, options, returned)) => compiled(py, source, options, returned).map(Some),
        None => Ok(None),
    }
}

/// A compiled program.
#[pyclass(frozen)]
struct CompiledProgram {
    compiled: Arc<Compiled>,
    /// How it was compiled.
    options: Arc<Options>,
    /// What the function returned, of a program that was saved.
    returned: Option<Returned>,
    /// The server of the keys last used: it holds what seeds and constants expanded to.
    server: Mutex<Option<(Arc<runtime::EvaluationKeys>, Arc<Server>)>>,
}

impl CompiledProgram {
    fn server(
        &self,
        keys: &Arc<runtime::EvaluationKeys>,
        watch: &Watch,
    ) -> Result<Arc<Server>, RuntimeError> {
        // Held for moments only: a process that is forked meanwhile could not take it any more.
        let kept = || self.server.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, server)) = kept().as_ref().filter(|(of, _)| Arc::ptr_eq(of, keys)) {
            return Ok(Arc::clone(server));
        }
        // The keys are held twice while it is made.
        watch.admit("the run's keys", self.compiled.key_bytes())?;
        let compiled = Arc::clone(&self.compiled);
        let server = Server::new_watched(compiled, (**keys).clone(), watch)?;
        let server = Arc::new(server);
        *kept() = Some((Arc::clone(keys), Arc::clone(&server)));
        Ok(server)
    }

    fn wrap(&self, ciphertexts: Ciphertexts) -> HashMap<String, Ciphertext> {
        let degree = self.compiled.params.degree();
        let wrap = |(name, inner)| {
            (
                name,
                Ciphertext {
                    inner: Arc::new(inner),
                    degree,
                },
            )
        };
        ciphertexts.into_iter().map(wrap).collect()
    }

    fn keys(&self, client: Result<Client, RuntimeError>, watch: &Watch) -> PyResult<Keys> {
        let client = client.map_err(failed)?;
        let evaluation = client.watched(watch).evaluation_keys().map_err(failed)?;
        Ok(Keys::new(Arc::clone(&self.compiled), client, evaluation))
    }
}

#[pymethods]
impl CompiledProgram {
    #[getter]
    fn name(&self) -> &str {
        &self.compiled.source.name
    }

    #[getter]
    fn params(&self) -> Params {
        Params {
            inner: Arc::clone(&self.compiled.params),
        }
    }

    /// Length of the program's vectors.
    #[getter]
    fn slots(&self) -> u32 {
        self.compiled.source.slots
    }

    /// The scheme that the program is for.
    #[getter]
    fn scheme(&self) -> &str {
        self.compiled.source.scheme.as_str()
    }

    /// Bytes of the evaluation keys.
    #[getter]
    fn key_bytes(&self) -> u64 {
        self.compiled.key_bytes()
    }

    /// For each output its name and the bits of precision predicted.
    #[getter]
    fn predicted_bits(&self) -> Vec<(String, f64)> {
        let outputs = self.compiled.outputs.iter().zip(&self.compiled.predicted);
        outputs
            .map(|(output, precision)| (output.name.clone(), precision.bits()))
            .collect()
    }

    /// For each input its name and its range: one number for a radius, two for the ends.
    #[getter]
    fn ranges(&self) -> Vec<(String, Vec<f64>)> {
        let ends = |range| match range {
            InputRange::Real { lowest, highest } => vec![lowest, highest],
            InputRange::Disc { radius } => vec![radius],
        };
        let inputs = self.compiled.inputs.iter();
        inputs.map(|i| (i.name.clone(), ends(i.range))).collect()
    }

    /// The program at a level, `macro`, `mid` or (of a machine) `micro`.
    fn text(slf: &Bound<'_, Self>, level: String, machine: String) -> PyResult<String> {
        let compiled = Arc::clone(&slf.get().compiled);
        interruptible(slf.py(), move |watch| match level.as_str() {
            "macro" => Ok(macros::text::print(&compiled.managed)),
            "mid" => Ok(mid::text::print_program(&compiled.program)),
            "micro" => {
                let mut text = Vec::new();
                let machine = ringmill_machines::open(&machine).map_err(raise::<DeviceError, _>)?;
                let options = SimOptions {
                    watch: watch.clone(),
                    ..SimOptions::default()
                };
                machine
                    .micro_text(&compiled.program, options, &mut text)
                    .map_err(raise::<DeviceError, _>)?;
                String::from_utf8(text).map_err(raise::<DeviceError, _>)
            }
            other => Err(CompileError::new_err(format!(
                "there is no level `{other}`; expected macro, mid or micro"
            ))),
        })?
    }

    /// Names of the outputs.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.compiled.source.outputs.clone()
    }

    /// What the function returned (`one`, `tuple` or `dict`), of a program that was saved.
    #[getter]
    fn returned(&self) -> Option<&'static str> {
        self.returned.map(program::returned_name)
    }

    /// Writes the traced program as macro text, how it was compiled and what the function returned.
    fn save(&self, py: Python<'_>, path: PathBuf, returned: &str) -> PyResult<()> {
        let returned = program::returned_of(returned);
        let (compiled, options) = (Arc::clone(&self.compiled), Arc::clone(&self.options));
        interruptible(py, move |watch| {
            let text = saved::print(&compiled, &options, returned);
            files::write(&path, watch, text.as_bytes())
        })?
    }

    fn keygen(slf: &Bound<'_, Self>) -> PyResult<Keys> {
        let this = slf.clone().unbind();
        interruptible(slf.py(), move |watch| {
            let this = this.get();
            this.keys(Client::new(Arc::clone(&this.compiled)), watch)
        })?
    }

    fn load_secret_key(slf: &Bound<'_, Self>, path: PathBuf) -> PyResult<Keys> {
        let this = slf.clone().unbind();
        interruptible(slf.py(), move |watch| {
            let this = this.get();
            let params = &this.compiled.params;
            let secret = files::read(&path, watch, |bytes| {
                file::read_secret_key_in_the_clear(bytes, params)
            })?;
            this.keys(
                Client::with_secret_key(Arc::clone(&this.compiled), secret),
                watch,
            )
        })?
    }

    /// Runs on a device; gives the encrypted outputs, and the report as a summary, with every figure, and as JSON. `why`
    /// is why the program is of its scheme.
    #[expect(
        clippy::too_many_arguments,
        reason = "the one caller is our own Python, which names them"
    )]
    fn run(
        slf: &Bound<'_, Self>,
        ciphertexts: HashMap<String, Ciphertext>,
        plain: Arrays<'_>,
        keys: &EvaluationKeys,
        device: String,
        trace: Option<PathBuf>,
        progress: bool,
        spill: bool,
        why: String,
        checkpoint: Option<(PathBuf, f64)>,
        resume: Option<PathBuf>,
        expanded_bytes: Option<u64>,
    ) -> PyResult<(HashMap<String, Ciphertext>, [String; 3])> {
        let plains = vectors(&plain);
        drop(plain);
        let (this, keys) = (slf.clone().unbind(), Arc::clone(&keys.inner));
        interruptible(slf.py(), move |watch| {
            let this = this.get();
            let device = ringmill_devices::open(&device).map_err(raise::<DeviceError, _>)?;
            let server = this.server(&keys, watch).map_err(failed)?;
            let sizes = ciphertexts.values().flat_map(|c| c.inner.polys());
            let bytes: u64 = sizes.map(|poly| 8 * poly.len() as u64).sum();
            let starved = |halt: Halt| halted(&halt, halt.to_string());
            watch
                .admit("the encrypted inputs", bytes)
                .map_err(starved)?;
            let ciphers: Ciphertexts = ciphertexts
                .into_iter()
                .map(|(n, c)| (n, (*c.inner).clone()))
                .collect();
            let inputs = (&ciphers, &plains);
            let answer = ringmill_cli::run_on(
                device.as_ref(),
                &server,
                inputs,
                Asked {
                    spill,
                    trace: trace.as_deref(),
                    saving: checkpoint.map(|(path, seconds)| Saving {
                        path,
                        // Checked by our own Python; what is no duration is no limit.
                        every: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
                    }),
                    resume,
                    expanded_bytes,
                },
                &if progress { Bar::new() } else { Bar::none() },
                watch,
            );
            let mut answer = answer.map_err(|error| match error {
                CliError::Runtime(error) => failed(error),
                error => raise::<FileError, _>(error),
            })?;
            answer.report.scheme.why = why;
            let json = serde_json::to_string(&answer.report).map_err(raise::<DeviceError, _>)?;
            let (summary, detail) = (
                answer.report.to_string(),
                answer.report.detail().to_string(),
            );
            let outputs = this.wrap(answer.outputs.unwrap_or_default());
            Ok((outputs, [summary, detail, json]))
        })?
    }
}

/// The devices a program can run on.
#[pyfunction]
fn devices() -> Vec<String> {
    let machines = registry::names().map(|name| format!("sim:{name}"));
    let rtl = registry::names_with_rtl().map(|name| format!("rtl:{name}"));
    std::iter::once("cpu".to_owned())
        .chain(machines)
        .chain(rtl)
        .collect()
}

/// The `ringmill` command; gives its exit status. `trace` makes macro text of a program in a Python file: it is given the
/// path, the slots asked for and whether what is printed is JSON.
#[pyfunction]
fn cli_main(py: Python<'_>, arguments: Vec<OsString>, trace: Py<PyAny>) -> PyResult<u8> {
    let told = Arc::new(AtomicBool::new(false));
    let said = Arc::clone(&told);
    let work = move |watch: &Watch| {
        let traced = |path: &Path, slots: Option<u32>, json: bool| {
            Python::attach(|py| {
                let text = trace.call1(py, (path, slots, json));
                text.and_then(|text| text.extract(py)).map_err(|error| {
                    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                        CliError::Halt(Halt::Interrupted)
                    } else {
                        CliError::Usage(error.value(py).to_string())
                    }
                })
            })
        };
        ringmill_cli::main(arguments, Some(&traced), watch.flag(), &said)
    };
    match interruptible(py, work) {
        Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            // What was stopped in time has said so, and what it kept.
            if !told.swap(true, Ordering::AcqRel) {
                eprintln!("ringmill: interrupted");
            }
            Ok(ringmill_cli::INTERRUPTED)
        }
        done => done,
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<CompiledProgram>()?;
    m.add_function(wrap_pyfunction!(compile_program, m)?)?;
    m.add_function(wrap_pyfunction!(load_compiled, m)?)?;
    m.add_function(wrap_pyfunction!(devices, m)?)?;
    m.add_function(wrap_pyfunction!(cli_main, m)?)
}
