// SPDX-License-Identifier: Apache-2.0
//! Homomorphic operations on SEAL's ciphertexts of CKKS, for Python.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use ringmill_schemes::ckks::{CkksError, Evaluator};
use ringmill_schemes::rlwe::RlweError;

use super::Bytes;
use super::evaluation::Evaluation;
use super::side::{Ckks, Shared};

/// Homomorphic operations on ciphertexts in SEAL's format. Each gives SEAL's own result bit for bit. The evaluator
/// holds evaluation keys only, never a secret.
///
/// `parms` is what SEAL's `EncryptionParameters.save` wrote. `security_table` names the bounds that its primes are
/// checked against at 128 bits: "guidelines_2024", or "standard_2018" for SEAL's own. `compression` is that of results:
/// "zstd", as SEAL's, or "none". `device` is a name of `ringmill.devices()`. Without a name, the reference interpreter
/// computes.
#[pyclass(frozen, subclass)]
pub(super) struct SealEvaluator {
    inner: Arc<Evaluation<Ckks>>,
}

#[pymethods]
impl SealEvaluator {
    #[new]
    #[pyo3(signature = (parms, *, security_table = "guidelines_2024", allow_insecure_parameters_for_tests_only = false,
        compression = "zstd", device = None))]
    fn new(
        parms: &[u8],
        security_table: &str,
        allow_insecure_parameters_for_tests_only: bool,
        compression: &str,
        device: Option<&str>,
    ) -> PyResult<Self> {
        let shared = Shared::open(
            parms,
            security_table,
            allow_insecure_parameters_for_tests_only,
            compression,
        )?;
        let inner = Evaluation::new(shared, device)?;
        Ok(Self { inner })
    }

    /// A text with the parameters, their security, and a warning. SEAL's files name no secret key,
    /// so nothing checks whether keys and ciphertexts belong together.
    #[getter]
    fn summary(&self) -> String {
        self.inner.summary()
    }

    /// Loads relinearisation keys from the bytes that SEAL's `RelinKeys.save` wrote.
    fn load_relin_keys(&self, py: Python<'_>, data: PyBackedBytes) -> PyResult<()> {
        self.inner.load_relin_keys(py, data)
    }

    /// Loads Galois keys from the bytes that SEAL's `GaloisKeys.save` wrote. They replace Galois keys loaded before.
    fn load_galois_keys(&self, py: Python<'_>, data: PyBackedBytes) -> PyResult<()> {
        self.inner.load_galois_keys(py, data)
    }

    fn add<'py>(&self, py: Python<'py>, a: PyBackedBytes, b: PyBackedBytes) -> Bytes<'py> {
        self.inner.binary(py, a, b, Evaluator::add)
    }

    fn sub<'py>(&self, py: Python<'py>, a: PyBackedBytes, b: PyBackedBytes) -> Bytes<'py> {
        self.inner.binary(py, a, b, Evaluator::sub)
    }

    fn negate<'py>(&self, py: Python<'py>, a: PyBackedBytes) -> Bytes<'py> {
        self.inner.unary(py, a, Evaluator::negate)
    }

    /// Multiplies two ciphertexts. The product has three polynomials.
    fn multiply<'py>(&self, py: Python<'py>, a: PyBackedBytes, b: PyBackedBytes) -> Bytes<'py> {
        self.inner.binary(py, a, b, Evaluator::mul)
    }

    fn square<'py>(&self, py: Python<'py>, a: PyBackedBytes) -> Bytes<'py> {
        self.inner.unary(py, a, Evaluator::square)
    }

    /// Turns the three polynomials of a product back into two.
    fn relinearize<'py>(&self, py: Python<'py>, a: PyBackedBytes) -> Bytes<'py> {
        let key = self.inner.relin()?;
        self.inner
            .unary(py, a, move |evaluator, a| evaluator.relinearise(a, &key))
    }

    /// Divides a ciphertext by its last prime and rounds, as SEAL's `rescale_to_next`.
    fn rescale<'py>(&self, py: Python<'py>, a: PyBackedBytes) -> Bytes<'py> {
        self.inner.unary(py, a, Evaluator::rescale)
    }

    /// Drops the last prime of a ciphertext, as SEAL's `mod_switch_to_next`.
    fn mod_switch<'py>(&self, py: Python<'py>, a: PyBackedBytes) -> Bytes<'py> {
        self.inner
            .unary(py, a, |evaluator, a| match a.level().below() {
                Some(level) => evaluator.mod_switch(a, level),
                None => Err(CkksError::Rlwe(RlweError::TooDeep {
                    operation: "mod-switch",
                    needed: 1,
                    got: 0,
                })),
            })
    }

    /// Rotates the slots of a ciphertext as SEAL's `rotate_vector` does: slot i of the result is slot i + steps of `a`.
    /// It uses the key for this number of steps if there is one. Otherwise it rotates by the powers of two in the
    /// number's non-adjacent form. With zero steps the result is `a`.
    fn rotate<'py>(&self, py: Python<'py>, a: PyBackedBytes, steps: i64) -> Bytes<'py> {
        let keys = self.inner.galois();
        self.inner
            .unary(py, a, move |evaluator, a| evaluator.rotate(a, steps, &keys))
    }

    fn conjugate<'py>(&self, py: Python<'py>, a: PyBackedBytes) -> Bytes<'py> {
        let keys = self.inner.galois();
        self.inner
            .unary(py, a, move |evaluator, a| evaluator.conjugate(a, &keys))
    }

    fn add_plain<'py>(
        &self,
        py: Python<'py>,
        a: PyBackedBytes,
        plain: PyBackedBytes,
    ) -> Bytes<'py> {
        self.inner.with_plain(py, a, plain, Evaluator::add_plain)
    }

    fn sub_plain<'py>(
        &self,
        py: Python<'py>,
        a: PyBackedBytes,
        plain: PyBackedBytes,
    ) -> Bytes<'py> {
        self.inner.with_plain(py, a, plain, Evaluator::sub_plain)
    }

    fn multiply_plain<'py>(
        &self,
        py: Python<'py>,
        a: PyBackedBytes,
        plain: PyBackedBytes,
    ) -> Bytes<'py> {
        self.inner.with_plain(py, a, plain, Evaluator::mul_plain)
    }
}
