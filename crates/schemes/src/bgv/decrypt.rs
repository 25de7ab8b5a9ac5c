//! Decryption: the residue modulo t of the centred phase, exactly.

use std::sync::Arc;

use ringmill_math::basext::MiddleHalf;
use ringmill_math::wipe::off_the_stack;
use ringmill_math::{Modulus, RnsBasis, declassify, kernels};
use zeroize::Zeroizing;

use super::error::BgvError;
use super::params::Params;
use super::{Bgv, Ciphertext};
use crate::exact::{Decrypts, ExactError, ExactParams, Plaintext, budget};
use crate::rlwe::arith::{limbs_mut, plan};
use crate::rlwe::{self, KeyId, Level, RlweError, SecretKey};

/// Decrypts; holds the secret key. Running time depends on public sizes and on whether the message is refused, but for
/// that of the noise budget.
pub struct Decryptor {
    params: Arc<Params>,
    phases: rlwe::Decryptor,
    /// From the primes of each level to all plaintext moduli.
    extensions: Vec<MiddleHalf>,
}

impl Decryptor {
    /// The secret key's identity, where it has one.
    pub fn key_id(&self) -> Option<KeyId> {
        self.phases.key_id()
    }

    /// c(s) in coefficient form, limb-major.
    fn phase(&self, cipher: &Ciphertext) -> Result<Zeroizing<Vec<u64>>, BgvError> {
        let mut phase = self.phases.phase(cipher)?;
        let indices: Vec<usize> = cipher.level().moduli().collect();
        off_the_stack(|| {
            for (i, _, limb) in limbs_mut(&self.params, &indices, &mut phase) {
                plan(&self.params, i)?.inverse(limb)?;
            }
            Ok(phase)
        })
    }

    /// The integers in (-Q/4, Q/4) that a polynomial's coefficients are, modulo plaintext modulus `plain`; `None` where one is
    /// none of these.
    fn modulo_t(
        &self,
        x: &[u64],
        level: Level,
        plain: u8,
    ) -> Result<Option<Zeroizing<Vec<u64>>>, BgvError> {
        let max = self.params.max_level();
        let extension = self.extensions.get(level.index());
        let extension = extension.ok_or(RlweError::Level { got: level, max })?;
        let n = self.params.degree();
        let limbs: Vec<&[u64]> = x.chunks_exact(n).collect();
        let mut all = Zeroizing::new(vec![0; n * (usize::from(self.params.last_plain()) + 1)]);
        let mut scratch = Zeroizing::new(vec![0; extension.scratch_len()]);
        let mut residues: Vec<&mut [u64]> = all.chunks_exact_mut(n).collect();
        let small = extension.convert(&limbs, &mut residues, &mut scratch)?;
        let wanted = all.chunks_exact(n).nth(plain.into());
        let wanted = wanted.map(|residues| Zeroizing::new(residues.to_vec()));
        Ok(wanted.filter(|_| declassify(small)))
    }
}

impl Decrypts<Bgv> for Decryptor {
    fn new(params: Arc<Params>, secret: SecretKey) -> Result<Self, BgvError> {
        let plain = params.plain_moduli();
        let plain: Vec<Modulus> = plain.iter().map(|t| t.reducer()).collect();
        let extension = |level: Level| {
            let primes = params.reducers().iter().take(level.primes()).copied();
            let basis = RnsBasis::new(primes.collect::<Vec<Modulus>>())?;
            Ok::<_, RlweError>(MiddleHalf::new(&basis, &plain)?)
        };
        let levels = Level::LOWEST.to(params.max_level());
        Ok(Self {
            extensions: levels.map(extension).collect::<Result<_, _>>()?,
            phases: rlwe::Decryptor::new(params.clone(), secret)?,
            params,
        })
    }

    /// With x the centred c(s) and f the ciphertext's factor, x / f modulo its plaintext modulus t: SEAL's `bgv_decrypt`, exact however long the
    /// primes are.
    ///
    /// A message that is lost leaves c(s) anywhere in (-Q/2, Q/2], so that x is refused from Q / 4 on, less or more than that by
    /// at most 2^-43 Q.
    fn decrypt(&self, cipher: &Ciphertext) -> Result<Plaintext, BgvError> {
        let plain = cipher.annotation().plain();
        let t = self.params.plain_at(plain)?.reducer();
        let (level, inverse) = (cipher.level(), cipher.annotation().inverse(t)?);
        let phase = self.phase(cipher)?;
        let message = self.modulo_t(&phase, level, plain)?;
        let mut message = message.ok_or(ExactError::NoBudget)?;
        kernels::mul_scalar_assign(t, &mut message, inverse);
        let message = std::mem::take(&mut *message);
        Ok(Plaintext::modulo(&*self.params, plain, message)?)
    }

    fn noise_budget(&self, cipher: &Ciphertext) -> Result<u32, BgvError> {
        let phase = self.phase(cipher)?;
        Ok(budget(&self.params, &phase, cipher.level())?)
    }
}
