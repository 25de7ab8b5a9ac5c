// SPDX-License-Identifier: Apache-2.0
//! Python's view of the data that a circuit's client and server exchange: parameters, ciphertexts, evaluation keys.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use ringmill_circuits::Bootstrap;
use ringmill_circuits::circuit::Port;
use ringmill_circuits::run::CircuitRunError;
use ringmill_circuits::run::client::check_types;
use ringmill_circuits::tfhe::{
    self, BootstrapKey, Evaluator, IntegerType, KeySwitchKey, LweCiphertext, Messages, Params,
    ParamsBuilder, file, keys, sets, target,
};
use ringmill_limits::Watch;
use ringmill_schemes::file::InsecureParams;

use super::{admitted, scheme, stopped};
use crate::errors::{DeviceError, ParameterError, raise};
use crate::files;
use crate::watch::interruptible;

/// A checked TFHE parameter set of circuits.
#[pyclass(frozen, module = "ringmill")]
#[derive(Clone)]
pub struct CircuitParams {
    pub inner: Arc<Params>,
}

/// Returns the names of all parameter sets that circuits can use.
#[pyfunction]
pub fn circuit_sets() -> Vec<&'static str> {
    sets::names_with(|messages| matches!(messages, Messages::CIRCUITS | Messages::Booleans))
        .collect()
}

/// Returns the named TFHE parameter set. With `toy_for_tests_only` it returns small sizes for the same messages, which
/// keep nothing secret. `target` adapts the set to a machine.
#[pyfunction]
pub fn circuit_params(
    name: &str,
    toy_for_tests_only: bool,
    target: Option<&str>,
) -> PyResult<CircuitParams> {
    let named = ParamsBuilder::named(name).map_err(scheme)?;
    let digits = sets::names_with(|messages| messages == Messages::CIRCUITS);
    let builder = if !toy_for_tests_only {
        named
    } else if digits.into_iter().any(|set| set == name) {
        ParamsBuilder::toy_circuits_for_tests_only()
    } else {
        ParamsBuilder::toy_for_tests_only()
    };
    let engine = target.map(ringmill_sim::engine).transpose();
    let builder = match engine.map_err(raise::<DeviceError, _>)? {
        None => Ok(builder),
        Some(engine) if toy_for_tests_only => target::with_sizes_of(&engine, builder),
        Some(engine) => target::for_engine(&engine, builder),
    };
    let inner = builder.and_then(ParamsBuilder::build).map_err(scheme)?;
    match inner.sizes().messages {
        Messages::CIRCUITS | Messages::Booleans => Ok(CircuitParams { inner }),
        Messages::Integers { .. } => Err(ParameterError::new_err(format!(
            "the set {name} is not for booleans nor for messages of 2 + 2 bits, which circuits compute on; there is {}",
            circuit_sets().join(", ")
        ))),
    }
}

/// Returns whether readers accept insecure parameters.
pub fn insecure(allow: bool) -> InsecureParams {
    if allow {
        InsecureParams::AllowForTestsOnly
    } else {
        InsecureParams::Refuse
    }
}

#[pymethods]
impl CircuitParams {
    /// The set's sizes, security, failure rate, and the reason why products are exact, as text.
    #[getter]
    fn summary(&self) -> String {
        self.inner.summary()
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let inner = Arc::clone(&self.inner);
        interruptible(py, move |watch| {
            files::write(&path, watch, &file::write_params(&inner))
        })?
    }

    /// Reads a parameter file. Insecure parameters are refused unless the caller allows them.
    #[staticmethod]
    #[pyo3(signature = (path, allow_insecure_parameters_for_tests_only=false))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        allow_insecure_parameters_for_tests_only: bool,
    ) -> PyResult<Self> {
        let insecure = insecure(allow_insecure_parameters_for_tests_only);
        let inner = interruptible(py, move |watch| {
            files::read(&path, watch, |bytes| file::read_params(bytes, insecure))
        })??;
        Ok(Self { inner })
    }

    /// The bytes of the file that `save` writes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &file::write_params(&self.inner))
    }

    /// Reads the bytes of a parameter file. Insecure parameters are refused unless the caller allows them.
    #[staticmethod]
    #[pyo3(signature = (data, allow_insecure_parameters_for_tests_only=false))]
    fn from_bytes(
        py: Python<'_>,
        data: PyBackedBytes,
        allow_insecure_parameters_for_tests_only: bool,
    ) -> PyResult<Self> {
        let insecure = insecure(allow_insecure_parameters_for_tests_only);
        let inner = interruptible(py, move |watch| {
            files::parse(&data, watch, |bytes| file::read_params(bytes, insecure))
        })??;
        Ok(Self { inner })
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.inner == other.inner
    }

    fn __repr__(&self) -> String {
        let first = self.inner.summary();
        format!(
            "<ringmill parameters of {}>",
            first.lines().next().unwrap_or("TFHE")
        )
    }
}

/// The ciphertexts of one input or output of a circuit: an integer, or an array of integers.
#[pyclass(frozen, from_py_object, module = "ringmill")]
#[derive(Clone)]
pub struct EncryptedIntegers {
    pub inner: Arc<tfhe::EncryptedIntegers>,
    pub params: Arc<Params>,
}

impl EncryptedIntegers {
    pub fn new(inner: tfhe::EncryptedIntegers, params: &Arc<Params>) -> Self {
        Self {
            inner: Arc::new(inner),
            params: Arc::clone(params),
        }
    }

    /// Makes the encrypted integers of these ports from the ciphertexts of a run.
    pub fn of(ports: &[Port], ciphertexts: Vec<LweCiphertext>, params: &Arc<Params>) -> Self {
        let types = ports.iter().map(Port::integer).collect();
        let inner = tfhe::EncryptedIntegers::new(Some(types), ciphertexts);
        Self::new(inner, params)
    }

    /// Checks that the integers' types are those of the ports. Integers without types pass.
    ///
    /// # Errors
    /// Raises a Python exception if a type differs from its port's.
    pub fn check(&self, ports: &[Port]) -> PyResult<()> {
        let types = self.inner.types();
        types.map_or(Ok(()), |types| check_types(ports, types).map_err(stopped))
    }
}

#[pymethods]
impl EncryptedIntegers {
    /// The number of ciphertexts of the integers.
    fn __len__(&self) -> usize {
        self.inner.ciphertexts().len()
    }

    /// The identity of the secret key in hexadecimal, or None if the first ciphertext has none.
    #[getter]
    fn key_id(&self) -> Option<String> {
        let first = self.inner.ciphertexts().first()?;
        first.key_id().map(|id| id.to_string())
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let (inner, params) = (Arc::clone(&self.inner), Arc::clone(&self.params));
        interruptible(py, move |watch| -> PyResult<()> {
            let bytes = file::write_integers(&params, &inner).map_err(scheme)?;
            files::write(&path, watch, &bytes)
        })?
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, params: &CircuitParams) -> PyResult<Self> {
        let params = Arc::clone(&params.inner);
        interruptible(py, move |watch| {
            let read = |bytes: &[u8]| file::read_integers(bytes, &params, watch);
            let inner = files::read(&path, watch, read)?;
            Ok(Self::new(inner, &params))
        })?
    }

    /// The parameters of the ciphertexts.
    #[getter]
    fn params(&self) -> CircuitParams {
        CircuitParams {
            inner: Arc::clone(&self.params),
        }
    }

    /// The bytes of the file that `save` writes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (inner, params) = (Arc::clone(&self.inner), Arc::clone(&self.params));
        let bytes = interruptible(py, move |_| file::write_integers(&params, &inner))?;
        Ok(PyBytes::new(py, &bytes.map_err(scheme)?))
    }

    /// Reads the bytes of a file of encrypted integers, which must belong to these parameters.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes, params: &CircuitParams) -> PyResult<Self> {
        let params = Arc::clone(&params.inner);
        interruptible(py, move |watch| {
            let read = |bytes: &[u8]| file::read_integers(bytes, &params, watch);
            let inner = files::parse(&data, watch, read)?;
            Ok(Self::new(inner, &params))
        })?
    }

    fn __repr__(&self) -> String {
        let types = self.inner.types().unwrap_or_default().iter();
        let types: BTreeSet<String> = types.map(IntegerType::to_string).collect();
        let types: String = types.iter().map(|of| format!("of {of}, ")).collect();
        format!(
            "<ringmill encrypted integers {types}{} ciphertexts>",
            self.inner.ciphertexts().len()
        )
    }
}

/// The two evaluation keys that a server bootstraps with. They hold no secret.
pub struct ServerKeys {
    pub params: Arc<Params>,
    pub bootstrap: BootstrapKey,
    pub switch: KeySwitchKey,
    /// The expanded keys, for the CPU's kernels and for devices. They are made when a run first needs them.
    evaluator: OnceLock<Arc<Evaluator>>,
    programs: OnceLock<Arc<Bootstrap>>,
}

impl ServerKeys {
    pub fn new(params: Arc<Params>, bootstrap: BootstrapKey, switch: KeySwitchKey) -> Self {
        Self {
            params,
            bootstrap,
            switch,
            evaluator: OnceLock::new(),
            programs: OnceLock::new(),
        }
    }

    /// Returns the file of both keys.
    ///
    /// # Errors
    /// Raises a Python exception if the keys belong to different secret keys.
    fn written(&self) -> PyResult<Vec<u8>> {
        file::write_circuit_keys(&self.params, &self.bootstrap, &self.switch).map_err(scheme)
    }

    fn admit(&self, watch: &Watch) -> PyResult<()> {
        let bytes = self.params.floor().key_bytes();
        admitted(watch, "the evaluation keys as bootstraps read them", bytes)
    }

    /// Returns the evaluation keys in the form that a device's limb programs take.
    ///
    /// # Errors
    /// Raises a Python exception if the keys need more memory than the limit, or if they do not suit the parameters.
    pub fn programs(&self, watch: &Watch) -> PyResult<Arc<Bootstrap>> {
        if let Some(made) = self.programs.get() {
            return Ok(Arc::clone(made));
        }
        self.admit(watch)?;
        let made = Bootstrap::new(&self.params, &self.bootstrap, &self.switch);
        let made = made.map_err(|e| stopped(CircuitRunError::Bootstrap(e)))?;
        let made = Arc::new(made);
        Ok(Arc::clone(self.programs.get_or_init(|| made)))
    }

    /// Returns the evaluation keys in the form that the CPU's kernels read. No lock is held while they are made, so a
    /// process that is forked meanwhile makes its own.
    ///
    /// # Errors
    /// Raises a Python exception if the keys need more memory than the limit, or if they do not suit the parameters.
    pub fn evaluator(&self, watch: &Watch) -> PyResult<Arc<Evaluator>> {
        if let Some(made) = self.evaluator.get() {
            return Ok(Arc::clone(made));
        }
        self.admit(watch)?;
        let made = Evaluator::new(Arc::clone(&self.params), &self.bootstrap, &self.switch);
        let made = Arc::new(made.map_err(scheme)?);
        Ok(Arc::clone(self.evaluator.get_or_init(|| made)))
    }
}

/// The keys that a server needs to compute on a client's TFHE ciphertexts.
#[pyclass(frozen, module = "ringmill")]
#[derive(Clone)]
pub struct CircuitEvaluationKeys {
    pub inner: Arc<ServerKeys>,
}

/// Reads both keys from a folder with a file for each.
fn from_folder(
    folder: &Path,
    params: &Params,
    watch: &Watch,
) -> PyResult<(BootstrapKey, KeySwitchKey)> {
    let bootstrap = files::read(&folder.join("bootstrap.key"), watch, |bytes| {
        file::read_bootstrap_key(bytes, params)
    })?;
    let switch = files::read(&folder.join("switch.key"), watch, |bytes| {
        file::read_key_switch_key(bytes, params)
    })?;
    keys::common(&bootstrap, &switch).map_err(scheme)?;
    Ok((bootstrap, switch))
}

#[pymethods]
impl CircuitEvaluationKeys {
    /// The identity of the keys' secret key in hexadecimal, or None if it is not known.
    #[getter]
    fn key_id(&self) -> Option<String> {
        self.inner.bootstrap.key_id().map(|id| id.to_string())
    }

    /// Writes both keys into one file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let keys = Arc::clone(&self.inner);
        interruptible(py, move |watch| {
            files::write(&path, watch, &keys.written()?)
        })?
    }

    /// Reads both keys from one file, or from a folder with bootstrap.key and switch.key, which earlier versions wrote.
    /// They must belong to these parameters.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, params: &CircuitParams) -> PyResult<Self> {
        let params = Arc::clone(&params.inner);
        let inner = interruptible(py, move |watch| -> PyResult<_> {
            let (bootstrap, switch) = if path.is_dir() {
                from_folder(&path, &params, watch)?
            } else {
                files::read(&path, watch, |bytes| {
                    file::read_circuit_keys(bytes, &params)
                })?
            };
            Ok(ServerKeys::new(params, bootstrap, switch))
        })??;
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The parameters of the keys.
    #[getter]
    fn params(&self) -> CircuitParams {
        CircuitParams {
            inner: Arc::clone(&self.inner.params),
        }
    }

    /// The bytes of the file that `save` writes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let keys = Arc::clone(&self.inner);
        let bytes = interruptible(py, move |_| keys.written())??;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads both keys from the bytes of their file. They must belong to these parameters.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: PyBackedBytes, params: &CircuitParams) -> PyResult<Self> {
        let params = Arc::clone(&params.inner);
        let inner = interruptible(py, move |watch| -> PyResult<_> {
            let read = |bytes: &[u8]| file::read_circuit_keys(bytes, &params);
            let (bootstrap, switch) = files::parse(&data, watch, read)?;
            Ok(ServerKeys::new(params, bootstrap, switch))
        })??;
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    fn __repr__(&self) -> String {
        "<ringmill evaluation keys of TFHE>".to_owned()
    }
}
