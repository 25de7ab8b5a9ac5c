// SPDX-License-Identifier: Apache-2.0
//! Homomorphic operations on SEAL's ciphertexts of BFV and BGV, for Python.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use ringmill_schemes::{bfv, bgv};

use crate::seal::Bytes;
use crate::seal::evaluation::Evaluation;
use crate::seal::side::{Bfv, Bgv, Shared};

/// Defines the evaluator class of one scheme, since Python's classes have no type parameters. `$mul_plain` is the Rust
/// method that multiplies with a plaintext and gives SEAL's bits.
macro_rules! evaluator {
    ($name:ident, $side:ident, $scheme:ident, $mul_plain:ident, $doc:literal) => {
        #[doc = $doc]
        #[pyclass(frozen, subclass)]
        pub(in crate::seal) struct $name {
            inner: Arc<Evaluation<$side>>,
        }

        #[pymethods]
        impl $name {
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

            /// A text with the parameters, their security, and a warning. SEAL's files name no
            /// secret key, so nothing checks whether keys and ciphertexts belong together.
            #[getter]
            fn summary(&self) -> String {
                self.inner.summary()
            }

            /// Loads relinearisation keys from the bytes that SEAL's `RelinKeys.save` wrote.
            fn load_relin_keys(&self, py: Python<'_>, data: PyBackedBytes) -> PyResult<()> {
                self.inner.load_relin_keys(py, data)
            }

            /// Loads Galois keys from the bytes that SEAL's `GaloisKeys.save` wrote. They replace Galois keys loaded
            /// before.
            fn load_galois_keys(&self, py: Python<'_>, data: PyBackedBytes) -> PyResult<()> {
                self.inner.load_galois_keys(py, data)
            }

            fn add<'py>(&self, py: Python<'py>, a: PyBackedBytes, b: PyBackedBytes) -> Bytes<'py> {
                self.inner.binary(py, a, b, $scheme::Evaluator::add)
            }

            fn sub<'py>(&self, py: Python<'py>, a: PyBackedBytes, b: PyBackedBytes) -> Bytes<'py> {
                self.inner.binary(py, a, b, $scheme::Evaluator::sub)
            }

            fn negate<'py>(&self, py: Python<'py>, a: PyBackedBytes) -> Bytes<'py> {
                self.inner.unary(py, a, $scheme::Evaluator::negate)
            }

            /// Multiplies two ciphertexts. The product has three polynomials.
            fn multiply<'py>(&self, py: Python<'py>, a: PyBackedBytes, b: PyBackedBytes) -> Bytes<'py> {
                self.inner.binary(py, a, b, $scheme::Evaluator::mul)
            }

            fn square<'py>(&self, py: Python<'py>, a: PyBackedBytes) -> Bytes<'py> {
                self.inner.unary(py, a, $scheme::Evaluator::square)
            }

            /// Turns the three polynomials of a product back into two.
            fn relinearize<'py>(&self, py: Python<'py>, a: PyBackedBytes) -> Bytes<'py> {
                let key = self.inner.relin()?;
                self.inner
                    .unary(py, a, move |evaluator, a| evaluator.relinearise(a, &key))
            }

            /// Divides a ciphertext by its last prime, as SEAL's `mod_switch_to_next`.
            fn mod_switch<'py>(&self, py: Python<'py>, a: PyBackedBytes) -> Bytes<'py> {
                self.inner.unary(py, a, $scheme::Evaluator::mod_switch_to_next)
            }

            /// Rotates both rows of a ciphertext's slots as SEAL's `rotate_rows` does: column i of the result is column
            /// i + steps of `a`. It uses the key for this number of steps if there is one. Otherwise it rotates by the
            /// powers of two in the number's non-adjacent form. With zero steps the result is `a`.
            fn rotate_rows<'py>(&self, py: Python<'py>, a: PyBackedBytes, steps: i64) -> Bytes<'py> {
                let keys = self.inner.galois();
                self.inner.unary(py, a, move |evaluator, a| {
                    evaluator.rotate_rows(a, steps, &keys)
                })
            }

            /// Exchanges the two rows of a ciphertext's slots, as SEAL's `rotate_columns`.
            fn rotate_columns<'py>(&self, py: Python<'py>, a: PyBackedBytes) -> Bytes<'py> {
                let keys = self.inner.galois();
                self.inner.unary(py, a, move |evaluator, a| {
                    evaluator.rotate_columns(a, &keys)
                })
            }

            fn add_plain<'py>(
                &self,
                py: Python<'py>,
                a: PyBackedBytes,
                plain: PyBackedBytes,
            ) -> Bytes<'py> {
                self.inner.with_plain(py, a, plain, $scheme::Evaluator::add_plain)
            }

            fn sub_plain<'py>(
                &self,
                py: Python<'py>,
                a: PyBackedBytes,
                plain: PyBackedBytes,
            ) -> Bytes<'py> {
                self.inner.with_plain(py, a, plain, $scheme::Evaluator::sub_plain)
            }

            fn multiply_plain<'py>(
                &self,
                py: Python<'py>,
                a: PyBackedBytes,
                plain: PyBackedBytes,
            ) -> Bytes<'py> {
                self.inner
                    .with_plain(py, a, plain, $scheme::Evaluator::$mul_plain)
            }
        }
    };
}

evaluator!(
    SealBfvEvaluator,
    Bfv,
    bfv,
    mul_plain_as_seal,
    "Homomorphic operations on BFV ciphertexts in SEAL's format, each giving SEAL's own result bit for bit. Holds evaluation \
     keys only, never a secret. The arguments are those of `SealEvaluator`."
);
evaluator!(
    SealBgvEvaluator,
    Bgv,
    bgv,
    mul_plain,
    "Homomorphic operations on BGV ciphertexts in SEAL's format, each giving SEAL's own result bit for bit. Holds evaluation \
     keys only, never a secret. The arguments are those of `SealEvaluator`."
);
