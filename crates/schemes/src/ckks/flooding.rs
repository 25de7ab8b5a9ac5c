//! Noise that hides the error of a decryption before it is shared (docs/security.md).

use ringmill_math::Prng;
use ringmill_math::sample::{self, WideGaussian};
use zeroize::Zeroizing;

use super::Plaintext;
use super::error::CkksError;
use super::params::Params;
use crate::rlwe::RlweError;
use crate::rlwe::arith::{limbs_mut, plan};

/// Most statistical bits and bits of the number of decryptions together: the sampler itself is within 2^-36 of a
/// Gaussian for a whole polynomial.
const MOST_BITS: f64 = 35.0;

/// A slot's noise stays below this many of its root mean squares, except with probability e^-36.
const TAIL: f64 = 6.0;

/// How much noise a decryption gets: what is shared of at most `decryptions` decryptions under one key is within
/// 2^-`statistical_bits` (statistical distance) of what would be shared if none had an error of its own.
///
/// Let every slot be off by at most B. The error polynomial at scale D then has a Euclidean norm of at most B D. Gaussian
/// noise of standard deviation s on each coefficient hides a shift of norm t up to a Kullback-Leibler divergence of
/// t^2 / (2 s^2), which adds up over decryptions, adaptive ones too (Li, Micciancio, Schultz and Sorrell, CRYPTO 2022).
/// By Pinsker's inequality s = B D sqrt(decryptions) 2^`statistical_bits` leaves a distance of at most half of what is
/// promised; the sampler takes less than the other half.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flooding {
    statistical_bits: u32,
    decryptions: u64,
}

impl Flooding {
    /// # Errors
    /// No bits or no decryptions, or more than 35 bits of both together.
    pub fn new(statistical_bits: u32, decryptions: u64) -> Result<Self, CkksError> {
        let flooding = Self {
            statistical_bits,
            decryptions,
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
    pub fn flood(
        &self,
        params: &Params,
        plain: &Plaintext,
        bound: f64,
        prng: &mut Prng,
    ) -> Result<Plaintext, CkksError> {
        params.check_id("plaintext", plain.params_id())?;
        let gaussian = WideGaussian::at_least(self.sigma(bound, plain.scale()))?;
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
