// SPDX-License-Identifier: Apache-2.0
//! Noise that hides the error of a decryption before it is shared (docs/security.md).

use ringmill_math::Prng;
use ringmill_math::sample::{self, WideGaussian};
use zeroize::Zeroizing;

use super::Plaintext;
use super::error::CkksError;
use super::params::Params;
use crate::rlwe::arith::{limbs_mut, plan};
use crate::rlwe::{Charge, RlweError};

/// Most statistical bits and bits of the number of decryptions together: the bound on an error holds but for 2^-40
/// ([`FAILURE_BITS`](super::FAILURE_BITS)), which then is a 32nd of what is promised.
const MOST_BITS: f64 = 35.0;

/// What the sampler's distance from a Gaussian may be of what is promised. The error takes half and the failures of its
/// bound a 32nd.
const SAMPLER: f64 = 7.0 / 16.0;

/// A slot's noise stays below this many of its root mean squares, except with probability e^-36.
const TAIL: f64 = 6.0;

/// How much noise a decryption gets: what is shared of at most `decryptions` decryptions under one key is within
/// 2^-`statistical_bits` (statistical distance) of what would be shared if none had an error of its own.
///
/// Let every slot be off by at most B. The error polynomial at scale D then has a Euclidean norm of at most B D. Gaussian
/// noise of standard deviation s on each coefficient hides a shift of norm t up to a Kullback-Leibler divergence of
/// t^2 / (2 s^2), which adds up over decryptions, adaptive ones too (Li, Micciancio, Schultz and Sorrell, CRYPTO 2022).
/// By Pinsker's inequality s = B D sqrt(decryptions) 2^`statistical_bits` leaves a distance of at most half of what is
/// promised. The sampler's distance ([`WideGaussian::distance`]) grows with N, with the width and with the decryptions;
/// noise for which all decryptions together would be further than 7/16 of what is promised is refused.
///
/// The decryptions are counted with the secret key ([`SecretKey::charge`](super::SecretKey::charge)).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flooding {
    statistical_bits: u32,
    decryptions: u64,
    decrypted_so_far: Option<u64>,
}

impl Flooding {
    /// # Errors
    /// No bits or no decryptions, or more than 35 bits of both together.
    pub fn new(statistical_bits: u32, decryptions: u64) -> Result<Self, CkksError> {
        let flooding = Self {
            statistical_bits,
            decryptions,
            decrypted_so_far: None,
        };
        let bits = f64::from(statistical_bits) + (decryptions as f64).log2();
        if statistical_bits > 0 && decryptions > 0 && bits <= MOST_BITS {
            return Ok(flooding);
        }
        Err(RlweError::Parameter {
            what: "statistical security of a shared decryption",
            expected: format!(
                "at least 1 bit and 1 decryption, and at most {MOST_BITS} bits with log2 of the decryptions"
            ),
            got: format!("{statistical_bits} bits for {decryptions} decryptions"),
        }.into())
    }

    /// The same where the caller says how many decryptions were shared under the key before, at least: for keys that do not
    /// know it. A count that the key has is never lowered. Decryptions that the key does not know of are taken to have been
    /// shared as these are.
    #[must_use]
    pub fn decrypted_so_far(self, count: u64) -> Self {
        Self {
            decrypted_so_far: Some(count),
            ..self
        }
    }

    /// What so many decryptions take of a key.
    pub fn charge(&self, outputs: u64) -> Charge {
        Charge {
            outputs,
            statistical_bits: self.statistical_bits,
            decryptions: self.decryptions,
            decrypted_so_far: self.decrypted_so_far,
        }
    }

    /// Refuses noise that the sampler does not make well enough: for a wide ring, wide noise, many bits and many
    /// decryptions together.
    ///
    /// # Errors
    /// A distance from a Gaussian that is too large for what is promised, or noise that is wider than 2^110.
    pub fn check(&self, params: &Params, bound: f64, scale: f64) -> Result<(), CkksError> {
        self.gaussian(params, bound, scale).map(drop)
    }

    fn gaussian(&self, params: &Params, bound: f64, scale: f64) -> Result<WideGaussian, CkksError> {
        let gaussian = WideGaussian::at_least(self.sigma(bound, scale))?;
        let all = gaussian.distance(params.degree()) * self.decryptions as f64;
        let promised = SAMPLER * (-f64::from(self.statistical_bits)).exp2();
        if all <= promised {
            return Ok(gaussian);
        }
        Err(RlweError::Parameter {
            what: "distance of the noise from a Gaussian",
            expected: format!(
                "at most 2^{:.1} for {} statistical bits; ask for fewer bits or decryptions",
                promised.log2(),
                self.statistical_bits
            ),
            got: format!(
                "2^{:.1} for {} decryptions at N = 2^{} and a standard deviation of 2^{:.1}",
                all.log2(),
                self.decryptions,
                params.log_n(),
                gaussian.sigma().log2()
            ),
        }
        .into())
    }

    /// Standard deviation of the noise on a coefficient of a decryption whose slots are off by at most `bound`.
    fn sigma(&self, bound: f64, scale: f64) -> f64 {
        let factor = (self.decryptions as f64).sqrt() * f64::from(self.statistical_bits).exp2();
        bound * scale * factor
    }

    /// Bound on the error of every slot with the noise, given one without it.
    pub fn bound_after(&self, params: &Params, bound: f64, scale: f64) -> f64 {
        let coefficient = WideGaussian::widest(self.sigma(bound, scale)) / scale;
        bound + TAIL * (params.degree() as f64).sqrt() * coefficient
    }

    /// A decryption with noise, each slot of which was off by at most `bound`.
    ///
    /// # Errors
    /// Those of [`Flooding::check`].
    pub fn flood(
        &self,
        params: &Params,
        plain: &Plaintext,
        bound: f64,
        prng: &mut Prng,
    ) -> Result<Plaintext, CkksError> {
        params.check_id("plaintext", plain.params_id())?;
        let gaussian = self.gaussian(params, bound, plain.scale())?;
        let noise = gaussian.draw(prng, params.degree());
        let indices: Vec<usize> = plain.level().moduli().collect();
        let mut limbs = Zeroizing::new(plain.limbs().wide().into_owned());
        let mut room = Zeroizing::new(vec![0; params.degree()]);
        for (i, q, limb) in limbs_mut(params, &indices, &mut limbs) {
            sample::to_limb_i128(q, &noise, &mut room)?;
            plan(params, i)?.forward(&mut room)?;
            ringmill_math::kernels::add_assign(q, limb, &room)?;
        }
        let annotation = *plain.annotation();
        Ok(Plaintext::trusted(
            params,
            plain.level(),
            annotation,
            limbs,
        )?)
    }
}
