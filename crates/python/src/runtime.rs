//! Compiled programs: keys, encryption, runs, decryption. The interpreter's lock is not held while computing.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use ringmill_cli::{Asked, Bar, CliError, Trace, TracedFile, with_scheme};
use ringmill_compiler::saved::{self, Returned};
use ringmill_compiler::{Compiled, Options, ParamsChoice, Target};
use ringmill_devices::Saving;
use ringmill_devices::runtime::{Client, EvaluationKeys, RuntimeError, Server};
use ringmill_isa::macros::MacroProgram;
use ringmill_isa::{macros, mid};
use ringmill_limits::{Halt, Watch};
use ringmill_machines::{SimOptions, registry};
use ringmill_schemes::file::{self, InsecureParams};
use ringmill_schemes::rlwe::{RingParams, SecurityLevel, SecurityTable};

use crate::data::{self, Ciphertext, ciphers, wrapped};
use crate::errors::{
    CompileError, DataError, DeviceError, Fault, FileError, ParameterError, raise, refused,
};
use crate::files;
use crate::keys::{Given, Keys, Vectors, messages, values};
use crate::params::Params;
use crate::program::{self, Program};
use crate::scheme::{Ends, Spoken, Values, Vector, Wishes, failed, known, unknown};
use crate::watch::{halted, interruptible};

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
    ranges: Vec<Option<Ends>>,
    sample: Option<Vec<Vector<'_>>>,
    margin: f64,
    table: &str,
    security: u32,
    target: Option<&str>,
) -> PyResult<CompiledProgram> {
    let target = target.map(ringmill_devices::target).transpose();
    let target = target.map_err(raise::<DeviceError, _>)?;
    let wishes = Wishes {
        precision,
        integer_bits,
        table: SecurityTable::from_name(table).map_err(raise::<ParameterError, _>)?,
        level: SecurityLevel::from_bits(security).map_err(raise::<ParameterError, _>)?,
    };
    let sample = sample.map(|inputs| inputs.iter().map(Vector::values).collect());
    let asked = Asking {
        params,
        wishes,
        input_bound,
        ranges,
        sample,
        margin,
        target,
    };
    // Where parameters are given, the compiler says what is wrong with a program of another scheme.
    let name = params.map_or(program.inner.scheme.as_str(), |params| {
        params.inner.scheme()
    });
    let scheme = known(name).ok_or_else(|| unknown(name))?;
    with_scheme!(scheme, S => compiled_as::<S>(py, program.inner.clone(), asked))
}

/// How a program is to be compiled, as Python says it.
struct Asking<'a> {
    params: Option<&'a Params>,
    wishes: Wishes,
    input_bound: f64,
    ranges: Vec<Option<Ends>>,
    sample: Option<Vec<Values>>,
    margin: f64,
    target: Option<Target>,
}

fn compiled_as<S: Spoken>(
    py: Python<'_>,
    source: MacroProgram,
    asked: Asking<'_>,
) -> PyResult<CompiledProgram> {
    let params = match asked.params.map(Params::get::<S>) {
        Some(Some(params)) => ParamsChoice::Given(Arc::clone(params)),
        Some(None) => {
            return Err(ParameterError::new_err(
                "the parameters are of another scheme",
            ));
        }
        None => ParamsChoice::Choose(S::wanted_for(&asked.wishes)),
    };
    let other = || DataError::new_err("ranges and samples are other numbers than the scheme's");
    let range = |ends: &Option<Ends>| match ends {
        Some(ends) => S::declared(ends).map(Some).ok_or_else(other),
        None => Ok(None),
    };
    let message = |values| S::message(values).ok_or_else(other);
    let sample = asked
        .sample
        .map(|sample| sample.into_iter().map(message).collect::<PyResult<_>>());
    let options = Options::<S> {
        params,
        target: asked.target,
        input_bound: asked.input_bound,
        ranges: asked.ranges.iter().map(range).collect::<PyResult<_>>()?,
        margin: asked.margin,
        sample: sample.transpose()?,
        ..Options::default()
    };
    compiled(py, source, options, None)
}

fn compiled<S: Spoken>(
    py: Python<'_>,
    source: MacroProgram,
    options: Options<S>,
    returned: Option<Returned>,
) -> PyResult<CompiledProgram> {
    let compile = move |watch: &Watch| {
        let mut options = options;
        options.watch = watch.clone();
        ringmill_compiler::compile(source, &options).map(|compiled| (compiled, options))
    };
    let (compiled, options) = interruptible(py, compile)?.map_err(|e| refused(py, e))?;
    Ok(CompiledProgram {
        inner: Arc::new(Ready {
            compiled: Arc::new(compiled),
            options,
            server: Mutex::new(None),
        }),
        returned,
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
            if !saved::is_saved(text) {
                return Ok(None);
            }
            let program = macros::text::parse(text)?;
            let name = program.scheme.as_str();
            let Some(scheme) = known(name) else {
                return Err(unknown(name).into());
            };
            with_scheme!(scheme, S => saved_as::<S>(program, text, insecure))
        })
    };
    match interruptible(py, read)?? {
        Some(compile) => compile(py).map(Some),
        None => Ok(None),
    }
}

/// A saved program, to be compiled when the interpreter is there.
type Saved = Box<dyn FnOnce(Python<'_>) -> PyResult<CompiledProgram> + Send>;

fn saved_as<S: Spoken>(
    program: MacroProgram,
    text: &str,
    insecure: InsecureParams,
) -> Result<Option<Saved>, Fault> {
    let returned = saved::returned(text);
    let options = saved::options::<S>(text, insecure)?;
    Ok(options
        .map(|options| -> Saved { Box::new(move |py| compiled(py, program, options, returned)) }))
}

/// Ciphertexts, and the report as a summary, with every figure, and as JSON.
type Ran = (HashMap<String, Ciphertext>, [String; 3]);

/// What Python asks of a run, beside its inputs and keys.
struct Wanted {
    device: String,
    trace: Option<PathBuf>,
    progress: bool,
    spill: bool,
    /// Why the program is of its scheme.
    why: String,
    checkpoint: Option<(PathBuf, f64)>,
    resume: Option<PathBuf>,
    expanded_bytes: Option<u64>,
}

/// A compiled program of some scheme.
trait AnyProgram: Send + Sync {
    fn name(&self) -> &str;
    fn params(&self) -> Params;
    fn slots(&self) -> u32;
    fn scheme(&self) -> &str;
    fn outputs(&self) -> &[String];
    fn key_bytes(&self) -> u64;
    fn predicted_bits(&self) -> Option<Vec<(String, f64)>>;
    fn predicted_budget(&self) -> Option<Vec<(String, f64)>>;
    fn ranges(&self) -> Vec<(String, Ends)>;
    fn text(&self, level: &str, machine: &str, watch: &Watch) -> PyResult<String>;
    fn saved(&self, returned: Option<Returned>) -> String;
    fn keygen(&self, watch: &Watch) -> PyResult<Keys>;
    fn load_secret_key(&self, path: &Path, watch: &Watch) -> PyResult<Keys>;
    fn run(
        &self,
        ciphertexts: &HashMap<String, Ciphertext>,
        plain: Given,
        keys: &Arc<EvaluationKeys>,
        wanted: Wanted,
        watch: &Watch,
    ) -> PyResult<Ran>;
}

/// One of a scheme that is known.
struct Ready<S: Spoken> {
    compiled: Arc<Compiled<S>>,
    /// How it was compiled.
    options: Options<S>,
    /// The server of the keys last used: it holds what seeds and constants expanded to.
    server: Mutex<Option<Kept<S>>>,
}

type Kept<S> = (Arc<EvaluationKeys>, Arc<Server<S>>);

impl<S: Spoken> Ready<S> {
    fn server(
        &self,
        keys: &Arc<EvaluationKeys>,
        watch: &Watch,
    ) -> Result<Arc<Server<S>>, RuntimeError<S::Error>> {
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

    /// What is predicted of each output, if it is predicted of outputs at all.
    fn predicted(&self, of: fn(&S::Prediction) -> Option<f64>) -> Option<Vec<(String, f64)>> {
        let outputs = self.compiled.outputs.iter().zip(&self.compiled.predicted);
        outputs
            .map(|(output, predicted)| Some((output.name.clone(), of(predicted)?)))
            .collect()
    }
}

impl<S: Spoken> AnyProgram for Ready<S> {
    fn name(&self) -> &str {
        &self.compiled.source.name
    }

    fn params(&self) -> Params {
        Params::of::<S>(&self.compiled.params)
    }

    fn slots(&self) -> u32 {
        self.compiled.source.slots
    }

    fn scheme(&self) -> &str {
        self.compiled.source.scheme.as_str()
    }

    fn outputs(&self) -> &[String] {
        &self.compiled.source.outputs
    }

    fn key_bytes(&self) -> u64 {
        self.compiled.key_bytes()
    }

    fn predicted_bits(&self) -> Option<Vec<(String, f64)>> {
        self.predicted(S::predicted_bits)
    }

    fn predicted_budget(&self) -> Option<Vec<(String, f64)>> {
        self.predicted(S::predicted_budget)
    }

    fn ranges(&self) -> Vec<(String, Ends)> {
        let inputs = self.compiled.inputs.iter();
        inputs
            .map(|i| (i.name.clone(), S::ends(&i.range)))
            .collect()
    }

    fn text(&self, level: &str, machine: &str, watch: &Watch) -> PyResult<String> {
        let compiled = &self.compiled;
        match level {
            "macro" => Ok(macros::text::print(&compiled.managed)),
            "mid" => Ok(mid::text::print_program(&compiled.program)),
            "micro" => {
                let mut text = Vec::new();
                let machine = ringmill_machines::open(machine).map_err(raise::<DeviceError, _>)?;
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
        }
    }

    fn saved(&self, returned: Option<Returned>) -> String {
        saved::print(&self.compiled, &self.options, returned)
    }

    fn keygen(&self, watch: &Watch) -> PyResult<Keys> {
        let client = Client::new(Arc::clone(&self.compiled));
        Keys::new(&self.compiled, client, watch)
    }

    fn load_secret_key(&self, path: &Path, watch: &Watch) -> PyResult<Keys> {
        let params = self.compiled.params.ring_params();
        let secret = files::read(path, watch, |bytes| {
            file::read_secret_key_in_the_clear(bytes, params)
        })?;
        let client = Client::with_secret_key(Arc::clone(&self.compiled), secret);
        Keys::new(&self.compiled, client, watch)
    }

    fn run(
        &self,
        ciphertexts: &HashMap<String, Ciphertext>,
        plain: Given,
        keys: &Arc<EvaluationKeys>,
        wanted: Wanted,
        watch: &Watch,
    ) -> PyResult<Ran> {
        let plains = messages::<S>(plain)?;
        let device = ringmill_devices::open(&wanted.device).map_err(raise::<DeviceError, _>)?;
        let server = self.server(keys, watch).map_err(failed::<S>)?;
        let bytes = ciphertexts.values().map(|c| c.inner.bytes()).sum();
        let starved = |halt: Halt| halted(&halt, halt.to_string());
        watch
            .admit("the encrypted inputs", bytes)
            .map_err(starved)?;
        let ciphers = ciphers::<S>(ciphertexts)?;
        let inputs = (&ciphers, &plains);
        let answer = ringmill_cli::run_on(
            device.as_ref(),
            &server,
            inputs,
            Asked {
                spill: wanted.spill,
                trace: wanted.trace.as_deref(),
                saving: wanted.checkpoint.map(|(path, seconds)| Saving {
                    path,
                    // Checked by our own Python; what is no duration is no limit.
                    every: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
                }),
                resume: wanted.resume,
                expanded_bytes: wanted.expanded_bytes,
            },
            &if wanted.progress {
                Bar::new()
            } else {
                Bar::none()
            },
            watch,
        );
        let mut answer = answer.map_err(stopped::<S>)?;
        answer.report.scheme.why = wanted.why;
        let json = serde_json::to_string(&answer.report).map_err(raise::<DeviceError, _>)?;
        let (summary, detail) = (
            answer.report.to_string(),
            answer.report.detail().to_string(),
        );
        let degree = self.compiled.params.ring_params().degree();
        let outputs = wrapped::<S>(answer.outputs.unwrap_or_default(), degree);
        Ok((outputs, [summary, detail, json]))
    }
}

/// Why a run gave nothing.
fn stopped<S: Spoken>(error: CliError) -> PyErr {
    match error {
        CliError::Device(error) => failed::<S>(RuntimeError::Device(error)),
        CliError::Runtime(error) => match error.downcast::<RuntimeError<S::Error>>() {
            Ok(error) => failed::<S>(*error),
            Err(error) => raise::<DataError, _>(error),
        },
        error => raise::<FileError, _>(error),
    }
}

/// A compiled program.
#[pyclass(frozen)]
struct CompiledProgram {
    inner: Arc<dyn AnyProgram>,
    /// What the function returned, of a program that was saved.
    returned: Option<Returned>,
}

#[pymethods]
impl CompiledProgram {
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn params(&self) -> Params {
        self.inner.params()
    }

    /// Length of the program's vectors.
    #[getter]
    fn slots(&self) -> u32 {
        self.inner.slots()
    }

    /// The scheme that the program is for.
    #[getter]
    fn scheme(&self) -> &str {
        self.inner.scheme()
    }

    /// Bytes of the evaluation keys.
    #[getter]
    fn key_bytes(&self) -> u64 {
        self.inner.key_bytes()
    }

    /// For each output its name and the bits of precision predicted; None where outputs are exact.
    #[getter]
    fn predicted_bits(&self) -> Option<Vec<(String, f64)>> {
        self.inner.predicted_bits()
    }

    /// For each output its name and the bits of noise budget predicted; None where outputs are approximate.
    #[getter]
    fn predicted_budget(&self) -> Option<Vec<(String, f64)>> {
        self.inner.predicted_budget()
    }

    /// For each input its name and its range: one number for a radius, two for the ends.
    #[getter]
    fn ranges(&self) -> Vec<(String, Ends)> {
        self.inner.ranges()
    }

    /// The program at a level, `macro`, `mid` or (of a machine) `micro`.
    fn text(&self, py: Python<'_>, level: String, machine: String) -> PyResult<String> {
        let inner = Arc::clone(&self.inner);
        interruptible(py, move |watch| inner.text(&level, &machine, watch))?
    }

    /// Names of the outputs.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.inner.outputs().to_vec()
    }

    /// What the function returned (`one`, `tuple` or `dict`), of a program that was saved.
    #[getter]
    fn returned(&self) -> Option<&'static str> {
        self.returned.map(program::returned_name)
    }

    /// Writes the traced program as macro text, how it was compiled and what the function returned.
    fn save(&self, py: Python<'_>, path: PathBuf, returned: &str) -> PyResult<()> {
        let (inner, returned) = (Arc::clone(&self.inner), program::returned_of(returned));
        interruptible(py, move |watch| {
            files::write(&path, watch, inner.saved(returned).as_bytes())
        })?
    }

    fn keygen(&self, py: Python<'_>) -> PyResult<Keys> {
        let inner = Arc::clone(&self.inner);
        interruptible(py, move |watch| inner.keygen(watch))?
    }

    fn load_secret_key(&self, py: Python<'_>, path: PathBuf) -> PyResult<Keys> {
        let inner = Arc::clone(&self.inner);
        interruptible(py, move |watch| inner.load_secret_key(&path, watch))?
    }

    /// Runs on a device; gives the encrypted outputs, and the report as a summary, with every figure, and as JSON. `why`
    /// is why the program is of its scheme.
    #[expect(
        clippy::too_many_arguments,
        reason = "the one caller is our own Python, which names them"
    )]
    fn run(
        &self,
        py: Python<'_>,
        ciphertexts: HashMap<String, Ciphertext>,
        plain: Vectors<'_>,
        keys: &data::EvaluationKeys,
        device: String,
        trace: Option<PathBuf>,
        progress: bool,
        spill: bool,
        why: String,
        checkpoint: Option<(PathBuf, f64)>,
        resume: Option<PathBuf>,
        expanded_bytes: Option<u64>,
    ) -> PyResult<Ran> {
        let plains = values(&plain);
        drop(plain);
        let (inner, keys) = (Arc::clone(&self.inner), Arc::clone(&keys.inner));
        let wanted = Wanted {
            device,
            trace,
            progress,
            spill,
            why,
            checkpoint,
            resume,
            expanded_bytes,
        };
        interruptible(py, move |watch| {
            inner.run(&ciphertexts, plains, &keys, wanted, watch)
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

/// The `ringmill` command; gives its exit status. `trace` traces a program in a Python file: it is given the path, the
/// slots and the scheme asked for and whether what is printed is JSON; and gives macro text, and the ends of inputs whose
/// types set them.
#[pyfunction]
fn cli_main(py: Python<'_>, arguments: Vec<OsString>, trace: Py<PyAny>) -> PyResult<u8> {
    let told = Arc::new(AtomicBool::new(false));
    let said = Arc::clone(&told);
    let work = move |watch: &Watch| {
        let traced = |asked: Trace<'_>| {
            Python::attach(|py| {
                let asked = (asked.program, asked.slots, asked.scheme, asked.json);
                let told = trace.call1(py, asked);
                let told = told.and_then(|told| told.extract::<(String, Vec<_>)>(py));
                let told = told.map(|(text, ends)| TracedFile { text, ends });
                told.map_err(|error| {
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
