// SPDX-License-Identifier: Apache-2.0
//! The part that the evaluators of all schemes share. It reads operands, holds evaluation keys and writes results, all
//! in SEAL's formats.

use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use ringmill_device::Procedures;
use ringmill_device::call::{Interpreted, Runs};
use ringmill_schemes::ParameterSet;
use ringmill_schemes::rlwe::{GaloisKeys, RelinKey};
use ringmill_schemes::seal::{self, SealError};

use super::refusal::{Refusal, refused, scheme_refused};
use super::side::{Context, Shared, Side};
use super::{Bytes, made};
use crate::errors::{DeviceError, KeysError, halted, raise};
use crate::watch::interruptible;

/// The side that computes on SEAL's ciphertexts. It has parameters and evaluation keys, never a secret.
pub(super) struct Evaluation<S: Side> {
    shared: Shared<S>,
    evaluator: S::Evaluator,
    keys: RwLock<Keys>,
}

#[derive(Default)]
struct Keys {
    relin: Option<Arc<RelinKey>>,
    galois: Arc<GaloisKeys>,
}

impl<S: Side> Evaluation<S> {
    /// Makes an evaluator on the named device, or without a name on the reference interpreter.
    ///
    /// # Errors
    /// Raises `DeviceError` if no device has the name.
    pub fn new(shared: Shared<S>, device: Option<&str>) -> PyResult<Arc<Self>> {
        let runs: Arc<dyn Runs> = match device {
            None => Arc::new(Interpreted),
            Some(name) => {
                let device = ringmill_sim::open(name).map_err(raise::<DeviceError, _>)?;
                Arc::new(Procedures::new(device))
            }
        };
        Ok(Arc::new(Self {
            evaluator: S::evaluator(Arc::clone(shared.params()), runs),
            shared,
            keys: RwLock::default(),
        }))
    }

    /// Returns a text with the parameters, their security, and a warning. SEAL's files name no secret key, so nothing
    /// checks whether keys and ciphertexts belong together.
    pub fn summary(&self) -> String {
        format!(
            "{}; SEAL's files carry no key identity: that keys and ciphertexts belong together is not checked",
            self.shared.params().summary()
        )
    }

    /// Reads operands in SEAL's format, computes, and writes the result in the same format.
    fn run<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        work: impl FnOnce(&Self) -> PyResult<S::Cipher> + Send + 'static,
    ) -> Bytes<'py> {
        let this = Arc::clone(self);
        made(py, move |watch| {
            let result = work(&this)?;
            watch
                .check()
                .map_err(|halt| halted(&halt, halt.to_string()))?;
            this.shared.write_cipher(&result)
        })
    }

    pub fn unary<'py, E: Refusal>(
        self: &Arc<Self>,
        py: Python<'py>,
        a: PyBackedBytes,
        op: impl FnOnce(&S::Evaluator, &S::Cipher) -> Result<S::Cipher, E> + Send + 'static,
    ) -> Bytes<'py> {
        self.run(py, move |this| {
            op(&this.evaluator, &this.shared.cipher(&a)?).map_err(scheme_refused)
        })
    }

    pub fn binary<'py, E: Refusal>(
        self: &Arc<Self>,
        py: Python<'py>,
        a: PyBackedBytes,
        b: PyBackedBytes,
        op: impl FnOnce(&S::Evaluator, &S::Cipher, &S::Cipher) -> Result<S::Cipher, E> + Send + 'static,
    ) -> Bytes<'py> {
        self.run(py, move |this| {
            let (a, b) = (this.shared.cipher(&a)?, this.shared.cipher(&b)?);
            op(&this.evaluator, &a, &b).map_err(scheme_refused)
        })
    }

    pub fn with_plain<'py, E: Refusal>(
        self: &Arc<Self>,
        py: Python<'py>,
        a: PyBackedBytes,
        plain: PyBackedBytes,
        op: impl FnOnce(&S::Evaluator, &S::Cipher, &S::Plain) -> Result<S::Cipher, E> + Send + 'static,
    ) -> Bytes<'py> {
        self.run(py, move |this| {
            let (a, plain) = (this.shared.cipher(&a)?, this.shared.plain(&plain)?);
            op(&this.evaluator, &a, &plain).map_err(scheme_refused)
        })
    }

    /// Reads evaluation keys in SEAL's format from bytes.
    fn read<T: Send + 'static>(
        self: &Arc<Self>,
        py: Python<'_>,
        data: PyBackedBytes,
        read: fn(&Context<S>, &[u8]) -> Result<T, SealError>,
    ) -> PyResult<T> {
        let this = Arc::clone(self);
        interruptible(py, move |watch| {
            read(&this.shared.context.watched(watch), &data).map_err(refused)
        })?
    }

    pub fn load_relin_keys(self: &Arc<Self>, py: Python<'_>, data: PyBackedBytes) -> PyResult<()> {
        let key = self.read(py, data, seal::read_relin_keys)?;
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        keys.relin = Some(Arc::new(key));
        Ok(())
    }

    /// Loads Galois keys in SEAL's format. They replace those loaded before.
    ///
    /// # Errors
    /// Raises a Python exception if the bytes are no Galois keys for the evaluator's parameters.
    pub fn load_galois_keys(self: &Arc<Self>, py: Python<'_>, data: PyBackedBytes) -> PyResult<()> {
        let galois = self.read(py, data, seal::read_galois_keys)?;
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        keys.galois = Arc::new(galois);
        Ok(())
    }

    pub fn relin(&self) -> PyResult<Arc<RelinKey>> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.relin
            .clone()
            .ok_or_else(|| KeysError::new_err("no relinearisation key; call load_relin_keys first"))
    }

    pub fn galois(&self) -> Arc<GaloisKeys> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&keys.galois)
    }
}
