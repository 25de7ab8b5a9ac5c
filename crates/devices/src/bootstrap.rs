//! A bootstrap of TFHE on any device: the programs of [`ringmill_schemes::tfhe::mid`], and the keys as their inputs.

use std::sync::Arc;

use ringmill_isa::mid::{TableModulus, Verified};
use ringmill_schemes::tfhe::mid::{self, BootstrapPrograms, RotationInput};
use ringmill_schemes::tfhe::{BootstrapKey, KeySwitchKey, Order, Params, TfheError, steps};
use thiserror::Error;

use crate::DeviceError;
use crate::bindings::{Bindings, Limb, exponents};
use crate::device::{Device, Outcome, Request};
use crate::progress::Silent;

/// Why a bootstrap did not run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BootstrapError {
    #[error(transparent)]
    Tfhe(#[from] TfheError),
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// The programs of a parameter set's bootstrap, ready to run, with the evaluation keys bound.
pub struct Bootstrap {
    params: Arc<Params>,
    rotate: Verified,
    switch: Option<Verified>,
    q: TableModulus,
    /// The gadget ciphertexts' polynomials, in the order of the rotation's inputs.
    keys: Vec<Limb<'static>>,
    switch_key: Limb<'static>,
}

impl Bootstrap {
    /// Expands both keys, and transforms the bootstrapping key.
    ///
    /// # Errors
    /// Keys of other parameters; sizes that programs do not have.
    pub fn new(
        params: &Arc<Params>,
        bootstrap: &BootstrapKey,
        switch: &KeySwitchKey,
    ) -> Result<Self, BootstrapError> {
        let programs = BootstrapPrograms::new(params)?;
        let verified = |program| Verified::new(program).map_err(TfheError::from);
        let q = params.coefficients().into();
        Ok(Self {
            keys: transformed(params, bootstrap)?,
            switch_key: Limb::shared(switch.words(params)?.into(), q)?,
            rotate: verified(programs.rotate)?,
            switch: programs.switch.map(verified).transpose()?,
            params: Arc::clone(params),
            q,
        })
    }

    /// The program of the blind rotation.
    pub fn rotation(&self) -> &Verified {
        &self.rotate
    }

    /// A resting ciphertext's words to those of the one that the table gives, and what the machine would take for it. As
    /// [`ringmill_schemes::tfhe::Evaluator`] does between its sums, bit for bit.
    ///
    /// # Errors
    /// Words of other lengths or that are no residues; what the device refuses.
    pub fn run(
        &self,
        device: &dyn Device,
        table: &[u64],
        resting: &[u64],
        request: Request<'_>,
    ) -> Result<(Vec<u64>, Outcome), BootstrapError> {
        let params = &*self.params;
        let n = params.sizes().n.0;
        let switched = match &self.switch {
            None => None,
            Some(program) => {
                let bindings = Bindings {
                    limbs: vec![Limb::borrowed(resting, self.q)?, self.switch_key.clone()],
                    seeds: Vec::new(),
                };
                // Its timing is not the rotation's; nothing but its function is asked for.
                let (out, _) = outputs(device, program, &bindings, Request::function_only())?;
                Some(out)
            }
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
        steps::modulus_switch(params, small, &mut turns);
        let two_n = 2 * params.sizes().degree();
        if let Some(body) = turns.last_mut() {
            *body = (two_n - *body) % two_n;
        }
        let turns: Vec<u64> = turns.into_iter().map(|a| a as u64).collect();
        let modulus = exponents(params.sizes().log_degree);
        let mut limbs = Vec::with_capacity(self.rotate.inputs.len());
        limbs.push(Limb::borrowed(table, self.q)?);
        // The body's comes first.
        for a in turns.chunks(1).rev().take(1).chain(turns.chunks(1).take(n)) {
            limbs.push(Limb::borrowed(a, modulus)?);
        }
        limbs.extend(self.keys.iter().cloned());
        if params.sizes().order == Order::BootstrapFirst {
            limbs.push(self.switch_key.clone());
        }
        let bindings = Bindings {
            limbs,
            seeds: Vec::new(),
        };
        Ok(outputs(device, &self.rotate, &bindings, request)?)
    }
}

/// A program of one output.
fn outputs(
    device: &dyn Device,
    program: &Verified,
    bindings: &Bindings<'_>,
    request: Request<'_>,
) -> Result<(Vec<u64>, Outcome), DeviceError> {
    let mut outcome = device.run(program, bindings, request, &Silent)?;
    let out = outcome.outputs.take().and_then(|mut limbs| limbs.pop());
    let out = out.as_deref().map(<[u64]>::to_vec).unwrap_or_default();
    Ok((out, outcome))
}

/// The polynomials of a bootstrapping key in transform form, in the order of [`mid::rotation_inputs`].
fn transformed(params: &Params, key: &BootstrapKey) -> Result<Vec<Limb<'static>>, BootstrapError> {
    let (ring, degree) = (params.ring(), params.sizes().degree());
    let primes = mid::lanes(params);
    let mut row_words = vec![0; params.shape().cols() * degree];
    let mut held = None;
    let mut limbs = Vec::new();
    for input in mid::rotation_inputs(params) {
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
