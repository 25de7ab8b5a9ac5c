//! Computing on Microsoft SEAL's files: bytes in, bytes out.

mod client;
mod evaluator;

use std::sync::Arc;

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ringmill_limits::{Halt, Watch};
use ringmill_schemes::ckks::{
    Ciphertext, CkksError, Params, Plaintext, SecurityLevel, SecurityTable,
};
use ringmill_schemes::rlwe::RlweError;
use ringmill_schemes::seal::{self, Compression, SealContext, SealError};

use crate::errors::{DataError, FileError, KeysError, ParameterError, RingmillError};
use crate::watch::{halted, interruptible};
use client::SealClient;
use evaluator::SealEvaluator;

/// A file in SEAL's format.
type Bytes<'py> = PyResult<Bound<'py, PyBytes>>;

/// The exception that a refusal becomes.
fn refused(error: SealError) -> PyErr {
    let text = error.to_string();
    if let Some(halt) = Halt::of(&error) {
        return halted(halt, text);
    }
    match error {
        SealError::Budget { .. } => PyMemoryError::new_err(text),
        SealError::Unsupported { .. } => ParameterError::new_err(text),
        SealError::Scheme(inner) => scheme_refused(inner),
        _ => FileError::new_err(text),
    }
}

fn scheme_refused(error: impl Into<CkksError>) -> PyErr {
    let error = error.into();
    let text = error.to_string();
    match error {
        CkksError::Rlwe(RlweError::Halt(halt)) => halted(&halt, text),
        CkksError::Rlwe(
            RlweError::MissingKey(_)
            | RlweError::KeyForm { .. }
            | RlweError::OtherParams { .. }
            | RlweError::OtherKeys { .. },
        ) => KeysError::new_err(text),
        CkksError::Rlwe(
            RlweError::Insecure { .. }
            | RlweError::Parameter { .. }
            | RlweError::UnknownSecurityTable { .. }
            | RlweError::UnknownSecurityLevel { .. },
        ) => ParameterError::new_err(text),
        CkksError::Rlwe(RlweError::Transparent)
        | CkksError::Slots { .. }
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

    /// What one of SEAL's writers makes.
    fn bytes<T>(
        &self,
        write: impl FnOnce(&SealContext, Compression) -> Result<T, SealError>,
    ) -> PyResult<T> {
        write(&self.context, self.compression).map_err(refused)
    }

    fn write_cipher(&self, cipher: &Ciphertext) -> PyResult<Vec<u8>> {
        seal::write_ciphertext(&self.context, cipher, self.compression).map_err(refused)
    }
}

/// Reads, computes and writes without the interpreter; a signal is raised at once, whatever that takes.
fn made<'py, T: AsRef<[u8]> + Send + 'static>(
    py: Python<'py>,
    work: impl FnOnce(&Watch) -> PyResult<T> + Send + 'static,
) -> Bytes<'py> {
    let bytes = interruptible(py, work)??;
    Ok(PyBytes::new(py, bytes.as_ref()))
}

/// Adds the submodule `seal`.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let seal = PyModule::new(m.py(), "seal")?;
    seal.add_class::<SealEvaluator>()?;
    seal.add_class::<SealClient>()?;
    m.add_submodule(&seal)
}
