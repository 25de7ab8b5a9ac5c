// SPDX-License-Identifier: Apache-2.0
//! Decrypts BFV ciphertexts in RNS, as SEAL does (Mert, Öztürk and Savaş, 2020, Algorithm 5).

use num_bigint::BigUint;
use ringmill_math::basext::BaseExtension;
use ringmill_math::{AnyModulus, BaseConverter, Modulus, RnsBasis, declassify, kernels};
use zeroize::Zeroizing;

use super::auxiliary::product;
use super::error::BfvError;
use super::params::Params;
use crate::exact::{ExactError, ExactParams, Plaintext};
use crate::rlwe::{Level, RlweError};

/// The division of the phase c(s) by Q / t at one level, for the plaintext modulus t, in the steps of SEAL's decryption
/// (Mert, Öztürk and Savaş, 2020, Algorithm 5).
///
/// Let c(s) t / Q = m + v with an integer m and -1/2 <= v < 1/2, and let gamma be an auxiliary prime. Take the fast
/// base extension of gamma t c(s) mod Q, times -1 / Q. It is floor(gamma v) - u modulo gamma, and gamma m + floor(gamma
/// v) - u modulo t, with 0 <= u < k for k primes. So the first residue is the correction of the second, and tells how
/// large the noise v is.
pub struct Division {
    t: Modulus,
    gamma: Modulus,
    /// The inverse of the auxiliary prime gamma modulo the plaintext modulus t.
    inverse: u64,
    primes: Vec<Modulus>,
    /// The product of the auxiliary prime gamma and the plaintext modulus t, modulo each prime of the level.
    raise: Vec<u64>,
    /// The base extension from the level's primes to the plaintext modulus t and the auxiliary prime gamma.
    extension: BaseConverter,
    /// The factors -Q^-1 modulo the plaintext modulus t and modulo the auxiliary prime gamma, by which the sums of the
    /// base extension are multiplied.
    divide: [u64; 2],
}

impl Division {
    /// Makes the division of phases by Q / t at `level`, where Q is the product of the level's primes and t the
    /// plaintext modulus.
    ///
    /// # Errors
    /// Fails for a level that the parameters do not have.
    pub fn new(params: &Params, level: Level) -> Result<Self, BfvError> {
        params.check_level(level)?;
        let gamma = Modulus::new(params.auxiliary().gamma).map_err(RlweError::from)?;
        Ok(Self::of(params, gamma, level)?)
    }

    fn of(params: &Params, gamma: Modulus, level: Level) -> Result<Self, RlweError> {
        let (t, q) = (params.plain_modulus().reducer(), product(params, level));
        let primes = params.reducers().iter().take(level.primes()).copied();
        let primes: Vec<Modulus> = primes.collect();
        let raised = BigUint::from(gamma.value()) * t.value();
        let residue = |x: &BigUint, q: Modulus| AnyModulus::from(q).reduce_big(x);
        let divide = |m: Modulus| Ok::<u64, RlweError>(m.neg(m.inv(residue(&q, m))?));
        Ok(Self {
            t,
            gamma,
            inverse: t.inv(gamma.value())?,
            raise: primes.iter().map(|&q| residue(&raised, q)).collect(),
            divide: [divide(t)?, divide(gamma)?],
            extension: BaseConverter::new(&RnsBasis::new(primes.clone())?, &[t, gamma]),
            primes,
        })
    }

    /// Multiplies the phase c(s), in coefficient form, by gamma t, the product of the auxiliary prime and the plaintext
    /// modulus (Mert, Öztürk and Savaş, 2020, Algorithm 5, line 2).
    pub fn raise(&self, phase: &mut [u64]) {
        let n = phase.len() / self.primes.len().max(1);
        let limbs = phase.chunks_exact_mut(n.max(1));
        for ((&q, &w), limb) in self.primes.iter().zip(&self.raise).zip(limbs) {
            kernels::mul_scalar_assign(q, limb, w);
        }
    }

    /// Computes the fast base extension of the raised phase and its product with -1 / Q (Mert, Öztürk and Savaş, 2020,
    /// Algorithm 5, lines 3 to 5). `sums` receives the residues modulo the plaintext modulus, then those modulo the
    /// auxiliary prime gamma.
    ///
    /// # Errors
    /// Fails for limbs of different lengths.
    pub fn extend(&self, raised: &[u64], sums: &mut [u64]) -> Result<(), BfvError> {
        let n = sums.len() / 2;
        let (modulo_t, modulo_gamma) = sums.split_at_mut(n);
        let from: Vec<&[u64]> = raised.chunks_exact(n.max(1)).collect();
        let mut to = [&mut *modulo_t, &mut *modulo_gamma];
        let mut scratch = Zeroizing::new(vec![0; self.extension.scratch_len()]);
        let extended = BaseExtension::convert(&self.extension, &from, &mut to, &mut scratch);
        extended.map_err(RlweError::from)?;
        let [by_t, by_gamma] = self.divide;
        kernels::mul_scalar_assign(self.t, modulo_t, by_t);
        kernels::mul_scalar_assign(self.gamma, modulo_gamma, by_gamma);
        Ok(())
    }

    /// Computes the message from the residues `sums` modulo the plaintext modulus t and the auxiliary prime gamma, as
    /// [`Self::extend`] writes them (Mert, Öztürk and Savaş, 2020, Algorithm 5, lines 6 to 13). `message` receives its
    /// residues modulo t. Returns the largest |gamma v| over all coefficients, where v is the noise of a coefficient.
    /// This maximum is wrong by at most the number of the level's primes.
    pub fn correct(&self, sums: &[u64], message: &mut [u64]) -> u64 {
        let (t, gamma) = (self.t, self.gamma);
        let (modulo_t, modulo_gamma) = sums.split_at(sums.len() / 2);
        let mut largest = 0;
        for ((m, &at_t), &at_gamma) in message.iter_mut().zip(modulo_t).zip(modulo_gamma) {
            let correction = gamma.centred(at_gamma);
            largest = largest.max(correction.unsigned_abs());
            *m = t.mul(t.sub(at_t, t.from_i64(correction)), self.inverse);
        }
        largest
    }

    /// Returns whether the noise v of a coefficient may be 1/4 or more in absolute value. `largest` is the largest
    /// |gamma v| that [`Self::correct`] returned, for the auxiliary prime gamma.
    fn too_noisy(&self, largest: u64) -> bool {
        4 * (u128::from(largest) + self.primes.len() as u128) >= u128::from(self.gamma.value())
    }
}

/// Makes the division of the phase for each level.
///
/// # Errors
/// None for a checked parameter set.
pub(super) fn divisions(params: &Params) -> Result<Vec<Division>, BfvError> {
    let gamma = Modulus::new(params.auxiliary().gamma)?;
    let levels = Level::LOWEST.to(params.max_level());
    let levels = levels.map(|level| Division::of(params, gamma, level));
    Ok(levels.collect::<Result<_, _>>()?)
}

/// Decrypts a phase c(s) to the message round(t c(s) / Q) mod t, for the plaintext modulus t, by [`Division`].
///
/// # Errors
/// [`ExactError::NoBudget`] if a coefficient has noise of 1/4 or more in absolute value. Noise below 1/4 - 2 k / gamma
/// is never refused, for k primes. If a message is lost, its noise appears as any number between -1/2 and 1/2.
pub(super) fn opened(
    divisions: &[Division],
    params: &Params,
    level: Level,
    mut phase: Zeroizing<Vec<u64>>,
) -> Result<Plaintext, BfvError> {
    let n = params.degree();
    let division = divisions.get(level.index());
    let division = division.ok_or_else(|| RlweError::Level {
        got: level,
        max: params.max_level(),
    })?;
    division.raise(&mut phase);
    let mut sums = Zeroizing::new(vec![0; 2 * n]);
    division.extend(&phase, &mut sums)?;
    let mut message = Zeroizing::new(vec![0; n]);
    if declassify(division.too_noisy(division.correct(&sums, &mut message))) {
        return Err(ExactError::NoBudget.into());
    }
    let message = std::mem::take(&mut *message);
    Ok(Plaintext::trusted(params, message))
}
