// SPDX-License-Identifier: Apache-2.0
//! The interface through which the Python classes use a scheme of SEAL.

use std::sync::Arc;

use pyo3::prelude::*;
use ringmill_device::call::Runs;
use ringmill_schemes::exact::{ExactParams, Plaintext};
use ringmill_schemes::rlwe::{SecretKey, SecurityLevel, SecurityTable};
use ringmill_schemes::seal::{self, Compression, SealContext, SealError, SealParams};
use ringmill_schemes::{bfv, bgv, ckks};

use super::refusal::{refused, scheme_refused};
use crate::errors::ParameterError;

/// The interface of a scheme to the Python classes for SEAL: its files in SEAL's format, and its evaluator.
pub(super) trait Side: Sized + 'static {
    type Params: SealParams;
    type Cipher;
    type Plain;
    type Evaluator: Send + Sync;

    /// Reads parameters from the bytes of a SEAL file, and checks them at 128 bits of a security table.
    fn params(parms: &[u8], table: SecurityTable, insecure: bool) -> PyResult<Arc<Self::Params>>;

    fn evaluator(params: Arc<Self::Params>, runs: Arc<dyn Runs>) -> Self::Evaluator;

    fn cipher(context: &Context<Self>, bytes: &[u8]) -> Result<Self::Cipher, SealError>;

    fn plain(context: &Context<Self>, bytes: &[u8]) -> Result<Self::Plain, SealError>;

    fn write_cipher(
        context: &Context<Self>,
        cipher: &Self::Cipher,
        compression: Compression,
    ) -> Result<Vec<u8>, SealError>;
}

pub(super) type Context<S> = SealContext<<S as Side>::Params>;

pub(super) enum Ckks {}

impl Side for Ckks {
    type Params = ckks::Params;
    type Cipher = ckks::Ciphertext;
    type Plain = ckks::Plaintext;
    type Evaluator = ckks::Evaluator;

    fn params(parms: &[u8], table: SecurityTable, insecure: bool) -> PyResult<Arc<ckks::Params>> {
        let builder = seal::read_parameters(parms).map_err(refused)?;
        let builder = builder.security(table, SecurityLevel::Bits128);
        let builder = match insecure {
            true => builder.allow_insecure_parameters_for_tests_only(),
            false => builder,
        };
        builder.build().map_err(scheme_refused)
    }

    fn evaluator(params: Arc<ckks::Params>, runs: Arc<dyn Runs>) -> ckks::Evaluator {
        ckks::Evaluator::on(params, runs)
    }

    fn cipher(context: &SealContext, bytes: &[u8]) -> Result<ckks::Ciphertext, SealError> {
        seal::read_ciphertext(context, bytes)
    }

    fn plain(context: &SealContext, bytes: &[u8]) -> Result<ckks::Plaintext, SealError> {
        seal::read_plaintext(context, bytes)
    }

    fn write_cipher(
        context: &SealContext,
        cipher: &ckks::Ciphertext,
        compression: Compression,
    ) -> Result<Vec<u8>, SealError> {
        seal::write_ciphertext(context, cipher, compression)
    }
}

/// The interface of a scheme of exact integers to the Python classes for SEAL, with its decryptor.
pub(super) trait ExactSide: Side<Plain = Plaintext, Params: ExactParams> {
    type Decryptor: Send + Sync;

    fn decryptor(params: Arc<Self::Params>, secret: SecretKey) -> PyResult<Self::Decryptor>;

    fn encrypt(
        params: Arc<Self::Params>,
        secret: SecretKey,
        plain: &Plaintext,
    ) -> PyResult<Self::Cipher>;

    fn decrypt(decryptor: &Self::Decryptor, cipher: &Self::Cipher) -> PyResult<Plaintext>;

    fn noise_budget(decryptor: &Self::Decryptor, cipher: &Self::Cipher) -> PyResult<u32>;
}

macro_rules! exact_side {
    ($side:ident, $scheme:ident) => {
        pub(super) enum $side {}

        impl Side for $side {
            type Params = $scheme::Params;
            type Cipher = $scheme::Ciphertext;
            type Plain = Plaintext;
            type Evaluator = $scheme::Evaluator;

            fn params(
                parms: &[u8],
                table: SecurityTable,
                insecure: bool,
            ) -> PyResult<Arc<$scheme::Params>> {
                let builder = seal::$scheme::read_parameters(parms).map_err(refused)?;
                let builder = builder.security(table, SecurityLevel::Bits128);
                let builder = match insecure {
                    true => builder.allow_insecure_parameters_for_tests_only(),
                    false => builder,
                };
                builder.build().map_err(scheme_refused)
            }

            fn evaluator(params: Arc<$scheme::Params>, runs: Arc<dyn Runs>) -> $scheme::Evaluator {
                $scheme::Evaluator::on(params, runs)
            }

            fn cipher(
                context: &Context<Self>,
                bytes: &[u8],
            ) -> Result<$scheme::Ciphertext, SealError> {
                seal::$scheme::read_ciphertext(context, bytes)
            }

            fn plain(context: &Context<Self>, bytes: &[u8]) -> Result<Plaintext, SealError> {
                seal::read_integers(context, bytes)
            }

            fn write_cipher(
                context: &Context<Self>,
                cipher: &$scheme::Ciphertext,
                compression: Compression,
            ) -> Result<Vec<u8>, SealError> {
                seal::$scheme::write_ciphertext(context, cipher, compression)
            }
        }

        impl ExactSide for $side {
            type Decryptor = $scheme::Decryptor;

            fn decryptor(
                params: Arc<$scheme::Params>,
                secret: SecretKey,
            ) -> PyResult<$scheme::Decryptor> {
                $scheme::Decryptor::new(params, secret).map_err(scheme_refused)
            }

            fn encrypt(
                params: Arc<$scheme::Params>,
                secret: SecretKey,
                plain: &Plaintext,
            ) -> PyResult<$scheme::Ciphertext> {
                $scheme::Encryptor::with_secret_key(params, secret)
                    .and_then(|encryptor| encryptor.encrypt(plain))
                    .map_err(scheme_refused)
            }

            fn decrypt(
                decryptor: &$scheme::Decryptor,
                cipher: &$scheme::Ciphertext,
            ) -> PyResult<Plaintext> {
                decryptor.decrypt(cipher).map_err(scheme_refused)
            }

            fn noise_budget(
                decryptor: &$scheme::Decryptor,
                cipher: &$scheme::Ciphertext,
            ) -> PyResult<u32> {
                decryptor.noise_budget(cipher).map_err(scheme_refused)
            }
        }
    };
}

exact_side!(Bfv, bfv);
exact_side!(Bgv, bgv);

/// The parameters from SEAL's file that client and evaluator share, and the compression of their results.
pub(super) struct Shared<S: Side> {
    pub context: Context<S>,
    compression: Compression,
}

impl<S: Side> Shared<S> {
    pub fn open(
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
        let params = S::params(parms, table, insecure)?;
        Ok(Self {
            context: (SealContext::new(params).and_then(|context| context.for_seal_of(parms)))
                .map_err(refused)?,
            compression,
        })
    }

    pub fn params(&self) -> &Arc<S::Params> {
        self.context.params()
    }

    pub fn cipher(&self, bytes: &[u8]) -> PyResult<S::Cipher> {
        S::cipher(&self.context, bytes).map_err(refused)
    }

    pub fn plain(&self, bytes: &[u8]) -> PyResult<S::Plain> {
        S::plain(&self.context, bytes).map_err(refused)
    }

    /// Returns the bytes that one of SEAL's writers writes with these parameters.
    ///
    /// # Errors
    /// Raises a Python exception if SEAL's format cannot hold the object.
    pub fn bytes<T>(
        &self,
        write: impl FnOnce(&Context<S>, Compression) -> Result<T, SealError>,
    ) -> PyResult<T> {
        write(&self.context, self.compression).map_err(refused)
    }

    pub fn write_cipher(&self, cipher: &S::Cipher) -> PyResult<Vec<u8>> {
        self.bytes(|context, compression| S::write_cipher(context, cipher, compression))
    }
}
