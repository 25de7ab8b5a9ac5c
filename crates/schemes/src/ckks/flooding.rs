// SPDX-License-Identifier: Apache-2.0
//! Adds noise that hides the error of a decryption before the result is shared (docs/security.md).

use std::num::{NonZeroU32, NonZeroU64};

use ringmill_math::Prng;
use ringmill_math::sample::{self, WideGaussian};
use zeroize::Zeroizing;

use super::Plaintext;
use super::error::CkksError;
use super::params::Params;
use crate::rlwe::arith::{limbs_mut, plan};
use crate::rlwe::{Charge, RlweError};

/// The most bits that `statistical_bits` and log2 of the number of decryptions may have together. The bound on an
/// error fails with probability 2^-40 ([`FAILURE_BITS`](super::FAILURE_BITS)). At 35 bits, such failures over all
/// decryptions take a 32nd of the promised statistical distance.
const MOST_BITS: f64 = 35.0;

/// The fraction of the promised statistical distance that the sampler may take, because its noise is not exactly
/// Gaussian. The errors that the noise hides take one half, and failures of the bounds on errors a 32nd.
const SAMPLER: f64 = 7.0 / 16.0;

/// The number of standard deviations below which the added noise of a slot stays, except with probability e^-36.
const TAIL: f64 = 6.0;

/// The amount of noise that hides the error of a decryption. All shared decryptions under one key, at most
/// `decryptions`, are within the statistical distance 2^-`statistical_bits` of decryptions without errors of their own.
///
/// Let every slot have an error of at most B. The error polynomial, for the scale D of the ciphertext, then has a
/// Euclidean norm of at most B D. Gaussian noise of standard deviation s on each coefficient hides a shift of norm
/// u up to a Kullback-Leibler divergence of u^2 / (2 s^2). These divergences add up over decryptions, adaptive ones
/// too (Li, Micciancio, Schultz and Sorrell, CRYPTO 2022). By Pinsker's inequality, s = B D sqrt(`decryptions`)
/// 2^`statistical_bits` takes at most half of the promised distance. The sampled noise is not exactly Gaussian, and
/// its distance from a Gaussian ([`WideGaussian::distance`]) grows with N and with s. Noise is refused if that
/// distance, over all decryptions, exceeds 7/16 of the promised one.
///
/// The secret key counts its shared decryptions ([`SecretKey::charge`](super::SecretKey::charge)).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flooding {
    statistical_bits: NonZeroU32,
    decryptions: u64,
    decrypted_so_far: Option<u64>,
    assumes_bounds: bool,
}

impl Flooding {
    /// Makes the amount of noise for `decryptions` shared decryptions, together within the statistical distance
    /// 2^-`statistical_bits`.
    ///
    /// # Errors
    /// Fails for zero bits, zero decryptions, or more than 35 bits of `statistical_bits` and log2 of `decryptions`
    /// together.
    pub fn new(statistical_bits: u32, decryptions: u64) -> Result<Self, CkksError> {
        let bits = f64::from(statistical_bits) + (decryptions as f64).log2();
        let some = NonZeroU32::new(statistical_bits);
        if let Some(statistical_bits) = some.filter(|_| decryptions > 0 && bits <= MOST_BITS) {
            return Ok(Self {
                statistical_bits,
                decryptions,
                decrypted_so_far: None,
                assumes_bounds: false,
            });
        }
        Err(RlweError::Parameter {
            what: "statistical security of a shared decryption",
            expected: format!(
                "at least 1 bit and 1 decryption, and at most {MOST_BITS} bits with log2 of the decryptions"
            ),
            got: format!("{statistical_bits} bits for {decryptions} decryptions"),
        }.into())
    }

    /// Returns this amount of noise with a lower bound `count` on the decryptions that were shared under the key
    /// before, for keys that do not know their count. The bound never lowers a count that the key has. Decryptions
    /// that the key does not know of count as shared with this amount of noise.
    #[must_use]
    pub fn decrypted_so_far(self, count: u64) -> Self {
        Self {
            decrypted_so_far: Some(count),
            ..self
        }
    }

    /// Returns this amount of noise for a caller who vouches for the ranges that the program states for its
    /// intermediate values. Otherwise, outputs whose error bound depends on such a range are not shared.
    #[must_use]
    pub fn assuming_bounds(self) -> Self {
        Self {
            assumes_bounds: true,
            ..self
        }
    }

    /// Returns whether the caller vouches for the ranges that the program states for its intermediate values.
    pub fn assumes_bounds(&self) -> bool {
        self.assumes_bounds
    }

    /// Returns what the decryption of `outputs` outputs adds to a secret key's count of shared decryptions. [`SecretKey::charge`](super::SecretKey::charge) adds it.
    pub fn charge(&self, outputs: NonZeroU64) -> Charge {
        Charge {
            outputs,
            statistical_bits: self.statistical_bits,
            decryptions: self.decryptions,
            decrypted_so_far: self.decrypted_so_far,
        }
    }

    /// Refuses noise that the sampler cannot make exactly enough. The noise is for slots with errors of at most
    /// `bound` at `scale`, and the ring degree, the statistical bits and the number of decryptions count too.
    ///
    /// # Errors
    /// Fails if the sampler's distance from a Gaussian is too large for the promised distance, or the standard
    /// deviation of the noise is above 2^110.
    pub fn check(&self, params: &Params, bound: f64, scale: f64) -> Result<(), CkksError> {
        self.gaussian(params, bound, scale).map(drop)
    }

    fn gaussian(&self, params: &Params, bound: f64, scale: f64) -> Result<WideGaussian, CkksError> {
        let gaussian = WideGaussian::at_least(self.sigma(bound, scale))?;
        let all = gaussian.distance(params.degree()) * self.decryptions as f64;
        let promised = SAMPLER * (-f64::from(self.statistical_bits.get())).exp2();
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

    /// Returns the standard deviation of the noise on a coefficient, for a decryption at `scale` whose slots have
    /// errors of at most `bound`.
    fn sigma(&self, bound: f64, scale: f64) -> f64 {
        let factor =
            (self.decryptions as f64).sqrt() * f64::from(self.statistical_bits.get()).exp2();
        bound * scale * factor
    }

    /// Returns a bound on the error of every slot after noise is added. If `bound` bounds the error before, the result
    /// fails for a slot with probability at most e^-36. Both are errors of the message at `scale`.
    pub fn bound_after(&self, params: &Params, bound: f64, scale: f64) -> f64 {
        let coefficient = WideGaussian::widest(self.sigma(bound, scale)) / scale;
        bound + TAIL * (params.degree() as f64).sqrt() * coefficient
    }

    /// Adds noise to a decryption whose slots have errors of at most `bound`. It does not count the decryption. The
    /// caller charges the secret key before the result is shared ([`Flooding::charge`]).
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters, and with the errors of [`Flooding::check`].
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
