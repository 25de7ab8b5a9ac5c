//! Compiled circuits.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use ringmill_cli::Bar;
use ringmill_compiler::circuit::graph::BITS;
use ringmill_compiler::circuit::{Circuit, CircuitError};
use ringmill_devices::Saving;
use ringmill_devices::circuit::client::{bound, unbound};
use ringmill_devices::circuit::{Keeping, Server, run};
use ringmill_schemes::tfhe::Client;

use super::client::CircuitKeys;
use super::data::{CircuitEvaluationKeys, CircuitParams, EncryptedIntegers};
use super::{refused, scheme, stopped};
use crate::errors::{DataError, ParameterError};
use crate::watch::interruptible;

/// A program on integers as lookups of 2 + 2 bits.
#[pyclass(frozen, module = "ringmill")]
pub struct LoweredCircuit {
    inner: Arc<Circuit>,
    params: CircuitParams,
}

impl LoweredCircuit {
    /// What `lower` makes for lookups that bear sums of squared factors up to what it is given, so that each fails with a
    /// probability of at most 2^`failure`.
    pub fn of(
        py: Python<'_>,
        params: &CircuitParams,
        failure: f64,
        lower: impl FnOnce(u64) -> Result<Circuit, CircuitError> + Send + 'static,
    ) -> PyResult<Self> {
        let noise = params.inner.noise();
        let limit = noise.largest_norm(BITS, failure).ok_or_else(|| {
            ParameterError::new_err(format!(
                "a lookup fails with probability 2^{:.1} with these parameters, more than the 2^{failure} asked for; ask for less or take another set",
                noise.sum_failure(BITS, 1)
            ))
        })?;
        let made = interruptible(py, move |_| lower(limit))?;
        Ok(Self {
            inner: Arc::new(made.map_err(refused)?),
            params: params.clone(),
        })
    }
}

#[pymethods]
impl LoweredCircuit {
    #[getter]
    fn params(&self) -> CircuitParams {
        self.params.clone()
    }

    /// Bootstraps, those of the longest chain, and log2 of the probability that any of them fails.
    #[getter]
    fn cost(&self) -> (usize, usize, f64) {
        let graph = &self.inner.graph;
        let cost = graph.cost();
        let noise = self.params.inner.noise();
        let each = graph.lookups.iter();
        let each = each.map(|lookup| noise.sum_failure(BITS, lookup.operand.norm()).exp2());
        (cost.bootstraps, cost.depth, each.sum::<f64>().log2())
    }

    /// Fresh keys from the system's randomness.
    fn keygen(&self, py: Python<'_>) -> PyResult<CircuitKeys> {
        let (params, circuit) = (Arc::clone(&self.params.inner), Arc::clone(&self.inner));
        interruptible(py, move |_| {
            let client = Client::new(params).map_err(scheme)?;
            CircuitKeys::new(client, circuit)
        })?
    }

    /// The client whose secret key was saved, with fresh evaluation keys.
    fn load_secret_key(&self, py: Python<'_>, path: PathBuf) -> PyResult<CircuitKeys> {
        let (params, circuit) = (Arc::clone(&self.params.inner), Arc::clone(&self.inner));
        interruptible(py, move |watch| {
            CircuitKeys::load(params, circuit, &path, watch)
        })?
    }

    /// Runs on `threads` threads (0: one a core). `groups` says how many ports each argument has, in order, and of how many
    /// each result is made. Gives the results, seconds, threads, and the most wires that were there at a time.
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
        threads: usize,
        progress: bool,
        checkpoint: Option<(PathBuf, f64)>,
        resume: Option<PathBuf>,
    ) -> PyResult<(Vec<EncryptedIntegers>, f64, usize, usize)> {
        let (circuit, params) = (Arc::clone(&self.inner), Arc::clone(&self.params.inner));
        let keys = Arc::clone(&keys.inner);
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let keeping = Keeping {
            saving: checkpoint.map(|(path, seconds)| Saving {
                path,
                // What is no duration is no limit.
                every: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
            }),
            resume,
        };
        interruptible(py, move |watch| {
            let (arguments, results) = groups;
            let mut ports = circuit.inputs.iter();
            let mut each = Vec::new();
            for (given, count) in inputs.iter().zip(arguments) {
                let mut digits = given.inner.iter().cloned();
                for port in ports.by_ref().take(count) {
                    let wanted = ringmill_devices::circuit::client::ciphertexts(port);
                    each.push(digits.by_ref().take(wanted).collect());
                }
                if digits.next().is_some() {
                    return Err(DataError::new_err(
                        "an input has more ciphertexts than its type; encrypt it for this program",
                    ));
                }
            }
            let inputs = bound(&circuit, each).map_err(stopped)?;
            let evaluator = keys.evaluator()?;
            let bar = if progress { Bar::new() } else { Bar::none() };
            let server = Server {
                evaluator: &evaluator,
                threads,
                watch,
                progress: &bar,
            };
            let ran = run(&circuit.graph, &server, inputs, &keeping).map_err(stopped)?;
            let seconds = ran.elapsed.as_secs_f64();
            let mut outputs = unbound(&circuit, ran.outputs).into_iter();
            let results = results.into_iter().map(|count| EncryptedIntegers {
                inner: Arc::new(outputs.by_ref().take(count).flatten().collect()),
                params: Arc::clone(&params),
            });
            Ok((results.collect(), seconds, ran.threads, ran.peak_wires))
        })?
    }
}
