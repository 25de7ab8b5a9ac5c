//! Homomorphic operations on SEAL's ciphertexts.

use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use ringmill_schemes::ckks::{Ciphertext, CkksError, Evaluator, GaloisKeys, Plaintext, RelinKey};
use ringmill_schemes::rlwe::RlweError;
use ringmill_schemes::seal::{self, SealContext, SealError};

use super::{Bytes, Shared, made, refused, scheme_refused};
use crate::errors::KeysError;
use crate::watch::{halted, interruptible};

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
    /// Reads operands, computes and writes.
    fn run<'py>(
        slf: &Bound<'py, Self>,
        work: impl FnOnce(&Self) -> PyResult<Ciphertext> + Send + 'static,
    ) -> Bytes<'py> {
        let this = slf.clone().unbind();
        made(slf.py(), move |watch| {
            let this = this.get();
            let result = work(this)?;
            watch
                .check()
                .map_err(|halt| halted(&halt, halt.to_string()))?;
            this.shared.write_cipher(&result)
        })
    }

    fn unary<'py>(
        slf: &Bound<'py, Self>,
        a: PyBackedBytes,
        op: impl FnOnce(&Evaluator, &Ciphertext) -> Result<Ciphertext, CkksError> + Send + 'static,
    ) -> Bytes<'py> {
        Self::run(slf, move |this| {
            op(&this.evaluator, &this.shared.cipher(&a)?).map_err(scheme_refused)
        })
    }

    fn binary<'py>(
        slf: &Bound<'py, Self>,
        a: PyBackedBytes,
        b: PyBackedBytes,
        op: fn(&Evaluator, &Ciphertext, &Ciphertext) -> Result<Ciphertext, CkksError>,
    ) -> Bytes<'py> {
        Self::run(slf, move |this| {
            op(
                &this.evaluator,
                &this.shared.cipher(&a)?,
                &this.shared.cipher(&b)?,
            )
            .map_err(scheme_refused)
        })
    }

    fn with_plain<'py>(
        slf: &Bound<'py, Self>,
        a: PyBackedBytes,
        plain: PyBackedBytes,
        op: fn(&Evaluator, &Ciphertext, &Plaintext) -> Result<Ciphertext, CkksError>,
    ) -> Bytes<'py> {
        Self::run(slf, move |this| {
            op(
                &this.evaluator,
                &this.shared.cipher(&a)?,
                &this.shared.plain(&plain)?,
            )
            .map_err(scheme_refused)
        })
    }

    /// Reads keys.
    fn read<T: Send + 'static>(
        slf: &Bound<'_, Self>,
        data: PyBackedBytes,
        read: fn(&SealContext, &[u8]) -> Result<T, SealError>,
    ) -> PyResult<T> {
        let this = slf.clone().unbind();
        interruptible(slf.py(), move |watch| {
            read(&this.get().shared.context.watched(watch), &data).map_err(refused)
        })?
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
    fn load_relin_keys(slf: &Bound<'_, Self>, data: PyBackedBytes) -> PyResult<()> {
        let key = Self::read(slf, data, seal::read_relin_keys)?;
        let mut keys = slf
            .get()
            .keys
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        keys.relin = Some(Arc::new(key));
        Ok(())
    }

    /// Takes what SEAL's `GaloisKeys.save` wrote; replaces Galois keys loaded before.
    fn load_galois_keys(slf: &Bound<'_, Self>, data: PyBackedBytes) -> PyResult<()> {
        let galois = Self::read(slf, data, seal::read_galois_keys)?;
        let mut keys = slf
            .get()
            .keys
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        keys.galois = Arc::new(galois);
        Ok(())
    }

    fn add<'py>(slf: &Bound<'py, Self>, a: PyBackedBytes, b: PyBackedBytes) -> Bytes<'py> {
        Self::binary(slf, a, b, Evaluator::add)
    }

    fn sub<'py>(slf: &Bound<'py, Self>, a: PyBackedBytes, b: PyBackedBytes) -> Bytes<'py> {
        Self::binary(slf, a, b, Evaluator::sub)
    }

    fn negate<'py>(slf: &Bound<'py, Self>, a: PyBackedBytes) -> Bytes<'py> {
        Self::unary(slf, a, Evaluator::negate)
    }

    /// The product, of three polynomials.
    fn multiply<'py>(slf: &Bound<'py, Self>, a: PyBackedBytes, b: PyBackedBytes) -> Bytes<'py> {
        Self::binary(slf, a, b, Evaluator::mul)
    }

    fn square<'py>(slf: &Bound<'py, Self>, a: PyBackedBytes) -> Bytes<'py> {
        Self::unary(slf, a, Evaluator::square)
    }

    /// From three polynomials back to two.
    fn relinearize<'py>(slf: &Bound<'py, Self>, a: PyBackedBytes) -> Bytes<'py> {
        let key = slf.get().relin()?;
        Self::unary(slf, a, move |evaluator, a| evaluator.relinearise(a, &key))
    }

    /// Divides by the last prime, rounding: SEAL's `rescale_to_next`.
    fn rescale<'py>(slf: &Bound<'py, Self>, a: PyBackedBytes) -> Bytes<'py> {
        Self::unary(slf, a, Evaluator::rescale)
    }

    /// Drops the last prime: SEAL's `mod_switch_to_next`.
    fn mod_switch<'py>(slf: &Bound<'py, Self>, a: PyBackedBytes) -> Bytes<'py> {
        Self::unary(slf, a, |evaluator, a| match a.level().below() {
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
    fn rotate<'py>(slf: &Bound<'py, Self>, a: PyBackedBytes, steps: i64) -> Bytes<'py> {
        let keys = slf.get().galois();
        Self::unary(slf, a, move |evaluator, a| {
            evaluator.rotate(a, steps, &keys)
        })
    }

    fn conjugate<'py>(slf: &Bound<'py, Self>, a: PyBackedBytes) -> Bytes<'py> {
        let keys = slf.get().galois();
        Self::unary(slf, a, move |evaluator, a| evaluator.conjugate(a, &keys))
    }

    fn add_plain<'py>(
        slf: &Bound<'py, Self>,
        a: PyBackedBytes,
        plain: PyBackedBytes,
    ) -> Bytes<'py> {
        Self::with_plain(slf, a, plain, Evaluator::add_plain)
    }

    fn sub_plain<'py>(
        slf: &Bound<'py, Self>,
        a: PyBackedBytes,
        plain: PyBackedBytes,
    ) -> Bytes<'py> {
        Self::with_plain(slf, a, plain, Evaluator::sub_plain)
    }

    fn multiply_plain<'py>(
        slf: &Bound<'py, Self>,
        a: PyBackedBytes,
        plain: PyBackedBytes,
    ) -> Bytes<'py> {
        Self::with_plain(slf, a, plain, Evaluator::mul_plain)
    }
}
