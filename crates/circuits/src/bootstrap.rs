// SPDX-License-Identifier: Apache-2.0
//! Runs the bootstrap of TFHE on any device, as limb programs that take the keys as inputs ([`crate::tfhe::mid`]).

use std::sync::Arc;

use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, Device, DeviceError, Limb, Outcome, Request, exponents};
use ringmill_isa::mid::{TableModulus, Verified};
use ringmill_limits::Watch;
use thiserror::Error;

use crate::tfhe::mid::{self, BootstrapPrograms, Ending, RotationInput};
use crate::tfhe::{
    BootstrapKey, KeySwitchKey, LinearEvaluator, LookupTable, LweCiphertext, Order, Params,
    TfheError, keys, shared, steps,
};

/// The error of a TFHE bootstrap that runs as a limb program: an error of the scheme or of the device.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BootstrapError {
    #[error(transparent)]
    Tfhe(#[from] TfheError),
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// The verified programs of one parameter set's bootstrap, with the evaluation keys bound. A bootstrap by these
/// programs gives the same ciphertext, bit for bit, as [`crate::tfhe::Evaluator`].
pub struct Bootstrap {
    linear: LinearEvaluator,
    rotate: Verified,
    turn: Verified,
    switch: Verified,
    q: TableModulus,
    /// The polynomials of the bootstrapping key in transform form, in the order of the blind rotation's inputs.
    keys: Vec<Limb<'static>>,
    switch_key: Limb<'static>,
    /// The polynomial that a blind rotation turns if several tables share it ([`shared::flat`]). Under parameters for
    /// bits it is the table of the sign.
    flat: Vec<u64>,
}

impl Bootstrap {
    /// Builds the limb programs of a bootstrap under these parameters, expands both evaluation keys, and transforms the
    /// bootstrapping key.
    ///
    /// # Errors
    /// [`BootstrapError::Tfhe`] for keys of different secret keys, a key-switching key of other parameters, a
    /// bootstrapping key whose rows have other lengths, and sizes beyond the limits of limb programs.
    pub fn new(
        params: &Arc<Params>,
        bootstrap: &BootstrapKey,
        switch: &KeySwitchKey,
    ) -> Result<Self, BootstrapError> {
        let programs = BootstrapPrograms::new(params)?;
        let verified = |program| Verified::new(program).map_err(TfheError::from);
        let q = params.coefficients().into();
        let key_id = keys::common(bootstrap, switch)?;
        Ok(Self {
            linear: LinearEvaluator::new(Arc::clone(params), key_id),
            keys: transformed(params, bootstrap)?,
            switch_key: Limb::shared(switch.words(params)?.into(), q)?.with_seed(*switch.seed()),
            rotate: verified(programs.rotate)?,
            turn: verified(programs.turn)?,
            switch: verified(programs.switch)?,
            flat: shared::flat(params),
            q,
        })
    }

    /// Returns the limb program that devices run for a bootstrap: blind rotation, extraction, and a key switch if
    /// ciphertexts rest under the small key ([`Order::BootstrapFirst`]). Under [`Order::KeySwitchFirst`] the key switch
    /// is a program of its own.
    pub fn rotation(&self) -> &Verified {
        &self.rotate
    }

    /// Returns the evaluator of the operations on ciphertexts that need no bootstrap.
    pub fn linear(&self) -> &LinearEvaluator {
        &self.linear
    }

    /// Returns an encrypted bit that tells whether the phase of a sum of encrypted bits lies between 0 and 1/2 of the
    /// torus. The sums that it takes are those of [`crate::tfhe::Evaluator::sign`].
    ///
    /// # Errors
    /// [`BootstrapError::Tfhe`] for a ciphertext of other parameters or keys, and for parameters of integers;
    /// [`BootstrapError::Device`].
    pub fn sign(
        &self,
        device: &dyn Device,
        a: &LweCiphertext,
        watch: &Watch,
    ) -> Result<LweCiphertext, BootstrapError> {
        self.linear.bits(&[("operand", a)])?;
        self.entry(device, &self.flat, a, watch)
    }

    /// Looks up the table's entry for the message of one ciphertext, by one bootstrap on the device.
    ///
    /// # Errors
    /// [`BootstrapError::Tfhe`] for a ciphertext of other parameters or keys, or a table of other parameters;
    /// [`BootstrapError::Device`].
    pub fn lookup(
        &self,
        device: &dyn Device,
        table: &LookupTable,
        a: &LweCiphertext,
        watch: &Watch,
    ) -> Result<LweCiphertext, BootstrapError> {
        table.check(self.linear.params())?;
        self.entry(device, table.polynomial(), a, watch)
    }

    /// Looks up the entries of several tables for the message of one ciphertext, by one blind rotation on the device.
    ///
    /// # Errors
    /// As for [`Bootstrap::lookup`].
    pub fn lookup_all(
        &self,
        device: &dyn Device,
        tables: &[&LookupTable],
        a: &LweCiphertext,
        watch: &Watch,
    ) -> Result<Vec<LweCiphertext>, BootstrapError> {
        let params = self.linear.params();
        tables.iter().try_for_each(|table| table.check(params))?;
        let (words, key_id) = self.linear.to_rotate(a)?;
        let inputs = self.inputs(device, &self.flat, &words, watch)?;
        let (acc, _) = outputs(device, &self.turn, inputs, functional(watch))?;
        let mut weighed = vec![0; acc.len()];
        let mut turned = vec![0; params.sizes().degree()];
        let mut large = vec![0; params.sizes().large_dimension() + 1];
        let mut entries = Vec::with_capacity(tables.len());
        for table in tables {
            shared::weigh(params, table, &acc, &mut turned, &mut weighed)?;
            steps::sample_extract(params, &weighed, &mut large)?;
            let words = match params.sizes().order {
                Order::KeySwitchFirst => large.clone(),
                Order::BootstrapFirst => self.switched(device, &large, watch)?,
            };
            entries.push(self.linear.rested(words, key_id)?);
        }
        Ok(entries)
    }

    fn entry(
        &self,
        device: &dyn Device,
        table: &[u64],
        a: &LweCiphertext,
        watch: &Watch,
    ) -> Result<LweCiphertext, BootstrapError> {
        let (words, key_id) = self.linear.to_rotate(a)?;
        let (entry, _) = self.run(device, table, &words, functional(watch))?;
        Ok(self.linear.rested(entry, key_id)?)
    }

    /// Runs one bootstrap on `device`. `resting` has the words of a ciphertext under the key of inputs and outputs
    /// ([`crate::tfhe::LweKey::resting`]), and `table` is the polynomial of a lookup table. Returns the words of the
    /// result, which [`crate::tfhe::Evaluator`] gives as well, and the device's outcome. The words are empty if the
    /// request asks for no outputs, and the outcome has a time only if the request asks for timing. Under
    /// [`Order::KeySwitchFirst`] the time leaves out the key switch, which runs first as a program of its own.
    ///
    /// # Errors
    /// [`BootstrapError::Tfhe`] or, under [`Order::KeySwitchFirst`], [`BootstrapError::Device`] for words of another
    /// length; [`BootstrapError::Device`] for a table of another length, and for words of the table that are no
    /// residues.
    pub fn run(
        &self,
        device: &dyn Device,
        table: &[u64],
        resting: &[u64],
        request: Request<'_>,
    ) -> Result<(Vec<u64>, Outcome), BootstrapError> {
        let mut inputs = self.inputs(device, table, resting, &request.watch)?;
        if self.linear.params().sizes().order == Order::BootstrapFirst {
            inputs.push(self.switch_key.clone());
        }
        Ok(outputs(device, &self.rotate, inputs, request)?)
    }

    /// Bootstraps a ciphertext of zeros on the device, and returns the outcome of [`Bootstrap::run`] without outputs.
    /// It has the machine's time, which does not depend on data, if the device has a cycle model.
    ///
    /// # Errors
    /// [`BootstrapError::Device`].
    pub fn any(&self, device: &dyn Device, watch: &Watch) -> Result<Outcome, BootstrapError> {
        let sizes = self.linear.params().sizes();
        let dimension = match sizes.order {
            Order::BootstrapFirst => sizes.n.0,
            Order::KeySwitchFirst => sizes.large_dimension(),
        };
        let request = Request {
            watch: watch.clone(),
            ..Request::both()
        };
        let (_, outcome) = self.run(device, &self.flat, &vec![0; dimension + 1], request)?;
        Ok(outcome)
    }

    /// Switches a ciphertext from the large key to the small key.
    fn switched(
        &self,
        device: &dyn Device,
        large: &[u64],
        watch: &Watch,
    ) -> Result<Vec<u64>, BootstrapError> {
        let inputs = vec![Limb::borrowed(large, self.q)?, self.switch_key.clone()];
        Ok(outputs(device, &self.switch, inputs, functional(watch))?.0)
    }

    /// Returns the inputs of a blind rotation's program: the table's polynomial, the exponents of x by which the steps
    /// of the rotation turn it, and the polynomials of the bootstrapping key. A key switch at the end of the program
    /// needs one more input, the key-switching key.
    fn inputs<'a>(
        &'a self,
        device: &dyn Device,
        table: &'a [u64],
        resting: &[u64],
        watch: &Watch,
    ) -> Result<Vec<Limb<'a>>, BootstrapError> {
        let params = self.linear.params();
        let n = params.sizes().n.0;
        let switched = match params.sizes().order {
            Order::BootstrapFirst => None,
            // The report must hold the rotation's timing alone, so this run asks for outputs only.
            Order::KeySwitchFirst => Some(self.switched(device, resting, watch)?),
        };
        let small: &[u64] = switched.as_deref().unwrap_or(resting);
        if small.len() != n + 1 {
            return Err(TfheError::Dimension {
                what: "ciphertext",
                expected: n,
                got: small.len().saturating_sub(1),
            }
            .into());
        }
        let mut turns = vec![0; n + 1];
        steps::exponents(params, small, &mut turns);
        let modulus = exponents(params.sizes().log_degree);
        let mut limbs = Vec::with_capacity(self.rotate.inputs.len());
        limbs.push(Limb::borrowed(table, self.q)?);
        for a in turns {
            limbs.push(Limb::shared(Arc::from([a as u64]), modulus)?);
        }
        limbs.extend(self.keys.iter().cloned());
        Ok(limbs)
    }
}

/// Returns a request for a run of a program on a device that asks for outputs and for no timing.
fn functional(watch: &Watch) -> Request<'static> {
    Request {
        watch: watch.clone(),
        ..Request::function_only()
    }
}

/// Runs a program on a device. Returns the words of its outputs, one output after another, and the outcome without
/// them.
fn outputs(
    device: &dyn Device,
    program: &Verified,
    limbs: Vec<Limb<'_>>,
    request: Request<'_>,
) -> Result<(Vec<u64>, Outcome), DeviceError> {
    let bindings = Bindings {
        limbs,
        seeds: Vec::new(),
    };
    let mut outcome = device.run(program, &bindings, request, &Silent)?;
    let words = outcome.outputs.take().unwrap_or_default();
    let words = words.iter().flat_map(|limb| limb.wide().into_owned());
    Ok((words.collect(), outcome))
}

/// Returns the polynomials of a bootstrapping key in transform form, in the order of [`mid::rotation_inputs`].
fn transformed(params: &Params, key: &BootstrapKey) -> Result<Vec<Limb<'static>>, BootstrapError> {
    let (ring, degree) = (params.ring(), params.sizes().degree());
    let primes = mid::lanes(params);
    let mut row_words = vec![0; params.shape().cols() * degree];
    let mut held = None;
    let mut limbs = Vec::new();
    for input in mid::rotation_inputs(params, Ending::Accumulator) {
        let RotationInput::Key { at, row, col, lane } = input else {
            continue;
        };
        if held != Some((at, row)) {
            key.row(params, at, row, &mut row_words)?;
            held = Some((at, row));
        }
        let mut limb = vec![0; degree];
        let polynomial = row_words.chunks(degree).nth(col).unwrap_or_default();
        ring.residues(lane, &mut limb, polynomial)
            .map_err(TfheError::from)?;
        ring.forward(lane, &mut limb).map_err(TfheError::from)?;
        let prime = primes.get(lane).map_or(0, |p| p.value());
        limbs.push(Limb::shared(limb.into(), prime)?);
    }
    Ok(limbs)
}
