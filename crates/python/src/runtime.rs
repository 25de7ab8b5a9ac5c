// SPDX-License-Identifier: Apache-2.0
//! Python's view of compiled programs: keys, encryption, runs, decryption. Long computations do not hold the
//! interpreter's lock.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use ringmill_compiler::arrays::Arrays;
use ringmill_compiler::saved;
use ringmill_compiler::scheme::ErrorOf;
use ringmill_compiler::{
    Accuracy, Compiled, KeyWishes, Options, ParamsChoice, Prefer, Target, Values,
};
use ringmill_isa::macros::{self, MacroProgram};
use ringmill_limits::{Limits, Watch};
use ringmill_math::plans::{self, Choice};
use ringmill_runtime::{Known, Served, Wishes, with_scheme};
use ringmill_schemes::file::Accepted;
use ringmill_schemes::rlwe::{SecurityLevel, SecurityTable};

use crate::bootstrapping::Bootstrapping;
use crate::compare::{Inputs, Table, Wanted as Compared};
use crate::data::{self, Ciphertext, PublicKey};
use crate::errors::{DataError, DeviceError, Fault, ParameterError, raise, refused};
use crate::files;
use crate::keys::{Keys, Vectors, values};
use crate::page::{Lines, sources};
use crate::params::{Params, accepted};
use crate::program::{Program, PyArrays, arrays_of, inputs_of, py_arrays};
use crate::progress::{Asked, Shown};
use crate::ready::{AnyProgram, Ran, Ready, Wanted};
use crate::scheme::{PyEnds, Vector, unknown};
use crate::watch::{Saves, interruptible, until_stopped};

/// Compiles a traced program for given parameters, or for the smallest secure ones that the compiler finds.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "the one caller is our own Python, which names them"
)]
fn compile_program(
    py: Python<'_>,
    program: &Program,
    params: Option<&Params>,
    precision: Option<u32>,
    digits: Option<u32>,
    integer_bits: u32,
    input_bound: f64,
    ranges: Vec<Option<PyEnds>>,
    sample: Option<Vec<Vector<'_>>>,
    margin: f64,
    table: &str,
    security: u32,
    target: Option<&str>,
    bootstrapping: Option<&Bootstrapping>,
    may_bootstrap: bool,
    prefer_keys: bool,
    keys: Option<&str>,
) -> PyResult<CompiledProgram> {
    let target = target.map(ringmill_sim::target).transpose();
    let target = target.map_err(raise::<DeviceError, _>)?;
    let wishes = Wishes {
        accuracy: Accuracy::asked(precision, digits),
        integer_bits: Some(integer_bits),
        table: SecurityTable::from_name(table).map_err(raise::<ParameterError, _>)?,
        level: SecurityLevel::from_bits(security).map_err(raise::<ParameterError, _>)?,
        bootstrapping: may_bootstrap,
    };
    let keys = keys.map(Limits::parse).transpose();
    let keys = keys.map_err(|error| ParameterError::new_err(format!("keys: {error}")))?;
    let keys = KeyWishes {
        prefer: match prefer_keys {
            true => Prefer::Keys,
            false => Prefer::Speed,
        },
        most_bytes: keys.map(|limits| limits.memory),
    };
    let sample = sample.map(|inputs| inputs.iter().map(Vector::values).collect());
    let asked = Asking {
        params,
        wishes,
        keys,
        input_bound,
        ranges,
        sample,
        margin,
        target,
        bootstrapping,
    };
    // If parameters are given, the compiler reports an error in a program of another scheme.
    let name = params.map_or(program.inner.scheme.as_str(), |params| {
        params.inner.scheme()
    });
    let scheme = Known::of_name(name).ok_or_else(|| unknown(name))?;
    with_scheme!(scheme, S => compiled_as::<S>(py, program.inner.clone(), asked))
}

/// The options of a compilation, in the types in which Python passes them.
struct Asking<'a> {
    params: Option<&'a Params>,
    wishes: Wishes,
    keys: KeyWishes,
    input_bound: f64,
    ranges: Vec<Option<PyEnds>>,
    sample: Option<Vec<Values>>,
    margin: f64,
    target: Option<Target>,
    bootstrapping: Option<&'a Bootstrapping>,
}

fn compiled_as<S: Served>(
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
        None => ParamsChoice::Choose(S::wanted(&asked.wishes)),
    };
    let other = || DataError::new_err("ranges and samples are other numbers than the scheme's");
    let range = |ends: &Option<PyEnds>| match ends {
        Some(ends) => {
            let range = ends.ends().and_then(S::declared);
            range.map(Some).ok_or_else(other)
        }
        None => Ok(None),
    };
    let message = |values| S::message(values).ok_or_else(other);
    let sample = asked
        .sample
        .map(|sample| sample.into_iter().map(message).collect::<PyResult<_>>());
    let options = Options::<S> {
        params,
        keys: asked.keys,
        target: asked.target,
        input_bound: asked.input_bound,
        ranges: asked.ranges.iter().map(range).collect::<PyResult<_>>()?,
        margin: asked.margin,
        sample: sample.transpose()?,
        bootstrapping: match asked.bootstrapping {
            None => None,
            Some(set) => {
                let taken = set.inner().downcast_ref::<S::Bootstrapping>();
                let none = || format!("programs of {} do not bootstrap by this set", S::NAME);
                Some(
                    taken
                        .ok_or_else(|| ParameterError::new_err(none()))?
                        .clone(),
                )
            }
        },
        ..Options::default()
    };
    let compile = move |watch: &Watch| {
        let mut options = options;
        options.watch = watch.clone();
        ringmill_compiler::compile(source, &options).map(|compiled| (compiled, options))
    };
    compiled(py, compile, Arrays::default())
}

/// Compiles a program for its scheme, and keeps the options with which it can be saved.
fn compiled<S: Served>(
    py: Python<'_>,
    compile: impl FnOnce(&Watch) -> Result<(Compiled<S>, Options<S>), ErrorOf<S>> + Send + 'static,
    arrays: Arrays,
) -> PyResult<CompiledProgram> {
    let (compiled, options) = interruptible(py, compile)?.map_err(|e| refused(py, e))?;
    Ok(CompiledProgram {
        inner: Arc::new(Ready::new(compiled, options)),
        arrays,
    })
}

/// The text of a program's file, read once: macro text, perhaps with the parameters and options of a saved program.
#[pyclass(frozen, module = "ringmill")]
pub struct ProgramFile {
    path: Arc<PathBuf>,
    text: Arc<String>,
}

/// Reads the text of a program's file.
#[pyfunction]
fn read_program(py: Python<'_>, path: PathBuf) -> PyResult<ProgramFile> {
    interruptible(py, move |watch| {
        let text = files::read(&path, watch, |bytes| -> Result<_, Fault> {
            Ok(std::str::from_utf8(bytes)?.to_owned())
        })?;
        Ok(ProgramFile {
            path: Arc::new(path),
            text: Arc::new(text),
        })
    })?
}

/// Reads the text of a program from the content of its file.
#[pyfunction]
fn program_of_bytes(data: &[u8]) -> PyResult<ProgramFile> {
    let path = PathBuf::from("the program's bytes");
    let text = std::str::from_utf8(data).map_err(|e| files::fault(&path, e))?;
    Ok(ProgramFile {
        text: Arc::new(text.to_owned()),
        path: Arc::new(path),
    })
}

#[pymethods]
impl ProgramFile {
    /// Returns the rest of the last line of the file that starts with `mark`. The file's first line does not count, and
    /// None stands for no such line.
    fn comment(&self, mark: &str) -> Option<&str> {
        let (_, rest) = self.text.rsplit_once(&format!("\n{mark}"))?;
        Some(rest.split_once('\n').map_or(rest, |(line, _)| line))
    }

    /// Parses the program, without options.
    fn program(&self, py: Python<'_>) -> PyResult<Program> {
        let (path, text) = (Arc::clone(&self.path), Arc::clone(&self.text));
        interruptible(py, move |watch| {
            Program::of_file(&text, watch).map_err(|e| files::fault(&path, e))
        })?
    }

    /// Compiles the program that [`CompiledProgram::save`] wrote with the saved options. Returns None for macro text
    /// without options.
    fn compiled(
        &self,
        py: Python<'_>,
        tables: Option<Vec<String>>,
        insecure: bool,
    ) -> PyResult<Option<CompiledProgram>> {
        let accepted = accepted(tables.as_deref(), insecure)?;
        let (path, text) = (Arc::clone(&self.path), Arc::clone(&self.text));
        let read = move |watch: &Watch| {
            saved_program(&text, accepted, watch).map_err(|e| files::fault(&path, e))
        };
        match interruptible(py, read)?? {
            Some(compile) => compile(py).map(Some),
            None => Ok(None),
        }
    }
}

/// Reads a saved program, or returns `None` for macro text without options.
fn saved_program(text: &str, accepted: Accepted, watch: &Watch) -> Result<Option<Saved>, Fault> {
    watch.admit("the program", macros::text::memory_for(text))?;
    if !saved::is_saved(text) {
        return Ok(None);
    }
    let program = macros::text::parse(text)?;
    let name = program.scheme.as_str();
    let Some(scheme) = Known::of_name(name) else {
        return Err(unknown(name).into());
    };
    with_scheme!(scheme, S => saved_as::<S>(program, text, accepted))
}

/// A function that compiles a saved program once the interpreter is available.
type Saved = Box<dyn FnOnce(Python<'_>) -> PyResult<CompiledProgram> + Send>;

fn saved_as<S: Served>(
    program: MacroProgram,
    text: &str,
    accepted: Accepted,
) -> Result<Option<Saved>, Fault> {
    let arrays = saved::arrays(text, &program)?;
    let recipe = saved::recipe::<S>(text, accepted)?;
    Ok(recipe.map(|recipe| -> Saved {
        Box::new(move |py| {
            let compile = move |watch: &Watch| recipe.compile(program, watch);
            compiled(py, compile, arrays)
        })
    }))
}

/// A compiled program, as Python sees it.
#[pyclass(frozen)]
struct CompiledProgram {
    inner: Arc<dyn AnyProgram>,
    /// The result kind and array lengths of the traced function, if the program was saved.
    arrays: Arrays,
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

    /// The length of the program's vectors in slots.
    #[getter]
    fn slots(&self) -> u32 {
        self.inner.slots()
    }

    /// The name of the scheme that the program is for.
    #[getter]
    fn scheme(&self) -> &str {
        self.inner.scheme()
    }

    /// The bytes of all evaluation keys that the program needs.
    #[getter]
    fn key_bytes(&self) -> u64 {
        self.inner.key_bytes()
    }

    /// The predicted bits of precision of each output with its name, or None if outputs are exact.
    #[getter]
    fn predicted_bits(&self) -> Option<Vec<(String, f64)>> {
        self.inner.predicted_bits()
    }

    /// The predicted bits of precision of each output for inputs like the sample. None without a sample, and if outputs
    /// are exact.
    #[getter]
    fn predicted_bits_like_sample(&self) -> Option<Vec<(String, f64)>> {
        self.inner.predicted_bits_like_sample()
    }

    /// The predicted right digits of each output with its name, or None if outputs are exact.
    #[getter]
    fn predicted_digits(&self) -> Option<Vec<(String, f64)>> {
        self.inner.predicted_digits()
    }

    /// The predicted bits of noise budget of each output with its name, or None if outputs are approximate.
    #[getter]
    fn predicted_budget(&self) -> Option<Vec<(String, f64)>> {
        self.inner.predicted_budget()
    }

    /// The statements that the program makes about its own values (`rm.bounded`), as sentences.
    #[getter]
    fn assumptions(&self) -> Vec<String> {
        self.inner.assumptions()
    }

    /// The range of each input with its name: one number is a radius, two are the ends.
    #[getter]
    fn ranges(&self) -> Vec<(String, PyEnds)> {
        self.inner.ranges()
    }

    /// Returns the program's text at the level `macro`, `mid`, or for the named machine `micro`.
    fn text(&self, py: Python<'_>, level: String, machine: String) -> PyResult<String> {
        let inner = Arc::clone(&self.inner);
        interruptible(py, move |watch| inner.text(&level, &machine, watch))?
    }

    /// Returns the program's description as a part of an HTML page. `lines` are the lines of its source.
    fn fragment(&self, lines: Lines) -> String {
        self.inner.fragment(&sources(&lines))
    }

    /// Returns the compiler's decisions on the program in three forms: as text, as JSON, and as a part of an HTML page.
    fn explained(&self, py: Python<'_>) -> PyResult<[String; 3]> {
        let inner = Arc::clone(&self.inner);
        interruptible(py, move |watch| inner.explained(watch))?
    }

    /// Counts how often a run executes each macro instruction, and each mid-level instruction. Repeats are multiplied
    /// and not unrolled.
    fn counts(&self) -> (HashMap<String, u64>, HashMap<String, u64>) {
        self.inner.counts()
    }

    /// Counts how often a run executes each mid-level instruction, from the program written out call by call. Raises
    /// CompileError for a program of more than 2^20 calls.
    fn unrolled_counts(&self) -> PyResult<HashMap<String, u64>> {
        self.inner.unrolled_counts()
    }

    /// The names of the program's inputs, each with whether it is encrypted.
    #[getter]
    fn inputs(&self) -> Vec<(String, bool)> {
        inputs_of(self.inner.source())
    }

    /// The names of the program's outputs.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.inner.outputs().to_vec()
    }

    /// The kind of the traced function's result (`one`, `tuple` or `dict`) and the lengths of its arrays, if the
    /// program was saved.
    #[getter]
    fn arrays(&self) -> PyArrays {
        py_arrays(self.inner.source(), &self.arrays)
    }

    /// Writes the traced program to a file of macro text, with its options, the kind of the function's result, and the
    /// lengths of arrays shorter than the slots. The line `comment` follows, if it is not empty. The sample is written
    /// only `with_sample`, into a file that only its owner can read.
    #[expect(
        clippy::too_many_arguments,
        reason = "the one caller is our own Python, which names them"
    )]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        returned: &str,
        inputs: HashMap<String, u32>,
        outputs: Vec<Option<u32>>,
        comment: String,
        with_sample: bool,
    ) -> PyResult<()> {
        let inner = Arc::clone(&self.inner);
        let arrays = arrays_of(inner.source(), returned, &inputs, outputs);
        interruptible(py, move |watch| {
            if !with_sample {
                let text = inner.saved(&arrays) + &comment;
                return files::write(&path, watch, text.as_bytes());
            }
            let text = inner.saved_with_sample(&arrays).ok_or_else(|| {
                DataError::new_err(
                    "with_sample=True: there is no sample to keep. The program was compiled without one, or is of whole \
                     numbers, or comes from a file without one; leave with_sample out",
                )
            })?;
            files::write_secret(&path, watch, (text + &comment).as_bytes())
        })?
    }

    /// Returns the text that [`CompiledProgram::save`] writes without the sample.
    fn saved(
        &self,
        py: Python<'_>,
        returned: &str,
        inputs: HashMap<String, u32>,
        outputs: Vec<Option<u32>>,
        comment: String,
    ) -> PyResult<String> {
        let inner = Arc::clone(&self.inner);
        let arrays = arrays_of(inner.source(), returned, &inputs, outputs);
        interruptible(py, move |_| inner.saved(&arrays) + &comment)
    }

    fn keygen(&self, py: Python<'_>) -> PyResult<Keys> {
        let inner = Arc::clone(&self.inner);
        interruptible(py, move |watch| inner.keygen(watch))?
    }

    /// Encrypts vectors by input name under a public key.
    fn encrypt(
        &self,
        py: Python<'_>,
        key: &PublicKey,
        inputs: Vectors<'_>,
    ) -> PyResult<HashMap<String, Ciphertext>> {
        let (inner, key) = (Arc::clone(&self.inner), key.clone());
        let inputs = values(&inputs);
        interruptible(py, move |watch| inner.encrypt(&key, inputs, watch))?
    }

    fn load_secret_key(&self, py: Python<'_>, path: PathBuf) -> PyResult<Keys> {
        let inner = Arc::clone(&self.inner);
        interruptible(py, move |watch| inner.load_secret_key(&path, watch))?
    }

    /// Runs the program on a device. Returns the encrypted outputs; the report as a summary, with every figure, and as
    /// JSON; and the data of HTML pages. `why` is the reason why the program has its scheme, for the report.
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
        timeline: bool,
        progress: Asked,
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
            timeline,
            spill,
            why,
            checkpoint,
            resume,
            expanded_bytes,
        };
        let saves = Saves(wanted.checkpoint.is_some());
        let shown = Arc::new(Shown::from(progress));
        let told = Arc::clone(&shown);
        let look = |py: Python<'_>| shown.look(py);
        until_stopped(py, saves, look, move |watch| {
            inner.run(&ciphertexts, plains, &keys, wanted, told.as_ref(), watch)
        })?
    }

    /// Compares the program's time on several machines, with fields of their descriptions set to several values, and on
    /// the CPU if there are inputs. Returns the rows as JSON, and their table as text and as HTML.
    #[expect(
        clippy::too_many_arguments,
        reason = "the one caller is our own Python, which names them"
    )]
    fn compare(
        &self,
        py: Python<'_>,
        machines: Vec<String>,
        set: Vec<(String, Vec<String>)>,
        inputs: Option<(
            HashMap<String, Ciphertext>,
            Vectors<'_>,
            Py<data::EvaluationKeys>,
        )>,
        threads: Option<usize>,
        spill: bool,
        send_keys: bool,
        progress: Asked,
    ) -> PyResult<Table> {
        let inputs = inputs.map(|(ciphertexts, plain, keys)| Inputs {
            ciphertexts,
            plains: values(&plain),
            keys: Arc::clone(&keys.get().inner),
        });
        let wanted = Compared {
            machines,
            set,
            spill,
            send_keys,
            threads,
            inputs,
        };
        let inner = Arc::clone(&self.inner);
        let shown = Arc::new(Shown::from(progress));
        let told = Arc::clone(&shown);
        let look = |py: Python<'_>| shown.look(py);
        until_stopped(py, Saves(false), look, move |watch| {
            inner.compare(wanted, told.as_ref(), watch)
        })?
    }
}

/// Returns the names of the devices that a program can run on.
#[pyfunction]
fn devices() -> Vec<String> {
    ringmill_sim::Devices::standard().names()
}

/// Returns the transform kernels that were chosen in this process, one line each.
#[pyfunction]
fn plans_made() -> Vec<String> {
    let line = |choice: Choice| {
        let shape = choice.shape;
        let chosen = choice.candidates.iter().find(|c| c.kernel == choice.kernel);
        let seconds = chosen.and_then(|chosen| chosen.seconds);
        let how = match seconds {
            Some(seconds) => format!("{:.2} us", seconds * 1e6),
            None => choice.source.name().to_owned(),
        };
        format!(
            "{} on words of {} bits, primes of {} bits, 2^{} residues: {} ({how})",
            shape.task.name(),
            shape.word_bits,
            shape.bits,
            shape.log_n,
            choice.kernel,
        )
    };
    plans::made().into_iter().map(line).collect()
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<CompiledProgram>()?;
    m.add_function(wrap_pyfunction!(compile_program, m)?)?;
    m.add_class::<ProgramFile>()?;
    m.add_function(wrap_pyfunction!(program_of_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(read_program, m)?)?;
    m.add_function(wrap_pyfunction!(plans_made, m)?)?;
    m.add_function(wrap_pyfunction!(devices, m)?)
}
