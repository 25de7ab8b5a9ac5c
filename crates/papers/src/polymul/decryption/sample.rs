// SPDX-License-Identifier: Apache-2.0
//! A BFV ciphertext under a known key, in the form that SEAL's decryption takes: polynomials in coefficient form, the
//! key in evaluation form.

use std::sync::Arc;

use ringmill_math::primes::ntt_primes;
use ringmill_math::{NttPlan, Prng, kernels, sample};
use ringmill_schemes::bfv::{
    self, BfvError, Ciphertext, CoefficientEncoder, Division, Encryptor, Integers, KeyGenerator,
    Params, PlainModulus,
};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::error::PaperError;

/// The plaintext modulus 2^8, as in Table 3 of Mert, Öztürk and Savaş. No prime of 8 bits is 1 mod 2n, so messages are
/// coefficients.
pub const T: u64 = 256;
/// The bits of the key-switching prime that the library's parameters must have. No ciphertext of the study uses it.
const SPECIAL_BITS: u32 = 30;

/// A parameter set of the paper of Mert, Öztürk and Savaş: the ring degree, and the bits of its one prime.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct Set {
    pub n: usize,
    #[serde(rename = "k")]
    pub bits: u32,
}

impl Set {
    /// Returns the set's prime, the largest of its size, which SEAL takes too.
    ///
    /// # Errors
    /// Fails if there is no such prime.
    pub fn prime(self) -> Result<u64, PaperError> {
        let primes = ntt_primes(self.bits, self.n.ilog2(), 1)?;
        Ok(primes.first().copied().unwrap_or_default())
    }

    /// Builds BFV parameters with one prime for ciphertexts. They are not checked for security, since the check would
    /// count the key-switching prime, under which nothing is published.
    ///
    /// # Errors
    /// Fails if there are no such primes.
    pub fn params(self) -> Result<Arc<Params>, PaperError> {
        let log_n = self.n.ilog2();
        let special = ntt_primes(SPECIAL_BITS, log_n, 1)?;
        let t = PlainModulus::new(T).map_err(BfvError::from)?;
        let builder = Params::builder(log_n as u8, t).primes(&[self.prime()?], &special);
        Ok(builder.allow_insecure_parameters_for_tests_only().build()?)
    }
}

/// The input of a decryption: a ciphertext, its secret key, and the expected message.
pub struct Sample {
    pub division: Division,
    pub plan: Arc<NttPlan>,
    pub c0: Vec<u64>,
    pub c1: Vec<u64>,
    pub key: Zeroizing<Vec<u64>>,
    pub message: Vec<u64>,
}

impl Sample {
    /// Encrypts a random message with a random secret key. A public key's encryption has too much noise for the
    /// parameter set of degree 1024 with a prime of 14 bits.
    ///
    /// # Errors
    /// Fails if there are no such primes, or if the operating system gives no randomness.
    pub fn ours(set: Set) -> Result<Self, PaperError> {
        let params = set.params()?;
        let mut prng = Prng::from_os()?;
        let mut message = vec![0; set.n];
        sample::uniform(&mut prng, reducer(T)?, &mut message);
        let keys = KeyGenerator::new(Arc::clone(&params))?;
        let key = Zeroizing::new(limb(keys.secret_key().expose_eval_limbs(), set.n)?);
        let encoder = CoefficientEncoder::new(Arc::clone(&params));
        let plain = encoder.encode(&message, Integers::Unsigned);
        let plain = plain.map_err(BfvError::from)?;
        let encryptor = Encryptor::with_secret_key(Arc::clone(&params), keys.secret_key().clone())?;
        Self::of(&params, &encryptor.encrypt(&plain)?, key, message)
    }

    /// Makes a sample for a decryption from a ciphertext and its key, which are ours or which SEAL wrote.
    ///
    /// # Errors
    /// Returns [`PaperError::Size`] for a ciphertext of other than two polynomials.
    pub fn of(
        params: &Params,
        cipher: &Ciphertext,
        key: Zeroizing<Vec<u64>>,
        message: Vec<u64>,
    ) -> Result<Self, PaperError> {
        let [c0, c1] = cipher.polys() else {
            let got = cipher.polys().len();
            return Err(PaperError::Size(format!(
                "a ciphertext of {got} polynomials; expected 2: relinearise it"
            )));
        };
        let q = reducer(params.moduli().first().copied().unwrap_or_default())?;
        let plan = NttPlan::shared(q, params.ring())?;
        let mut polys = [c0, c1].map(|c| c.residues().wide().into_owned());
        polys.iter_mut().try_for_each(|c| plan.inverse(c))?;
        let [c0, c1] = polys;
        Ok(Self {
            division: Division::new(params, bfv::Level::LOWEST)?,
            plan,
            c0,
            c1,
            key,
            message,
        })
    }

    pub fn n(&self) -> usize {
        self.c1.len()
    }

    /// Computes c_1 s in coefficient form (NTT_MULTIPLY, lines 14 to 18 of Algorithm 5 of the paper of Mert, Öztürk and
    /// Savaş).
    ///
    /// # Errors
    /// Fails if the transform refuses a residue or a length.
    ///
    /// # Panics
    /// Panics if `into` has another length than the sample's polynomials.
    pub fn product(&self, into: &mut [u64]) -> Result<(), PaperError> {
        into.copy_from_slice(&self.c1);
        self.plan.forward(into)?;
        kernels::mul_assign(self.plan.modulus(), into, &self.key)?;
        Ok(self.plan.inverse(into)?)
    }

    /// Checks that a decryption gave the expected message. `whose` names the decryption in the error.
    ///
    /// # Errors
    /// Returns [`PaperError::Disagreement`] if the decryption gave another message.
    pub fn check(&self, message: &[u64], whose: &str) -> Result<(), PaperError> {
        let differ = |(got, want): (&u64, &u64)| got != want;
        match message.iter().zip(&self.message).position(differ) {
            None if message.len() == self.message.len() => Ok(()),
            at => Err(PaperError::Disagreement(format!(
                "{whose} decrypts another message: coefficient {} of {}",
                at.unwrap_or(message.len()),
                self.message.len()
            ))),
        }
    }
}

pub fn reducer(q: u64) -> Result<ringmill_math::Modulus, PaperError> {
    Ok(ringmill_math::Modulus::new(q)?)
}

/// Returns the first limb, of n residues, of a polynomial's limbs.
///
/// # Errors
/// Returns [`PaperError::Internal`] if there are fewer than n words.
pub fn limb(limbs: &[u64], n: usize) -> Result<Vec<u64>, PaperError> {
    let first = limbs.get(..n).map(<[u64]>::to_vec);
    first.ok_or_else(|| PaperError::Internal(format!("a key of {} words, not {n}", limbs.len())))
}
