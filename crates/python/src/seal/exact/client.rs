// SPDX-License-Identifier: Apache-2.0
//! The clients of BFV and BGV in SEAL's formats: keys, encoding, encryption and decryption.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use ringmill_schemes::exact::{Encoder, Integers, Plaintext};
use ringmill_schemes::seal;

use crate::seal::keyring::Keyring;
use crate::seal::refusal::scheme_refused;
use crate::seal::side::{Bfv, Bgv, ExactSide, Shared};
use crate::seal::{Bytes, made};
use crate::watch::interruptible;

struct Client<S: ExactSide> {
    keyring: Arc<Keyring<S>>,
    encoder: Encoder<S::Params>,
    decryptor: S::Decryptor,
}

fn which(unsigned: bool) -> Integers {
    match unsigned {
        true => Integers::Unsigned,
        false => Integers::Signed,
    }
}

impl<S: ExactSide> Client<S> {
    fn new(keyring: Keyring<S>) -> PyResult<Arc<Self>> {
        let params = keyring.shared.params();
        let encoder = Encoder::new(Arc::clone(params)).map_err(scheme_refused)?;
        let secret = keyring.secret_key().clone();
        let decryptor = S::decryptor(Arc::clone(params), secret)?;
        Ok(Arc::new(Self {
            keyring: Arc::new(keyring),
            encoder,
            decryptor,
        }))
    }

    fn written(&self, plain: &Plaintext) -> PyResult<Vec<u8>> {
        self.keyring
            .shared
            .bytes(|context, compression| seal::write_integers(context, plain, compression))
    }

    fn encoded(&self, values: &[i128], unsigned: bool) -> PyResult<Plaintext> {
        self.encoder
            .encode(values, which(unsigned))
            .map_err(scheme_refused)
    }

    fn decrypted(&self, cipher: &[u8]) -> PyResult<Plaintext> {
        let cipher = self.keyring.shared.cipher(cipher)?;
        S::decrypt(&self.decryptor, &cipher)
    }

    /// Computes a plaintext by `work`, and returns the integers that it encodes as a numpy array, signed or unsigned.
    fn integers<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        unsigned: bool,
        work: impl FnOnce(&Self) -> PyResult<Plaintext> + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        let this = Arc::clone(self);
        if unsigned {
            let values = interruptible(py, move |_| {
                let plain = work(&this)?;
                this.encoder.decode_unsigned(&plain).map_err(scheme_refused)
            })??;
            let values: Bound<'py, PyArray1<u64>> = values.into_pyarray(py);
            Ok(values.into_any())
        } else {
            let values = interruptible(py, move |_| {
                let plain = work(&this)?;
                this.encoder.decode_signed(&plain).map_err(scheme_refused)
            })??;
            let values: Bound<'py, PyArray1<i64>> = values.into_pyarray(py);
            Ok(values.into_any())
        }
    }
}

/// Defines the client class of one scheme, since Python's classes have no type parameters.
macro_rules! client {
    ($name:ident, $side:ty) => {
        /// The side that holds the secret key. It makes keys, encodings and encryptions that SEAL loads, and decrypts
        /// SEAL's ciphertexts.
        ///
        /// If the plain modulus batches, integers are encoded as slots, row by row as SEAL's `BatchEncoder` does.
        /// Otherwise they are encoded as coefficients. The integers stand for residues modulo the plain modulus t. They
        /// lie from -floor(t / 2) to ceil(t / 2) - 1, or with `unsigned` from 0 to t - 1.
        ///
        /// Every encryption and every key draws fresh randomness from the operating system, so a forked process repeats
        /// none. SEAL's files carry no key identity, so nothing can check whether a ciphertext belongs to this secret
        /// key. A ciphertext of another key is refused, as if noise had destroyed its message.
        #[pyclass(frozen)]
        pub(in crate::seal) struct $name {
            inner: Arc<Client<$side>>,
        }

        #[pymethods]
        impl $name {
            /// Makes a new secret key for parameters that SEAL saved.
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
                let inner = Client::new(Keyring::generate(shared)?)?;
                Ok(Self { inner })
            }

            /// Loads the secret key that SEAL's `SecretKey.save` wrote.
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
                let inner = Client::new(Keyring::load(shared, secret_key)?)?;
                Ok(Self { inner })
            }

            /// Returns the parameters as the bytes that SEAL's `EncryptionParameters.load` reads.
            fn parameters<'py>(&self, py: Python<'py>) -> Bytes<'py> {
                self.inner.keyring.parameters(py)
            }

            /// Returns the secret key itself, not encrypted, as the bytes that SEAL's `SecretKey.load` reads.
            fn secret_key_in_the_clear<'py>(&self, py: Python<'py>) -> Bytes<'py> {
                self.inner.keyring.secret_key_in_the_clear(py)
            }

            /// Makes a new public key, as the bytes that SEAL's `PublicKey.load` reads.
            fn public_key<'py>(&self, py: Python<'py>) -> Bytes<'py> {
                self.inner.keyring.public_key(py)
            }

            /// Makes a new relinearisation key, as the bytes that SEAL's `RelinKeys.load` reads.
            fn relin_keys<'py>(&self, py: Python<'py>) -> Bytes<'py> {
                self.inner.keyring.relin_keys(py)
            }

            /// Makes new Galois keys for rotations of rows by these steps, and for the exchange of rows if `columns`,
            /// as the bytes that SEAL's `GaloisKeys.load` reads.
            #[pyo3(signature = (steps, *, columns = false))]
            fn galois_keys<'py>(&self, py: Python<'py>, steps: Vec<i64>, columns: bool) -> Bytes<'py> {
                self.inner.keyring.galois_keys(py, steps, columns)
            }

            /// Encodes up to N integers to a plaintext.
            #[pyo3(signature = (integers, *, unsigned = false))]
            fn encode<'py>(&self, py: Python<'py>, integers: Vec<i128>, unsigned: bool) -> Bytes<'py> {
                let this = Arc::clone(&self.inner);
                made(py, move |_| {
                    let plain = this.encoded(&integers, unsigned)?;
                    this.written(&plain)
                })
            }

            /// Encodes up to N integers and encrypts them with the secret key.
            #[pyo3(signature = (integers, *, unsigned = false))]
            fn encrypt<'py>(&self, py: Python<'py>, integers: Vec<i128>, unsigned: bool) -> Bytes<'py> {
                let this = Arc::clone(&self.inner);
                made(py, move |_| {
                    let plain = this.encoded(&integers, unsigned)?;
                    let shared = &this.keyring.shared;
                    let secret = this.keyring.secret_key().clone();
                    let cipher = <$side>::encrypt(Arc::clone(shared.params()), secret, &plain)?;
                    shared.write_cipher(&cipher)
                })
            }

            /// Decrypts a ciphertext in SEAL's format and decodes it to N integers. A ciphertext without noise budget
            /// is refused.
            #[pyo3(signature = (cipher, *, unsigned = false))]
            fn decrypt<'py>(
                &self,
                py: Python<'py>,
                cipher: PyBackedBytes,
                unsigned: bool,
            ) -> PyResult<Bound<'py, PyAny>> {
                self.inner.integers(py, unsigned, move |this| this.decrypted(&cipher))
            }

            /// Decrypts a ciphertext to a plaintext, as the bytes that SEAL's `Plaintext.load` reads. A ciphertext
            /// without noise budget is refused.
            fn decrypt_plain<'py>(&self, py: Python<'py>, cipher: PyBackedBytes) -> Bytes<'py> {
                let this = Arc::clone(&self.inner);
                made(py, move |_| {
                    let plain = this.decrypted(&cipher)?;
                    this.written(&plain)
                })
            }

            /// Decodes a plaintext in SEAL's format to N integers.
            #[pyo3(signature = (plain, *, unsigned = false))]
            fn decode<'py>(
                &self,
                py: Python<'py>,
                plain: PyBackedBytes,
                unsigned: bool,
            ) -> PyResult<Bound<'py, PyAny>> {
                self.inner.integers(py, unsigned, move |this| this.keyring.shared.plain(&plain))
            }

            /// Returns a ciphertext's noise budget in bits, as SEAL's `invariant_noise_budget`: how much its noise may
            /// still grow before decryption fails.
            fn noise_budget(&self, py: Python<'_>, cipher: PyBackedBytes) -> PyResult<u32> {
                let this = Arc::clone(&self.inner);
                interruptible(py, move |_| {
                    let cipher = this.keyring.shared.cipher(&cipher)?;
                    <$side>::noise_budget(&this.decryptor, &cipher)
                })?
            }
        }
    };
}

client!(SealBfvClient, Bfv);
client!(SealBgvClient, Bgv);
