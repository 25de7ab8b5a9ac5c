// SPDX-License-Identifier: Apache-2.0
//! Python's view of compiled TFHE circuits.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ringmill_circuits::circuit::choose::CANDIDATES;
use ringmill_circuits::circuit::netlist::Netlist;
use ringmill_circuits::circuit::{Chosen, Circuit, Estimate, Program, Source, choose};
use ringmill_circuits::run::client::{bound, unbound};
use ringmill_circuits::run::{CircuitRunError, Engine, Keeping, MachineTime, Server, run};
use ringmill_circuits::tfhe::{Client, Params, keys};
use ringmill_device::Saving;

use super::client::CircuitKeys;
use super::data::{CircuitEvaluationKeys, CircuitParams, EncryptedIntegers};
use super::saved::{self, Told as Declaration};
use super::{refused, scheme, stopped};
use crate::errors::{DataError, DeviceError, raise};
use crate::files;
use crate::progress::{Asked, Shown};
use crate::watch::{Saves, interruptible, until_stopped};

/// A program on integers, compiled to look-ups on digits of 2 message bits and 2 carry bits, or to gates of bits.
#[pyclass(frozen, module = "ringmill")]
pub struct LoweredCircuit {
    inner: Arc<Circuit>,
    pub params: CircuitParams,
    /// The costs of the circuit with each parameter set that was compared.
    estimates: Vec<Estimate>,
    pub source: CircuitSource,
    /// log2 of the largest probability with which one bootstrap may fail.
    pub failure: f64,
}

/// The program or netlist from which a circuit was compiled. A saved circuit holds it.
#[derive(Clone)]
pub enum CircuitSource {
    Program(Arc<Program>),
    Netlist(Arc<Netlist>),
}

/// The cost of a circuit with a parameter set, for Python. It has the set's name, the number of bootstraps, and that of
/// the longest chain of bootstraps. Then come the bytes that operations touch, and log2 of the probability that any
/// bootstrap fails.
type Told = (Option<&'static str>, usize, usize, u64, f64);

/// The time of a circuit on a machine, for Python. It has the machine's name, the source of its cycles, its clock in
/// MHz, the number of bootstraps, and the cycles of one bootstrap. Then come the number of ciphertexts that the machine
/// can interleave, and the cycles of all bootstraps if it does so.
type Machine = (String, &'static str, f64, usize, u64, usize, u64);

/// The result of a circuit's run, for Python: outputs, seconds, threads, the largest number of encrypted values in
/// memory at a time, and the time on a machine, if there is one.
type Ran = (Vec<EncryptedIntegers>, f64, usize, usize, Option<Machine>);

fn machine(time: MachineTime) -> Machine {
    let t = time;
    (
        t.machine,
        t.how,
        t.clock_mhz,
        t.bootstraps,
        t.each,
        t.places,
        t.interleaved,
    )
}

fn told(estimate: &Estimate) -> Told {
    let e = *estimate;
    (e.set, e.bootstraps, e.depth, e.work, e.failure)
}

impl LoweredCircuit {
    /// Compiles a circuit for these parameters, or without parameters for the named set with the least work.
    ///
    /// # Errors
    /// Raises a Python exception if the circuit does not compile, or if the user stops the work.
    pub fn of(
        py: Python<'_>,
        params: Option<&CircuitParams>,
        source: CircuitSource,
        failure: f64,
    ) -> PyResult<Self> {
        let sets = match params {
            Some(params) => vec![Arc::clone(&params.inner)],
            None => {
                let named = CANDIDATES.iter().map(|name| Params::named(name));
                named.collect::<Result<_, _>>().map_err(scheme)?
            }
        };
        let of = source.clone();
        let chosen = interruptible(py, move |watch| {
            let of = match &of {
                CircuitSource::Program(program) => Source::Program(program),
                CircuitSource::Netlist(netlist) => Source::Netlist(netlist),
            };
            choose(of, &sets, failure, watch)
        });
        Ok(Self::new(chosen?.map_err(refused)?, source, failure))
    }

    /// Keeps a circuit that was compiled from `source`.
    pub fn new(chosen: Chosen, source: CircuitSource, failure: f64) -> Self {
        Self {
            inner: Arc::new(chosen.circuit),
            params: CircuitParams {
                inner: chosen.params,
            },
            estimates: chosen.estimates,
            source,
            failure,
        }
    }
}

#[pymethods]
impl LoweredCircuit {
    #[getter]
    fn params(&self) -> CircuitParams {
        self.params.clone()
    }

    /// The cost of the circuit with its parameters.
    #[getter]
    fn cost(&self) -> Told {
        told(&Estimate::of(&self.inner, &self.params.inner))
    }

    /// The costs of the circuit with each parameter set that was compared.
    #[getter]
    fn estimates(&self) -> Vec<Told> {
        self.estimates.iter().map(told).collect()
    }

    /// The bytes of the circuit's evaluation keys, known before a key is made.
    #[getter]
    fn key_bytes(&self) -> u64 {
        keys::bytes(&self.params.inner)
    }

    /// Makes a new secret key and evaluation keys from the system's randomness.
    fn keygen(&self, py: Python<'_>) -> PyResult<CircuitKeys> {
        let (params, circuit) = (Arc::clone(&self.params.inner), Arc::clone(&self.inner));
        interruptible(py, move |watch| {
            let client = Client::new(params).map_err(scheme)?;
            CircuitKeys::new(client, circuit, watch)
        })?
    }

    /// Makes a client from a saved secret key, with new evaluation keys.
    fn load_secret_key(&self, py: Python<'_>, path: PathBuf) -> PyResult<CircuitKeys> {
        let (params, circuit) = (Arc::clone(&self.params.inner), Arc::clone(&self.inner));
        interruptible(py, move |watch| {
            CircuitKeys::load(params, circuit, &path, watch)
        })?
    }

    /// Writes a file from which `load_circuit` makes the same circuit.
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        name: String,
        arguments: Vec<Declaration>,
        results: Vec<Declaration>,
        returned: &str,
    ) -> PyResult<()> {
        let bytes = saved::written(self, name, arguments, results, returned)?;
        interruptible(py, move |watch| files::write(&path, watch, &bytes))?
    }

    /// Returns the bytes of the file that `save` writes.
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        name: String,
        arguments: Vec<Declaration>,
        results: Vec<Declaration>,
        returned: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = saved::written(self, name, arguments, results, returned)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Runs the circuit on `threads` threads (0: one for each core), on the named device, or by the CPU's kernels
    /// without a name. `groups` has the number of ports of each argument and of each result, in order.
    #[expect(
        clippy::too_many_arguments,
        reason = "the one caller is our own Python"
    )]
    fn run(
        &self,
        py: Python<'_>,
        inputs: Vec<EncryptedIntegers>,
        keys: &CircuitEvaluationKeys,
        groups: (Vec<usize>, Vec<usize>),
        device: Option<String>,
        threads: usize,
        progress: Asked,
        checkpoint: Option<(PathBuf, f64)>,
        resume: Option<PathBuf>,
    ) -> PyResult<Ran> {
        let (circuit, params) = (Arc::clone(&self.inner), Arc::clone(&self.params.inner));
        let keys = Arc::clone(&keys.inner);
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let keeping = Keeping {
            saving: checkpoint.map(|(path, seconds)| Saving {
                path,
                // Seconds that form no duration, such as infinity, mean that nothing is saved in between.
                every: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
            }),
            resume,
        };
        let saves = Saves(keeping.saving.is_some());
        let shown = Arc::new(Shown::from(progress));
        let told = Arc::clone(&shown);
        let look = |py: Python<'_>| shown.look(py);
        until_stopped(py, saves, look, move |watch| {
            let (arguments, results) = groups;
            let mut ports = circuit.inputs.as_slice();
            let mut each = Vec::new();
            for (given, count) in inputs.iter().zip(arguments) {
                let own;
                (own, ports) = ports.split_at(count.min(ports.len()));
                given.check(own)?;
                let mut digits = given.inner.ciphertexts().iter().cloned();
                for port in own {
                    let wanted = ringmill_circuits::run::client::ciphertexts(port);
                    each.push(digits.by_ref().take(wanted).collect());
                }
                if digits.next().is_some() {
                    return Err(DataError::new_err(
                        "an input has more ciphertexts than its type; encrypt it for this program",
                    ));
                }
            }
            let inputs = bound(&circuit, each).map_err(stopped)?;
            let device = device.map(|name| ringmill_sim::open(&name));
            let device = device.transpose().map_err(raise::<DeviceError, _>)?;
            let failed = |e| stopped(CircuitRunError::Bootstrap(e));
            let (evaluator, programs);
            let engine = match &device {
                None => {
                    evaluator = keys.evaluator(watch)?;
                    Engine::Evaluator(&evaluator)
                }
                Some(device) => {
                    programs = keys.programs(watch)?;
                    Engine::Device {
                        bootstrap: &programs,
                        device: device.as_ref(),
                    }
                }
            };
            let time = match engine {
                Engine::Evaluator(_) => None,
                Engine::Device { bootstrap, device } => {
                    MachineTime::of(bootstrap, device, &circuit.graph, watch).map_err(failed)?
                }
            };
            let server = Server {
                engine,
                threads,
                watch,
                progress: told.as_ref(),
            };
            let ran = run(&circuit.graph, &server, inputs, &keeping).map_err(stopped)?;
            let seconds = ran.elapsed.as_secs_f64();
            let mut outputs = unbound(&circuit, ran.outputs).into_iter();
            let mut ports = circuit.outputs.as_slice();
            let results = results.into_iter().map(|count| {
                let own;
                (own, ports) = ports.split_at(count.min(ports.len()));
                let ciphertexts = outputs.by_ref().take(count).flatten().collect();
                EncryptedIntegers::of(own, ciphertexts, &params)
            });
            Ok((
                results.collect(),
                seconds,
                ran.threads,
                ran.peak_wires,
                time.map(machine),
            ))
        })?
    }
}
