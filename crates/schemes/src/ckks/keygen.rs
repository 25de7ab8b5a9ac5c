//! Key generation.

use std::sync::Arc;

use ringmill_math::{Prng, kernels};
use zeroize::Zeroizing;

use super::arith::{expand, limbs_mut, sample_error, sample_secret, small_to_eval};
use super::error::CkksError;
use super::key::{GaloisKeys, KSwitchKey, KeyForm, KeyHalf, PublicKey, RelinKey, SecretKey};
use super::params::Params;

/// Makes keys for one secret key.
///
/// ```
/// # fn main() -> Result<(), ringmill_schemes::ckks::CkksError> {
/// use ringmill_schemes::ckks::{KeyGenerator, Params};
/// let params = Params::builder(12).prime_bits(&[35, 35], &[35]).build()?;
/// let mut keygen = KeyGenerator::new(params.clone())?;
/// let relin = keygen.relin_key(Default::default())?;
/// let rotations = keygen.galois_keys(&[params.galois_element(1)?], Default::default())?;
/// # let _ = (relin, rotations);
/// # Ok(())
/// # }
/// ```
pub struct KeyGenerator {
    params: Arc<Params>,
    secret: SecretKey,
    prng: Prng,
    indices: Vec<usize>,
}

impl KeyGenerator {
    /// A fresh secret key from the operating system's randomness.
    pub fn new(params: Arc<Params>) -> Result<Self, CkksError> {
        Self::with_prng(params, Prng::from_os()?)
    }

    /// The same keys on every run: for tests that must repeat, and for nothing else.
    pub fn from_seed_for_reproducible_tests_only(
        params: Arc<Params>,
        seed: [u8; 32],
    ) -> Result<Self, CkksError> {
        Self::with_prng(params, Prng::from_seed_for_reproducible_tests_only(seed))
    }

    /// Further keys for a secret key that exists.
    pub fn from_secret_key(params: Arc<Params>, secret: SecretKey) -> Result<Self, CkksError> {
        params.check_id("secret key", secret.params_id())?;
        let indices = (0..params.moduli().len()).collect();
        Ok(Self {
            params,
            secret,
            prng: Prng::from_os()?,
            indices,
        })
    }

    fn with_prng(params: Arc<Params>, mut prng: Prng) -> Result<Self, CkksError> {
        let indices: Vec<usize> = (0..params.moduli().len()).collect();
        let coefficients = sample_secret(&params, &mut prng)?;
        let secret = SecretKey::trusted(&params, small_to_eval(&params, &indices, &coefficients)?);
        Ok(Self {
            params,
            secret,
            prng,
            indices,
        })
    }

    pub fn secret_key(&self) -> &SecretKey {
        &self.secret
    }

    /// An encryption of zero over all moduli, seeded.
    pub fn public_key(&mut self) -> Result<PublicKey, CkksError> {
        let seed = self.prng.next_seed();
        let a = expand(&self.params, &self.indices, &seed, 0);
        let b = self.zero(&a)?;
        Ok(PublicKey::trusted(&self.params, b, KeyHalf::Seed(seed)))
    }

    /// The key that switches s^2 to s.
    pub fn relin_key(&mut self, form: KeyForm) -> Result<RelinKey, CkksError> {
        let mut square = Zeroizing::new(self.secret.expose_eval_limbs().to_vec());
        let secret = self.secret.clone();
        for (i, q, limb) in limbs_mut(&self.params, &self.indices, &mut square) {
            if let Some(s) = secret.limb(&self.params, i) {
                kernels::mul_assign(q, limb, s)?;
            }
        }
        Ok(RelinKey(self.switching_key(&square, form)?))
    }

    /// The keys that switch s(x^g) to s, for each odd Galois element g below 2N given.
    pub fn galois_keys(
        &mut self,
        elements: &[u32],
        form: KeyForm,
    ) -> Result<GaloisKeys, CkksError> {
        let mut keys = GaloisKeys::new();
        for &g in elements {
            let secret = self.secret.clone();
            let mut turned = Zeroizing::new(vec![0; secret.expose_eval_limbs().len()]);
            for (i, _, limb) in limbs_mut(&self.params, &self.indices, &mut turned) {
                if let Some(s) = secret.limb(&self.params, i) {
                    kernels::auto_eval(u64::from(g), limb, s)?;
                }
            }
            keys.insert(g, self.switching_key(&turned, form)?);
        }
        Ok(keys)
    }

    /// The keys of rotations by these steps.
    pub fn rotation_keys(&mut self, steps: &[i64], form: KeyForm) -> Result<GaloisKeys, CkksError> {
        let elements = steps
            .iter()
            .map(|&s| self.params.galois_element(s))
            .collect::<Result<Vec<_>, _>>()?;
        self.galois_keys(&elements, form)
    }

    /// The key that switches the secret `from` (evaluation form over all moduli) to this one.
    fn switching_key(&mut self, from: &[u64], form: KeyForm) -> Result<KSwitchKey, CkksError> {
        let params = Arc::clone(&self.params);
        let (seed, count, n) = (
            self.prng.next_seed(),
            params.moduli().len(),
            params.degree(),
        );
        let (mut bs, mut a_halves) = (Vec::new(), Vec::new());
        for digit in 0..params.dnum() {
            let a = expand(&params, &self.indices, &seed, (digit * count) as u64);
            let mut b = self.zero(&a)?;
            let own = params.digit(digit, params.max_level());
            for (i, q, limb) in
                limbs_mut(&params, &self.indices, &mut b).filter(|(i, ..)| own.contains(i))
            {
                let p = params.special_moduli().iter().fold(1, |p, &x| q.mul(p, x));
                let mut term = Zeroizing::new(vec![0; n]);
                if let Some(s) = super::cipher::limb(from, i, count) {
                    kernels::mul_scalar(q, &mut term, s, p)?;
                    kernels::add_assign(q, limb, &term)?;
                }
            }
            bs.push(b);
            if form == KeyForm::Stored {
                a_halves.push(a);
            }
        }
        let a = match form {
            KeyForm::Seeded => KeyHalf::Seed(seed),
            KeyForm::Stored => KeyHalf::Stored(a_halves),
        };
        Ok(KSwitchKey::trusted(&params, bs, a))
    }

    /// -(a s + e) over all moduli.
    fn zero(&mut self, a: &[u64]) -> Result<Vec<u64>, CkksError> {
        encrypt_zero(&self.params, &self.secret, &self.indices, a, &mut self.prng)
    }
}

/// -(a s + e) over the moduli `indices`, e fresh; `a` has one limb a modulus.
pub(super) fn encrypt_zero(
    params: &Params,
    secret: &SecretKey,
    indices: &[usize],
    a: &[u64],
    prng: &mut Prng,
) -> Result<Vec<u64>, CkksError> {
    let mut b = small_to_eval(params, indices, &sample_error(params, prng)?)?;
    for ((i, q, limb), a) in limbs_mut(params, indices, &mut b).zip(a.chunks_exact(params.degree()))
    {
        if let Some(s) = secret.limb(params, i) {
            kernels::mac_assign(q, limb, a, s)?;
            kernels::neg_assign(q, limb);
        }
    }
    Ok(std::mem::take(&mut *b))
}
