//! Compiled programs: keys, encryption, runs, decryption. The interpreter's lock is not held while computing.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use num_complex::Complex64;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use ringmill_cli::{Bar, CliError};
use ringmill_compiler::{Compiled, Options, ParamsChoice, Wanted};
use ringmill_devices::runtime::{self, Ciphertexts, Client, RuntimeError, Server, Vectors};
use ringmill_isa::{macros, mid};
use ringmill_machines::SimOptions;
use ringmill_schemes::ckks::{SecurityLevel, SecurityTable, file};

use crate::data::{Ciphertext, EvaluationKeys};
use crate::errors::{
    CompileError, DataError, DeviceError, FileError, KeysError, ParameterError, raise, refused,
};
use crate::files;
use crate::params::Params;
use crate::program::Program;

type Arrays<'py> = HashMap<String, PyReadonlyArray1<'py, Complex64>>;

fn vectors(arrays: &Arrays<'_>) -> Vectors {
    arrays
        .iter()
        .map(|(name, array)| (name.clone(), array.as_array().to_vec()))
        .collect()
}

/// The exception that a fault around a compiled program calls for.
fn failed(error: RuntimeError) -> PyErr {
    match error {
        RuntimeError::MissingKey { .. }
        | RuntimeError::NotSeeded { .. }
        | RuntimeError::Key { .. } => raise::<KeysError, _>(error),
        RuntimeError::Device(_) => raise::<DeviceError, _>(error),
        _ => raise::<DataError, _>(error),
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
    sample: Option<Vec<PyReadonlyArray1<'_, Complex64>>>,
    table: &str,
    security: u32,
) -> PyResult<CompiledProgram> {
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
        input_bound,
        sample: sample.map(|inputs| inputs.iter().map(|v| v.as_array().to_vec()).collect()),
        ..Options::default()
    };
    let source = program.inner.clone();
    let compiled = py
        .detach(|| ringmill_compiler::compile(source, &options))
        .map_err(|e| refused(py, e))?;
    Ok(CompiledProgram {
        compiled: Arc::new(compiled),
        server: Mutex::new(None),
    })
}

/// A compiled program.
#[pyclass(frozen)]
struct CompiledProgram {
    compiled: Arc<Compiled>,
    /// The server of the keys last used: it holds what the seeds expanded to, and the encoded constants.
    server: Mutex<Option<(Arc<runtime::EvaluationKeys>, Arc<Server>)>>,
}

impl CompiledProgram {
    fn server(&self, keys: &Arc<runtime::EvaluationKeys>) -> Result<Arc<Server>, RuntimeError> {
        let mut kept = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, server)) = kept.as_ref().filter(|(of, _)| Arc::ptr_eq(of, keys)) {
            return Ok(Arc::clone(server));
        }
        let server = Arc::new(Server::new(Arc::clone(&self.compiled), (**keys).clone())?);
        *kept = Some((Arc::clone(keys), Arc::clone(&server)));
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

    fn keys(&self, client: Result<Client, RuntimeError>) -> PyResult<Keys> {
        let mut client = client.map_err(failed)?;
        let evaluation = Arc::new(client.evaluation_keys().map_err(failed)?);
        Ok(Keys {
            compiled: Arc::clone(&self.compiled),
            client: Mutex::new(client),
            evaluation,
        })
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

    /// For each output its name and the bits of precision predicted.
    #[getter]
    fn predicted_bits(&self) -> Vec<(String, f64)> {
        let outputs = self.compiled.outputs.iter().zip(&self.compiled.predicted);
        outputs
            .map(|(output, precision)| (output.name.clone(), precision.bits()))
            .collect()
    }

    /// The program at a level, `macro`, `mid` or (of a machine) `micro`.
    fn text(&self, py: Python<'_>, level: &str, machine: &str) -> PyResult<String> {
        py.detach(|| match level {
            "macro" => Ok(macros::text::print(&self.compiled.managed)),
            "mid" => Ok(mid::text::print_program(&self.compiled.program)),
            "micro" => {
                let mut text = Vec::new();
                ringmill_machines::open(machine)
                    .and_then(|m| {
                        m.micro_text(&self.compiled.program, SimOptions::default(), &mut text)
                    })
                    .map_err(raise::<DeviceError, _>)?;
                String::from_utf8(text).map_err(raise::<DeviceError, _>)
            }
            other => Err(CompileError::new_err(format!(
                "there is no level `{other}`; expected macro, mid or micro"
            ))),
        })
    }

    /// Writes the traced program as macro text.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        files::write(&path, macros::text::print(&self.compiled.source).as_bytes())
    }

    fn keygen(&self, py: Python<'_>) -> PyResult<Keys> {
        py.detach(|| self.keys(Client::new(Arc::clone(&self.compiled))))
    }

    fn load_secret_key(&self, py: Python<'_>, path: PathBuf) -> PyResult<Keys> {
        py.detach(|| {
            let params = &self.compiled.params;
            let secret = files::read(&path, |bytes| {
                file::read_secret_key_in_the_clear(bytes, params)
            })?;
            self.keys(Client::with_secret_key(Arc::clone(&self.compiled), secret))
        })
    }

    /// Runs on a device; gives the encrypted outputs, and the report as text and as JSON.
    #[expect(
        clippy::too_many_arguments,
        reason = "the one caller is our own Python, which names them"
    )]
    fn run(
        &self,
        py: Python<'_>,
        ciphertexts: HashMap<String, Ciphertext>,
        plain: Arrays<'_>,
        keys: &EvaluationKeys,
        device: &str,
        trace: Option<PathBuf>,
        progress: bool,
    ) -> PyResult<(HashMap<String, Ciphertext>, String, String)> {
        let plains = vectors(&plain);
        drop(plain);
        py.detach(|| {
            let device = ringmill_devices::open(device).map_err(raise::<DeviceError, _>)?;
            let server = self.server(&keys.inner).map_err(failed)?;
            let ciphers: Ciphertexts = ciphertexts
                .into_iter()
                .map(|(n, c)| (n, (*c.inner).clone()))
                .collect();
            let inputs = (&ciphers, &plains);
            let answer = ringmill_cli::run_on(
                device.as_ref(),
                &server,
                inputs,
                false,
                trace.as_deref(),
                &if progress { Bar::new() } else { Bar::none() },
            );
            let answer = answer.map_err(|error| match error {
                CliError::Runtime(error) => failed(error),
                error => raise::<FileError, _>(error),
            })?;
            let json = serde_json::to_string(&answer.report).map_err(raise::<DeviceError, _>)?;
            Ok((
                self.wrap(answer.outputs.unwrap_or_default()),
                answer.report.to_string(),
                json,
            ))
        })
    }
}

/// The keys of one client of a compiled program, the secret one among them.
#[pyclass(frozen)]
struct Keys {
    compiled: Arc<Compiled>,
    client: Mutex<Client>,
    evaluation: Arc<runtime::EvaluationKeys>,
}

#[pymethods]
impl Keys {
    #[getter]
    fn evaluation_keys(&self) -> EvaluationKeys {
        EvaluationKeys {
            inner: Arc::clone(&self.evaluation),
            params: Arc::clone(&self.compiled.params),
        }
    }

    /// Whether the program has complex constants.
    #[getter]
    fn complex(&self) -> bool {
        self.compiled
            .source
            .data
            .iter()
            .flatten()
            .any(|&(_, im)| im != 0.0)
    }

    fn encrypt(&self, py: Python<'_>, inputs: Arrays<'_>) -> PyResult<HashMap<String, Ciphertext>> {
        let inputs = vectors(&inputs);
        let degree = self.compiled.params.degree();
        let encrypted = py.detach(|| {
            let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
            client.encrypt(&inputs).map_err(failed)
        })?;
        Ok(encrypted
            .into_iter()
            .map(|(n, c)| {
                (
                    n,
                    Ciphertext {
                        inner: Arc::new(c),
                        degree,
                    },
                )
            })
            .collect())
    }

    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &Ciphertext,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let name = "ciphertext".to_owned();
        let values = py.detach(|| {
            let client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
            let one = BTreeMap::from([(name.clone(), (*ciphertext.inner).clone())]);
            client.decrypt(&one).map_err(failed)
        })?;
        Ok(values
            .into_iter()
            .next()
            .map(|(_, v)| v)
            .unwrap_or_default()
            .into_pyarray(py))
    }

    /// For each output of the program its name, the predicted bits of precision, and those measured against the clear.
    fn measure(
        &self,
        py: Python<'_>,
        inputs: Arrays<'_>,
        outputs: HashMap<String, Ciphertext>,
    ) -> PyResult<Vec<(String, f64, Option<f64>)>> {
        let inputs = vectors(&inputs);
        py.detach(|| {
            let client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
            let outputs: Ciphertexts = outputs
                .into_iter()
                .map(|(n, c)| (n, (*c.inner).clone()))
                .collect();
            let clear = client.decrypt(&outputs).map_err(failed)?;
            let rows = client.measure(&inputs, &clear).map_err(failed)?;
            Ok(rows
                .into_iter()
                .map(|row| (row.output, row.predicted_bits, row.measured_bits))
                .collect())
        })
    }

    fn save_secret_key(&self, path: PathBuf) -> PyResult<()> {
        let client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        files::write(
            &path,
            &file::write_secret_key_in_the_clear(client.secret_key()),
        )
    }
}

/// The devices a program can run on.
#[pyfunction]
fn devices() -> Vec<String> {
    let machines = ringmill_machines::MACHINES
        .iter()
        .map(|name| format!("sim:{name}"));
    let rtl = ringmill_devices::RTL_MACHINES
        .iter()
        .map(|name| format!("rtl:{name}"));
    std::iter::once("cpu".to_owned())
        .chain(machines)
        .chain(rtl)
        .collect()
}

/// The `ringmill` command; gives its exit status.
#[pyfunction]
fn cli_main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| ringmill_cli::main(arguments))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<CompiledProgram>()?;
    m.add_class::<Keys>()?;
    m.add_function(wrap_pyfunction!(compile_program, m)?)?;
    m.add_function(wrap_pyfunction!(devices, m)?)?;
    m.add_function(wrap_pyfunction!(cli_main, m)?)
}
