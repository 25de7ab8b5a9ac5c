// SPDX-License-Identifier: Apache-2.0
//! Counts the cycles of the polymul machine's operations, in RTL simulation if the tools are there, else by the model.

use std::sync::Arc;

use ringmill_device::DeviceError;
use ringmill_hdl::polymul::{Dice, Multiplier, lockstep};
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_machines::MachineError;
use ringmill_machines::polymul::{ArrayOp, Degree, Shape, Tables, cycles};
use ringmill_math::primes::ntt_primes;

use crate::error::PaperError;

/// The seed from which the random operands of the timed operations are drawn.
const SEED: u64 = 1;

pub(super) fn degree(shape: Shape, n: usize) -> Result<Degree, PaperError> {
    Ok(shape.degree(n).map_err(MachineError::from)?)
}

/// Builds the machine's RTL for simulation, if the tools are there.
pub(super) fn simulated(shape: Shape, hdl: Option<&Hdl>) -> Result<Option<Multiplier>, PaperError> {
    let options = BuildOptions {
        optimise: Optimise::Run,
        ..BuildOptions::default()
    };
    let build = |hdl| Multiplier::new(hdl, shape, options);
    Ok(hdl.map(build).transpose()?)
}

pub(super) struct Cycles {
    shape: Shape,
    rtl: Option<Multiplier>,
    dice: Dice,
}

impl Cycles {
    pub fn new(shape: Shape, hdl: Option<&Hdl>) -> Result<Self, PaperError> {
        Ok(Self {
            shape,
            rtl: simulated(shape, hdl)?,
            dice: Dice::new(SEED),
        })
    }

    /// Returns the cycles of one operation of the polymul machine at ring degree `n`, on random operands modulo the
    /// largest prime of `bits` bits. Without RTL the model counts, for any prime.
    ///
    /// # Errors
    /// Fails if the machine does not take the degree or the prime, or if RTL and model differ.
    pub fn of(&mut self, op: ArrayOp, n: usize, bits: u32) -> Result<u64, PaperError> {
        let Some(rtl) = &mut self.rtl else {
            let degree = degree(self.shape, n)?;
            return Ok(cycles(self.shape, degree, op));
        };
        let fault = |e| PaperError::from(DeviceError::from(e));
        let primes = ntt_primes(bits, n.ilog2(), 1)?;
        let q = primes.first().copied().unwrap_or_default();
        let loaded = rtl.tables().ok();
        if loaded.is_none_or(|t| t.degree().n() != n || t.modulus().value() != q) {
            let tables = Arc::new(Tables::new(self.shape, n, q)?);
            rtl.load_tables(&tables).map_err(fault)?;
        }
        let (a, b) = (self.dice.limb(n, q), self.dice.limb(n, q));
        Ok(lockstep(rtl, op, &a, &b, 0).map_err(fault)?.cycles)
    }
}
