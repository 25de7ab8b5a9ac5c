//! Decryption in RNS, as SEAL does it (polymul paper, Algorithm 5).

use std::sync::Arc;

use num_bigint::BigUint;
use ringmill_math::{AnyModulus, BaseConverter, Modulus, RnsBasis, kernels};
use zeroize::Zeroizing;

use super::auxiliary::product;
use super::error::BfvError;
use super::params::Params;
use super::{Bfv, Ciphertext};
use crate::exact::{Decrypts, ExactError, ExactParams, Plaintext, budget};
use crate::rlwe::arith::{limbs_mut, plan};
use crate::rlwe::{self, KeyId, Level, RlweError, SecretKey};

/// Decrypts; holds the secret key. Running time depends on public sizes alone, but for that of the noise budget.
pub struct Decryptor {
    params: Arc<Params>,
    phases: rlwe::Decryptor,
    gamma: Modulus,
    /// gamma^-1 mod t.
    inverse: u64,
    levels: Vec<ToPlain>,
}

/// Division by Q / t at one level.
struct ToPlain {
    /// gamma t modulo each prime.
    raise: Vec<u64>,
    /// From the level's primes to t and gamma.
    extension: BaseConverter,
    /// -Q^-1 modulo t and gamma.
    divide: [u64; 2],
}

impl ToPlain {
    fn new(params: &Params, gamma: Modulus, level: Level) -> Result<Self, RlweError> {
        let (t, q) = (params.plain_modulus().reducer(), product(params, level));
        let primes = params.reducers().iter().take(level.primes()).copied();
        let primes: Vec<Modulus> = primes.collect();
        let raised = BigUint::from(gamma.value()) * t.value();
        let residue = |x: &BigUint, q: Modulus| AnyModulus::from(q).reduce_big(x);
        let divide = |m: Modulus| Ok::<u64, RlweError>(m.neg(m.inv(residue(&q, m))?));
        Ok(Self {
            raise: primes.iter().map(|&q| residue(&raised, q)).collect(),
            divide: [divide(t)?, divide(gamma)?],
            extension: BaseConverter::new(&RnsBasis::new(primes)?, &[t, gamma]),
        })
    }
}

impl Decryptor {
    /// The secret key's identity, where it has one.
    pub fn key_id(&self) -> Option<KeyId> {
        self.phases.key_id()
    }

    /// c(s) in coefficient form, limb-major.
    fn phase(&self, cipher: &Ciphertext) -> Result<Zeroizing<Vec<u64>>, BfvError> {
        let mut phase = self.phases.phase(cipher)?;
        let indices: Vec<usize> = cipher.level().moduli().collect();
        for (i, _, limb) in limbs_mut(&self.params, &indices, &mut phase) {
            plan(&self.params, i)?.inverse(limb)?;
        }
        Ok(phase)
    }
}

impl Decrypts<Bfv> for Decryptor {
    fn new(params: Arc<Params>, secret: SecretKey) -> Result<Self, BfvError> {
        let (t, gamma) = (
            params.plain_modulus().reducer(),
            Modulus::new(params.auxiliary().gamma)?,
        );
        let levels = Level::LOWEST.to(params.max_level());
        let levels = levels.map(|level| ToPlain::new(&params, gamma, level));
        Ok(Self {
            phases: rlwe::Decryptor::new(params.clone(), secret)?,
            inverse: t.inv(gamma.value())?,
            levels: levels.collect::<Result<_, _>>()?,
            gamma,
            params,
        })
    }

    /// The message round(t c(s) / Q) mod t, c(s) = c_0 + c_1 s + c_2 s^2.
    ///
    /// With c(s) t / Q = m + v, m an integer and -1/2 <= v < 1/2: the fast base extension of gamma t c(s) mod Q, times
    /// -1 / Q, is floor(gamma v) - u modulo gamma and gamma m + floor(gamma v) - u modulo t, 0 <= u < k for k primes. So
    /// the first tells what to take off the second, and how large the noise v is.
    ///
    /// # Errors
    /// [`ExactError::NoBudget`] for noise of 1/4 or more in a coefficient (or less than that by at most k / gamma): a
    /// message that is lost has noise everywhere between -1/2 and 1/2. Ciphertexts of other parameters or another key.
    fn decrypt(&self, cipher: &Ciphertext) -> Result<Plaintext, BfvError> {
        let phase = self.phase(cipher)?;
        let n = self.params.degree();
        let (t, gamma) = (self.params.plain_modulus().reducer(), self.gamma);
        let k = cipher.level().primes();
        let level = self.levels.get(cipher.level().index());
        let level = level.ok_or_else(|| RlweError::Level {
            got: cipher.level(),
            max: self.params.max_level(),
        })?;
        let mut raised = phase;
        let indices: Vec<usize> = cipher.level().moduli().collect();
        let limbs = limbs_mut(&self.params, &indices, &mut raised);
        for ((_, q, limb), &w) in limbs.zip(&level.raise) {
            kernels::mul_scalar_assign(q, limb, w);
        }
        let mut sums = Zeroizing::new(vec![0; 2 * n]);
        let (modulo_t, modulo_gamma) = sums.split_at_mut(n);
        let from: Vec<&[u64]> = raised.chunks_exact(n).collect();
        level
            .extension
            .convert(&from, &mut [&mut *modulo_t, &mut *modulo_gamma])?;
        let [by_t, by_gamma] = level.divide;
        kernels::mul_scalar_assign(t, modulo_t, by_t);
        kernels::mul_scalar_assign(gamma, modulo_gamma, by_gamma);

        let mut largest = 0;
        let mut message = vec![0; n];
        for ((m, &at_t), &at_gamma) in message.iter_mut().zip(&*modulo_t).zip(&*modulo_gamma) {
            let correction = gamma.centred(at_gamma);
            largest = largest.max(correction.unsigned_abs());
            *m = t.mul(t.sub(at_t, t.from_i64(correction)), self.inverse);
        }
        if 4 * (u128::from(largest) + k as u128) >= u128::from(gamma.value()) {
            return Err(ExactError::NoBudget.into());
        }
        Ok(Plaintext::new(&*self.params, message)?)
    }

    /// Of t c(s) mod Q, whose largest centred coefficient over Q is the invariant noise.
    fn noise_budget(&self, cipher: &Ciphertext) -> Result<u32, BfvError> {
        let (mut noise, t) = (self.phase(cipher)?, self.params.plain_modulus().value());
        let indices: Vec<usize> = cipher.level().moduli().collect();
        for (_, q, limb) in limbs_mut(&self.params, &indices, &mut noise) {
            kernels::mul_scalar_assign(q, limb, q.reduce(t));
        }
        Ok(budget(&self.params, &noise, cipher.level())?)
    }
}
