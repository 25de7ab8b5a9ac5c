//! Homomorphic operations on SEAL's ciphertexts.

use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ringmill_schemes::ckks::{Ciphertext, CkksError, Evaluator, GaloisKeys, Plaintext, RelinKey};
use ringmill_schemes::rlwe::RlweError;
use ringmill_schemes::seal;

use super::{Bytes, Shared, refused, scheme_refused};
use crate::errors::KeysError;

/// Homomorphic operations on ciphertexts in SEAL's format, each giving SEAL's own result bit for bit. Holds evaluation
/// keys only, never a secret.
///
/// `parms` is what SEAL's `EncryptionParameters.save` wrote. `security_table` names the bounds its primes are checked
/// against at 128 bits: "guidelines_2024", or "standard_2018" for SEAL's own. `compression` is that of results: "zstd",
/// as SEAL's, or "none".
#[pyclass(frozen, subclass)]
pub(super) struct SealEvaluator {
    shared: Shared,
    evaluator: Evaluator,
    keys: RwLock<Keys>,
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
    ) -> Bytes<'py> {
        let bytes = py.detach(|| self.shared.write_cipher(&work()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn unary<'py>(
        &self,
        py: Python<'py>,
        a: &[u8],
        op: impl FnOnce(&Evaluator, &Ciphertext) -> Result<Ciphertext, CkksError> + Send,
    ) -> Bytes<'py> {
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
    ) -> Bytes<'py> {
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
    ) -> Bytes<'py> {
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
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.relin
            .clone()
            .ok_or_else(|| KeysError::new_err("no relinearisation key; call load_relin_keys first"))
    }

    fn galois(&self) -> Arc<GaloisKeys> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&keys.galois)
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
            keys: RwLock::default(),
        })
    }

    /// The parameters and their security, and what cannot be checked.
    #[getter]
    fn summary(&self) -> String {
        format!(
            "{}; SEAL's files carry no key identity: that keys and ciphertexts belong together is not checked",
            self.shared.params().summary()
        )
    }

    /// Takes what SEAL's `RelinKeys.save` wrote.
    fn load_relin_keys(&self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        let key = py
            .detach(|| seal::read_relin_keys(&self.shared.context, data))
            .map_err(refused)?;
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        keys.relin = Some(Arc::new(key));
        Ok(())
    }

    /// Takes what SEAL's `GaloisKeys.save` wrote; replaces Galois keys loaded before.
    fn load_galois_keys(&self, py: Python<'_>, data: &[u8]) -> PyResult<()> {
        let galois = py
            .detach(|| seal::read_galois_keys(&self.shared.context, data))
            .map_err(refused)?;
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        keys.galois = Arc::new(galois);
        Ok(())
    }

    fn add<'py>(&self, py: Python<'py>, a: &[u8], b: &[u8]) -> Bytes<'py> {
        self.binary(py, a, b, Evaluator::add)
    }

    fn sub<'py>(&self, py: Python<'py>, a: &[u8], b: &[u8]) -> Bytes<'py> {
        self.binary(py, a, b, Evaluator::sub)
    }

    fn negate<'py>(&self, py: Python<'py>, a: &[u8]) -> Bytes<'py> {
        self.unary(py, a, Evaluator::negate)
    }

    /// The product, of three polynomials.
    fn multiply<'py>(&self, py: Python<'py>, a: &[u8], b: &[u8]) -> Bytes<'py> {
        self.binary(py, a, b, Evaluator::mul)
    }

    fn square<'py>(&self, py: Python<'py>, a: &[u8]) -> Bytes<'py> {
        self.unary(py, a, Evaluator::square)
    }

    /// From three polynomials back to two.
    fn relinearize<'py>(&self, py: Python<'py>, a: &[u8]) -> Bytes<'py> {
        let key = self.relin()?;
        self.unary(py, a, move |evaluator, a| evaluator.relinearise(a, &key))
    }

    /// Divides by the last prime, rounding: SEAL's `rescale_to_next`.
    fn rescale<'py>(&self, py: Python<'py>, a: &[u8]) -> Bytes<'py> {
        self.unary(py, a, Evaluator::rescale)
    }

    /// Drops the last prime: SEAL's `mod_switch_to_next`.
    fn mod_switch<'py>(&self, py: Python<'py>, a: &[u8]) -> Bytes<'py> {
        self.unary(py, a, |evaluator, a| match a.level().checked_sub(1) {
            Some(level) => evaluator.mod_switch(a, level),
            None => Err(CkksError::Rlwe(RlweError::TooDeep {
                operation: "mod-switch",
                needed: 1,
                got: 0,
            })),
        })
    }

    /// Slot i of the result is slot i + steps: SEAL's `rotate_vector`, with the key of these steps, or those of the powers
    /// of two of their non-adjacent form. Without steps it is `a`.
    fn rotate<'py>(&self, py: Python<'py>, a: &[u8], steps: i64) -> Bytes<'py> {
        let keys = self.galois();
        self.unary(py, a, move |evaluator, a| evaluator.rotate(a, steps, &keys))
    }

    fn conjugate<'py>(&self, py: Python<'py>, a: &[u8]) -> Bytes<'py> {
        let keys = self.galois();
        self.unary(py, a, move |evaluator, a| evaluator.conjugate(a, &keys))
    }

    fn add_plain<'py>(&self, py: Python<'py>, a: &[u8], plain: &[u8]) -> Bytes<'py> {
        self.with_plain(py, a, plain, Evaluator::add_plain)
    }

    fn sub_plain<'py>(&self, py: Python<'py>, a: &[u8], plain: &[u8]) -> Bytes<'py> {
        self.with_plain(py, a, plain, Evaluator::sub_plain)
    }

    fn multiply_plain<'py>(&self, py: Python<'py>, a: &[u8], plain: &[u8]) -> Bytes<'py> {
        self.with_plain(py, a, plain, Evaluator::mul_plain)
    }
}
