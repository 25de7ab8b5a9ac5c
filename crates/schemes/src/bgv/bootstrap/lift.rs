// SPDX-License-Identifier: Apache-2.0
//! The constants of bootstrapping, lifted from residues modulo the plaintext modulus to integers. A procedure
//! stores the integers, and plaintext operands are computed from them.

use std::sync::{Arc, OnceLock};

use ringmill_isa::Level;
use ringmill_math::slots::CorePoly;

use crate::bgv::{Factor, Params};
use crate::rlwe::arith::plan;
use crate::rlwe::{RlweError, Spread};

/// A polynomial of integers with a level, stored by its coefficients other than 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lifted {
    pub level: Level,
    /// The position and the integer of each coefficient other than 0, in order of positions.
    pub integers: Vec<(u32, i64)>,
}

impl Lifted {
    /// Lifts a polynomial in y = x^(N/c), the variable of the core ring of degree c, to integers nearest to 0. Its
    /// coefficients are residues modulo the plaintext modulus to which `factor` belongs.
    ///
    /// # Errors
    /// Fails for a plaintext modulus or a level that the parameters do not have.
    pub(super) fn new(
        params: &Params,
        constant: &CorePoly,
        factor: Factor,
        level: Level,
    ) -> Result<Self, RlweError> {
        params.check_level(level)?;
        let t = params.plain_at(factor.plain())?;
        let places = (0u32..).step_by(constant.spacing().max(1));
        let integers = constant.coefficients().iter().map(|&c| t.centred(c));
        let integers = places.zip(integers).filter(|&(_, c)| c != 0).collect();
        Ok(Self { level, integers })
    }

    /// Returns the polynomial x^`power` modulo x^N + 1.
    ///
    /// # Errors
    /// Fails for a level that the parameters do not have.
    pub(super) fn power(params: &Params, power: i64, level: Level) -> Result<Self, RlweError> {
        params.check_level(level)?;
        // x^N is -1.
        let degree = params.degree() as i64;
        let (turns, at) = (power.div_euclid(degree), power.rem_euclid(degree));
        let sign = if turns % 2 == 0 { 1 } else { -1 };
        let integers = vec![(at as u32, sign)];
        Ok(Self { level, integers })
    }

    /// Returns the sum of the absolute values of the polynomial's coefficients.
    pub(super) fn size(&self) -> f64 {
        let sizes = self.integers.iter().map(|(_, c)| c.unsigned_abs() as f64);
        sizes.sum()
    }

    /// Writes the residues of the polynomial's coefficients, modulo the parameters' prime of index `prime`, to
    /// `limb`.
    fn reduced(&self, params: &Params, prime: usize, limb: &mut [u64]) -> Result<(), RlweError> {
        limb.fill(0);
        let q = crate::rlwe::arith::reducer(params, prime)?;
        for &(at, c) in &self.integers {
            if let Some(x) = limb.get_mut(at as usize) {
                *x = q.from_i64(c);
            }
        }
        Ok(())
    }

    /// Returns the number of limbs of the encoded polynomial, and the length of their blocks of equal residues.
    pub fn limbs(&self, params: &Params) -> [usize; 2] {
        [self.level.primes(), self.repeated(params)]
    }

    /// Returns the number of equal residues in each block of the polynomial's limbs in evaluation form. It is the
    /// largest power of two that divides the position of every coefficient other than 0, but at most the ring degree.
    fn repeated(&self, params: &Params) -> usize {
        let places = self.integers.iter();
        let zeros = places.map(|(place, _)| place.trailing_zeros()).min();
        1 << zeros.unwrap_or(u32::MAX).min(params.log_n().into())
    }

    /// Encodes the polynomial in evaluation form, modulo each prime of the level.
    ///
    /// # Errors
    /// Fails for a level that the parameters do not have.
    pub fn encoded(&self, params: &Params) -> Result<Spread, RlweError> {
        params.check_level(self.level)?;
        let repeated = self.repeated(params);
        let mut limb = vec![0u64; params.degree()];
        let mut values = Vec::with_capacity(self.level.primes());
        for i in self.level.moduli() {
            self.reduced(params, i, &mut limb)?;
            plan(params, i)?.forward(&mut limb)?;
            values.push(limb.iter().step_by(repeated).copied().collect());
        }
        let moduli = self.level.moduli().collect();
        Ok(Spread::new(*params.id(), moduli, values, repeated))
    }
}

/// A polynomial by which bootstraps multiply ciphertexts, together with its encoding as a plaintext operand.
#[derive(Debug)]
pub(super) struct Lift {
    pub lifted: Lifted,
    /// The plaintext operand of the constant, which is kept after its first use. The field is `None` for a constant
    /// that one instruction alone uses.
    made: Option<OnceLock<Arc<Spread>>>,
}

impl Lift {
    /// Makes a constant whose operand is kept after its first use.
    pub fn new(lifted: Lifted) -> Self {
        Self {
            lifted,
            made: Some(OnceLock::new()),
        }
    }

    /// Makes a constant whose operand is computed at each use.
    pub fn passing(lifted: Lifted) -> Self {
        Self { lifted, made: None }
    }

    /// Returns the constant as a plaintext operand.
    ///
    /// # Errors
    /// Fails for a level that the parameters do not have.
    pub fn constant(&self, params: &Params) -> Result<Arc<Spread>, RlweError> {
        let kept = self.made.as_ref();
        if let Some(made) = kept.and_then(OnceLock::get) {
            return Ok(Arc::clone(made));
        }
        let constant = Arc::new(self.lifted.encoded(params)?);
        Ok(match kept {
            Some(kept) => Arc::clone(kept.get_or_init(|| constant)),
            None => constant,
        })
    }
}
