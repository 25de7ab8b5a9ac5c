//! Computing on Microsoft SEAL's files: bytes in, bytes out.

use std::sync::Arc;

use num_complex::Complex64;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{
    Ciphertext, CkksError, Decryptor, Encoder, Encryptor, Evaluator, GaloisKeys, KeyGenerator,
    Params, Plaintext, RelinKey, SecurityLevel, SecurityTable,
};
use ringmill_schemes::seal::{self, Compression, SealContext, SealError};

use crate::errors::{DataError, FileError, KeysError, ParameterError, RingmillError};

/// Real or complex numbers, as an array or a list of one dimension.
fn slots(values: &Bound<'_, PyAny>) -> PyResult<Vec<Complex64>> {
    let array = values
        .py()
        .import("numpy")?
        .call_method1("asarray", (values, "complex128"))?;
    let array: PyReadonlyArray1<'_, Complex64> = array.extract()?;
    Ok(array.as_array().iter().copied().collect())
}

/// The exception that a refusal becomes.
fn refused(error: SealError) -> PyErr {
    let text = error.to_string();
    match error {
        SealError::Unsupported { .. } => ParameterError::new_err(text),
        SealError::Scheme(inner) => scheme_refused(inner),
        _ => FileError::new_err(text),
    }
}

fn scheme_refused(error: CkksError) -> PyErr {
    let text = error.to_string();
    match error {
        CkksError::MissingKey(_) | CkksError::KeyForm { .. } | CkksError::OtherParams { .. } => {
            KeysError::new_err(text)
        }
        CkksError::Insecure { .. }
        | CkksError::Parameter { .. }
        | CkksError::UnknownSecurityTable { .. }
        | CkksError::UnknownSecurityLevel { .. } => ParameterError::new_err(text),
        CkksError::Slots { .. }
        | CkksError::NotFinite { .. }
        | CkksError::TooLarge { .. }
        | CkksError::Scale { .. } => DataError::new_err(text),
        _ => RingmillError::new_err(text),
    }
}

/// Parameters from SEAL's file and how results are written.
struct Shared {
    context: SealContext,
    compression: Compression,
}

impl Shared {
    fn open(
        parms: &[u8],
        security_table: &str,
        insecure: bool,
        compression: &str,
    ) -> PyResult<Self> {
        let compression = match compression {
            "none" => Compression::None,
            "zstd" => Compression::Zstd,
            other => {
                let text = format!("unknown compression {other:?}; expected \"none\" or \"zstd\"");
                return Err(ParameterError::new_err(text));
            }
        };
        let table = SecurityTable::from_name(security_table).map_err(scheme_refused)?;
        let builder = seal::read_parameters(parms)
            .map_err(refused)?
            .security(table, SecurityLevel::Bits128);
        let builder = if insecure {
            builder.allow_insecure_parameters_for_tests_only()
        } else {
            builder
        };
        let params = builder.build().map_err(scheme_refused)?;
        Ok(Self {
            context: SealContext::new(params).map_err(refused)?,
            compression,
        })
    }

    fn params(&self) -> &Arc<Params> {
        self.context.params()
    }

    fn cipher(&self, bytes: &[u8]) -> PyResult<Ciphertext> {
        seal::read_ciphertext(&self.context, bytes).map_err(refused)
    }

    fn plain(&self, bytes: &[u8]) -> PyResult<Plaintext> {
        seal::read_plaintext(&self.context, bytes).map_err(refused)
    }

    fn write_cipher(&self, cipher: &Ciphertext) -> PyResult<Vec<u8>> {
        seal::write_ciphertext(&self.context, cipher, self.compression).map_err(refused)
    }
}

/// Homomorphic operations on ciphertexts in SEAL's format, each giving SEAL's own result bit for bit. Holds evaluation
/// keys only, never a secret.
///
/// `parms` is what SEAL's `EncryptionParameters.save` wrote. `security_table` names the bounds its primes are checked
/// against at 128 bits: "guidelines_2024", or "standard_2018" for SEAL's own. `compression` is that of results: "zstd",
/// as SEAL's, or "none".
#[pyclass(frozen)]
struct SealEvaluator {
    shared: Shared,
    evaluator: Evaluator,
    keys: std::sync::RwLock<Keys>,
}

#[derive(Default)]
struct Keys {
    relin: Option<Arc<RelinKey>>,
    galois: Arc<GaloisKeys>,
}

impl SealEvaluator {
    /// Reads operands, computes and writes, without holding the interpreter.
    fn run<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce() -> PyResult<Ciphertext> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.shared.write_cipher(&work()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn unary<'py>(
        &self,
        py: Python<'py>,
        a: &[u8],
        op: impl FnOnce(&Evaluator, &Ciphertext) -> Result<Ciphertext, CkksError> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.run(py, || {
            op(&self.evaluator, &self.shared.cipher(a)?).map_err(scheme_refused)
        })
    }

    fn binary<'py>(
        &self,
        py: Python<'py>,
        a: &[u8],
        b: &[u8],
        op: impl FnOnce(&Evaluator, &Ciphertext, &Ciphertext) -> Result<Ciphertext, CkksError> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.run(py, || {
            op(
                &self.evaluator,
                &self.shared.cipher(a)?,
                &self.shared.cipher(b)?,
            )
            .map_err(scheme_refused)
        })
    }

    fn with_plain<'py>(
        &self,
        py: Python<'py>,
        a: &[u8],
        plain: &[u8],
        op: impl FnOnce(&Evaluator, &Ciphertext, &Plaintext) -> Result<Ciphertext, CkksError> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.run(py, || {
            op(
                &self.evaluator,
                &self.shared.cipher(a)?,
                &self.shared.plain(plain)?,
            )
            .map_err(scheme_refused)
        })
    }

    fn relin(&self) -> PyResult<Arc<RelinKey>> {
        let keys = self
            .keys
            .read()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        keys.relin
            .clone()
            .ok_or_else(|| KeysError::new_err("no relinearisation key; call load_relin_keys first"))
    }

    fn galois(&self) -> Arc<GaloisKeys> {
        Arc::clone(
            &self
                .keys
                .read()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .galois,
        )
    }
}

#[pymethods]
impl SealEvaluator {
    #[new]
    #[pyo3(signature = (parms, *, security_table = "guidelines_2024", allow_insecure_parameters_for_tests_only = false,
        compression = "zstd"))]
    fn new(
        parms: &[u8],
        security_table: &str,
        allow_insecure_parameters_for_tests_only: bool,
        compression: &str,
    ) -> PyResult<Self> {
        let shared = Shared::open(
            parms,
            security_table,
            allow_insecure_parameters_for_tests_only,
            compression,
        )?;
        let evaluator = Evaluator::new(Arc::clone(shared.params()));
        Ok(Self {
            shared,
            evaluator,
            keys: std::sync::RwLock::default(),
        })
    }

    /// One line on the parameters and their security.
    #[getter]
    fn summary(&self) -> String {
        self.shared.params().summary()
    }

    /// Takes what SEAL's `RelinKeys.save` wrote.
    fn load_relin_keys(&self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        let key = py
            .detach(|| seal::read_relin_keys(&self.shared.context, data))
            .map_err(refused)?;
        self.keys
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .relin = Some(Arc::new(key));
        Ok(())
    }

    /// Takes what SEAL's `GaloisKeys.save` wrote; replaces Galois keys loaded before.
    fn load_galois_keys(&self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        let keys = py
            .detach(|| seal::read_galois_keys(&self.shared.context, data))
            .map_err(refused)?;
        self.keys
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .galois = Arc::new(keys);
        Ok(())
    }

    fn add<'py>(&self, py: Python<'py>, a: &[u8], b: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        self.binary(py, a, b, Evaluator::add)
    }

    fn sub<'py>(&self, py: Python<'py>, a: &[u8], b: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        self.binary(py, a, b, Evaluator::sub)
    }

    fn negate<'py>(&self, py: Python<'py>, a: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        self.unary(py, a, Evaluator::negate)
    }

    /// The product, of three polynomials.
    fn multiply<'py>(&self, py: Python<'py>, a: &[u8], b: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        self.binary(py, a, b, Evaluator::mul)
    }

    fn square<'py>(&self, py: Python<'py>, a: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        self.unary(py, a, Evaluator::square)
    }

    /// From three polynomials back to two.
    fn relinearize<'py>(&self, py: Python<'py>, a: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.relin()?;
        self.unary(py, a, move |evaluator, a| evaluator.relinearise(a, &key))
    }

    /// Divides by the last prime, rounding: SEAL's `rescale_to_next`.
    fn rescale<'py>(&self, py: Python<'py>, a: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        self.unary(py, a, Evaluator::rescale)
    }

    /// Drops the last prime: SEAL's `mod_switch_to_next`.
    fn mod_switch<'py>(&self, py: Python<'py>, a: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        self.unary(py, a, |evaluator, a| match a.level().checked_sub(1) {
            Some(level) => evaluator.mod_switch(a, level),
            None => Err(CkksError::TooDeep {
                operation: "mod-switch",
                needed: 1,
                got: 0,
            }),
        })
    }

    /// Slot i of the result is slot i + steps: SEAL's `rotate_vector`, with the one key of these steps.
    fn rotate<'py>(&self, py: Python<'py>, a: &[u8], steps: i64) -> PyResult<Bound<'py, PyBytes>> {
        let keys = self.galois();
        self.unary(py, a, move |evaluator, a| evaluator.rotate(a, steps, &keys))
    }

    fn conjugate<'py>(&self, py: Python<'py>, a: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let keys = self.galois();
        self.unary(py, a, move |evaluator, a| evaluator.conjugate(a, &keys))
    }

    fn add_plain<'py>(
        &self,
        py: Python<'py>,
        a: &[u8],
        plain: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.with_plain(py, a, plain, Evaluator::add_plain)
    }

    fn sub_plain<'py>(
        &self,
        py: Python<'py>,
        a: &[u8],
        plain: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.with_plain(py, a, plain, Evaluator::sub_plain)
    }

    fn multiply_plain<'py>(
        &self,
        py: Python<'py>,
        a: &[u8],
        plain: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.with_plain(py, a, plain, Evaluator::mul_plain)
    }
}

/// The side that holds the secret: keys, encodings and encryptions that SEAL loads, and decryption of SEAL's.
#[pyclass]
struct SealClient {
    shared: Shared,
    keys: KeyGenerator,
    encoder: Encoder,
}

impl SealClient {
    fn with(shared: Shared, keys: Result<KeyGenerator, CkksError>) -> PyResult<Self> {
        let encoder = Encoder::new(Arc::clone(shared.params()));
        Ok(Self {
            keys: keys.map_err(scheme_refused)?,
            encoder,
            shared,
        })
    }

    fn encoded(
        &self,
        values: &Bound<'_, PyAny>,
        scale: f64,
        level: Option<u32>,
    ) -> PyResult<Plaintext> {
        let values = slots(values)?;
        let level = level.unwrap_or(self.shared.params().max_level());
        self.encoder
            .encode(&values, level, scale)
            .map_err(scheme_refused)
    }

    fn decoded<'py>(
        &self,
        py: Python<'py>,
        plain: &Plaintext,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let slots = self.shared.params().slots();
        Ok(self
            .encoder
            .decode(plain, slots)
            .map_err(scheme_refused)?
            .into_pyarray(py))
    }
}

#[pymethods]
impl SealClient {
    /// New keys for parameters that SEAL saved.
    #[staticmethod]
    #[pyo3(signature = (parms, *, security_table = "guidelines_2024", allow_insecure_parameters_for_tests_only = false,
        compression = "zstd"))]
    fn generate(
        parms: &[u8],
        security_table: &str,
        allow_insecure_parameters_for_tests_only: bool,
        compression: &str,
    ) -> PyResult<Self> {
        let shared = Shared::open(
            parms,
            security_table,
            allow_insecure_parameters_for_tests_only,
            compression,
        )?;
        let keys = KeyGenerator::new(Arc::clone(shared.params()));
        Self::with(shared, keys)
    }

    /// The secret key that SEAL's `SecretKey.save` wrote.
    #[staticmethod]
    #[pyo3(signature = (parms, secret_key, *, security_table = "guidelines_2024",
        allow_insecure_parameters_for_tests_only = false, compression = "zstd"))]
    fn load(
        parms: &[u8],
        secret_key: &[u8],
        security_table: &str,
        allow_insecure_parameters_for_tests_only: bool,
        compression: &str,
    ) -> PyResult<Self> {
        let shared = Shared::open(
            parms,
            security_table,
            allow_insecure_parameters_for_tests_only,
            compression,
        )?;
        let secret = seal::read_secret_key(&shared.context, secret_key).map_err(refused)?;
        let keys = KeyGenerator::from_secret_key(Arc::clone(shared.params()), secret);
        Self::with(shared, keys)
    }

    /// For SEAL's `EncryptionParameters.load`.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = seal::write_parameters(&self.shared.context, self.shared.compression)
            .map_err(refused)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// For SEAL's `SecretKey.load`: the key itself, not encrypted.
    fn secret_key_in_the_clear<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let Shared {
            context,
            compression,
        } = &self.shared;
        let bytes =
            seal::write_secret_key_in_the_clear(context, self.keys.secret_key(), *compression);
        Ok(PyBytes::new(py, &bytes.map_err(refused)?))
    }

    /// A new public key, for SEAL's `PublicKey.load`.
    fn public_key<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.keys.public_key().map_err(scheme_refused)?;
        let Shared {
            context,
            compression,
        } = &self.shared;
        Ok(PyBytes::new(
            py,
            &seal::write_public_key(context, &key, *compression).map_err(refused)?,
        ))
    }

    /// A new relinearisation key, for SEAL's `RelinKeys.load`.
    fn relin_keys<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let key = self
            .keys
            .relin_key(KeyForm::Seeded)
            .map_err(scheme_refused)?;
        let Shared {
            context,
            compression,
        } = &self.shared;
        Ok(PyBytes::new(
            py,
            &seal::write_relin_keys(context, &key, *compression).map_err(refused)?,
        ))
    }

    /// New Galois keys for rotations by these steps, and for conjugation if asked; for SEAL's `GaloisKeys.load`.
    #[pyo3(signature = (steps, *, conjugation = false))]
    fn galois_keys<'py>(
        &mut self,
        py: Python<'py>,
        steps: Vec<i64>,
        conjugation: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let Shared {
            context,
            compression,
        } = &self.shared;
        let params = context.params();
        let elements = steps.iter().map(|&step| params.galois_element(step));
        let mut elements = elements
            .collect::<Result<Vec<u32>, _>>()
            .map_err(scheme_refused)?;
        if conjugation {
            elements.push(params.conjugation_element());
        }
        let keys = self
            .keys
            .galois_keys(&elements, KeyForm::Seeded)
            .map_err(scheme_refused)?;
        Ok(PyBytes::new(
            py,
            &seal::write_galois_keys(context, &keys, *compression).map_err(refused)?,
        ))
    }

    /// Encodes up to N / 2 slots (a power of two) at a scale; at the highest level unless one is given.
    #[pyo3(signature = (values, scale, level = None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        scale: f64,
        level: Option<u32>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let plain = self.encoded(values, scale, level)?;
        let Shared {
            context,
            compression,
        } = &self.shared;
        Ok(PyBytes::new(
            py,
            &seal::write_plaintext(context, &plain, *compression).map_err(refused)?,
        ))
    }

    /// Encodes and encrypts under the secret key.
    #[pyo3(signature = (values, scale, level = None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        scale: f64,
        level: Option<u32>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let plain = self.encoded(values, scale, level)?;
        let params = Arc::clone(self.shared.params());
        let cipher = Encryptor::with_secret_key(params, self.keys.secret_key().clone())
            .and_then(|mut encryptor| encryptor.encrypt(&plain))
            .map_err(scheme_refused)?;
        Ok(PyBytes::new(py, &self.shared.write_cipher(&cipher)?))
    }

    /// Decrypts and decodes a ciphertext of SEAL: N / 2 complex slots.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        cipher: &[u8],
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let cipher = self.shared.cipher(cipher)?;
        let params = Arc::clone(self.shared.params());
        let plain = Decryptor::new(params, self.keys.secret_key().clone())
            .and_then(|decryptor| decryptor.decrypt(&cipher))
            .map_err(scheme_refused)?;
        self.decoded(py, &plain)
    }

    /// Decodes a plaintext of SEAL: N / 2 complex slots.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        plain: &[u8],
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let plain = self.shared.plain(plain)?;
        self.decoded(py, &plain)
    }
}

/// Adds the submodule `seal`.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let seal = PyModule::new(m.py(), "seal")?;
    seal.add_class::<SealEvaluator>()?;
    seal.add_class::<SealClient>()?;
    m.add_submodule(&seal)
}
