// SPDX-License-Identifier: Apache-2.0
//! Constants of linear maps, as plaintext operands.

use std::sync::OnceLock;

use ringmill_isa::{Level, Poly};
use ringmill_math::Residues;
use ringmill_math::slots::CorePoly;

use crate::bgv::{Factor, Params};
use crate::rlwe::RlweError;
use crate::rlwe::arith::plan;
use ringmill_device::{Limbed, ParamsId};

/// A polynomial in the core's y, lifted to integers about zero, in evaluation form modulo the primes of a level. In that form it
/// has as many values as y has powers, and each stands for a run of coefficients: evaluation points that differ in their low bits
/// alone have one y.
pub(super) struct Constant {
    params_id: ParamsId,
    spread: Vec<Vec<u64>>,
    /// How often each value stands in a limb.
    repeated: usize,
    /// Limbs written out, for whoever asks for them.
    whole: Vec<OnceLock<Vec<u64>>>,
    size: f64,
}

impl Constant {
    /// Of messages with such factors.
    ///
    /// # Errors
    /// A plaintext modulus or a level that the parameters do not have.
    pub fn new(
        params: &Params,
        constant: &CorePoly,
        factor: Factor,
        level: Level,
    ) -> Result<Self, RlweError> {
        params.check_level(level)?;
        let t = params.plain_at(factor.plain())?;
        let integers: Vec<i64> = constant.expand().iter().map(|&c| t.centred(c)).collect();
        Self::of(params, &integers, constant.spacing().max(1), level)
    }

    /// x to a power between -N and N.
    ///
    /// # Errors
    /// A level that the parameters do not have.
    pub fn power(params: &Params, power: i64, level: Level) -> Result<Self, RlweError> {
        params.check_level(level)?;
        let n = params.degree();
        let mut integers = vec![0; n];
        // x^-m is -x^(N - m).
        let at = power.rem_euclid(n as i64) as usize;
        if let Some(c) = integers.get_mut(at) {
            *c = if power < 0 { -1 } else { 1 };
        }
        Self::of(params, &integers, 1, level)
    }

    /// Of integers at a level that there is; in evaluation form each value stands `repeated` times.
    fn of(
        params: &Params,
        integers: &[i64],
        repeated: usize,
        level: Level,
    ) -> Result<Self, RlweError> {
        let size = integers.iter().map(|c| c.unsigned_abs() as f64).sum();
        let mut limb = vec![0u64; params.degree()];
        let mut spread = Vec::with_capacity(level.primes());
        for (i, q) in params.reducers().iter().enumerate().take(level.primes()) {
            for (x, &c) in limb.iter_mut().zip(integers) {
                let size = q.reduce(c.unsigned_abs());
                *x = if c < 0 { q.neg(size) } else { size };
            }
            plan(params, i)?.forward(&mut limb)?;
            spread.push(limb.iter().step_by(repeated).copied().collect());
        }
        Ok(Self {
            params_id: *params.id(),
            whole: spread.iter().map(|_| OnceLock::new()).collect(),
            spread,
            repeated,
            size,
        })
    }

    /// The sum of the integers' absolute values.
    pub fn size(&self) -> f64 {
        self.size
    }
}

impl Limbed for Constant {
    fn params_id(&self) -> &ParamsId {
        &self.params_id
    }

    fn polys(&self) -> usize {
        1
    }

    fn limb(&self, poly: Poly, modulus: usize) -> Option<Residues<'_>> {
        let values = self.spread(poly, modulus)?;
        let written = || {
            let values = values.iter();
            let runs = values.flat_map(|&value| std::iter::repeat_n(value, self.repeated));
            runs.collect()
        };
        let whole = self.whole.get(modulus)?.get_or_init(written);
        Some(Residues::Wide(whole))
    }

    fn spread(&self, poly: Poly, modulus: usize) -> Option<&[u64]> {
        match poly {
            Poly::FIRST => self.spread.get(modulus).map(Vec::as_slice),
            _ => None,
        }
    }
}
