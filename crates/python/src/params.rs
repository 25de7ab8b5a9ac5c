//! Scheme parameters.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use ringmill_schemes::ckks;
use ringmill_schemes::ckks::{CkksError, SecurityLevel, SecurityTable};

use crate::errors::{ParameterError, raise};

/// A checked CKKS parameter set; made by `ringmill.params`.
#[pyclass(frozen, eq, hash, module = "ringmill")]
#[derive(Clone)]
pub struct Params {
    pub inner: Arc<ckks::Params>,
}

impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        self.inner.id() == other.inner.id()
    }
}

impl Hash for Params {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.id().hash(state);
    }
}

/// A named set, or one of prime sizes, checked.
#[pyfunction]
fn make_params(
    name: Option<&str>,
    log_n: Option<u8>,
    bits: Option<Vec<u32>>,
    table: &str,
    security: u32,
    scale: Option<f64>,
    insecure: bool,
) -> PyResult<Params> {
    let build = || -> Result<Arc<ckks::Params>, CkksError> {
        let (table, level) = (
            SecurityTable::from_name(table)?,
            SecurityLevel::from_bits(security)?,
        );
        let mut builder = match (name, bits.as_deref().and_then(<[u32]>::split_last)) {
            (Some(name), _) => ckks::ParamsBuilder::named(name)?,
            (None, Some((special, cipher))) => {
                ckks::Params::builder(log_n.unwrap_or(0)).prime_bits(cipher, &[*special])
            }
            (None, None) => ckks::Params::builder(log_n.unwrap_or(0)).prime_bits(&[], &[]),
        };
        builder = builder.security(table, level);
        if let Some(scale) = scale {
            builder = builder.default_scale(scale);
        }
        if insecure {
            builder = builder.allow_insecure_parameters_for_tests_only();
        }
        builder.build()
    };
    Ok(Params {
        inner: build().map_err(raise::<ParameterError, _>)?,
    })
}

#[pymethods]
impl Params {
    /// log2 of the ring degree N.
    #[getter]
    fn log_n(&self) -> u8 {
        self.inner.log_n()
    }

    /// N / 2, the longest vector of a ciphertext.
    #[getter]
    fn slots(&self) -> usize {
        self.inner.slots()
    }

    /// How many multiplications in sequence a fresh ciphertext has room for.
    #[getter]
    fn levels(&self) -> u32 {
        self.inner.max_level().0
    }

    #[getter]
    fn ciphertext_primes(&self) -> Vec<u64> {
        self.inner.cipher_moduli().to_vec()
    }

    #[getter]
    fn special_primes(&self) -> Vec<u64> {
        self.inner.special_moduli().to_vec()
    }

    /// What values are multiplied by before rounding.
    #[getter]
    fn scale(&self) -> f64 {
        self.inner.default_scale()
    }

    /// What the security check found, in words.
    #[getter]
    fn security(&self) -> String {
        self.inner.security().summary()
    }

    fn __repr__(&self) -> String {
        format!("<ringmill parameters: {}>", self.inner.summary())
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Params>()?;
    m.add_function(wrap_pyfunction!(make_params, m)?)
}
