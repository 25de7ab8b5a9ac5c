// SPDX-License-Identifier: Apache-2.0
//! Makes key-switching keys between any two secrets. A key has limbs modulo only those ciphertext and special primes
//! that its use needs ([`Shape`]).

use std::ops::Range;

use ringmill_isa::Level;
use ringmill_limits::{Watch, room};
use ringmill_math::{Modulus, Prng, kernels};
use zeroize::Zeroizing;

use super::arith::{check_limbs, expand, extended, limbs_mut, product_modulo};
use super::cipher::limb;
use super::error::RlweError;
use super::key::{KSwitchKey, KeyForm, KeyHalf, SecretKey};
use super::keygen::encrypt_zero;
use super::params::Params;
use ringmill_device::KeyId;

/// The shape of a key-switching key: its moduli and its digits.
pub(crate) struct Shape {
    /// The indices of the key's moduli in the parameters' table of moduli: ciphertext primes, then special primes.
    pub moduli: Vec<usize>,
    /// The range of the key's special primes' indices in the parameters' table of moduli. It is empty for a key without
    /// special primes.
    pub special: Range<usize>,
    /// For each digit, the range of its ciphertext primes' indices in the parameters' table of moduli.
    pub digits: Vec<Range<usize>>,
    /// The plaintext modulus of which the key's errors are multiples. It is `None` unless messages are in the low bits
    /// (BGV).
    pub low: Option<Modulus>,
}

impl Shape {
    /// Returns the shape of a key for ciphertexts at `level` and below, with messages modulo any of the
    /// plaintext moduli.
    pub fn at(params: &Params, level: Level) -> Self {
        Self {
            moduli: extended(params, level),
            special: params.cipher_count()..params.moduli().len(),
            digits: (0..params.digits_at(level))
                .map(|j| params.digit(j, level))
                .collect(),
            low: params.key_modulus(),
        }
    }

    /// Returns the number of bytes of memory that one half (b or a) of a key of this shape takes, over all digits.
    fn half_bytes(&self, params: &Params) -> u64 {
        (params.key_word_bytes() * self.digits.len() * self.digit_len(params)) as u64
    }

    /// Returns the number of residues of one half (b or a) of one digit of a key of this shape.
    pub fn digit_len(&self, params: &Params) -> usize {
        self.moduli.len() * params.degree()
    }

    /// Returns the number of bytes of memory that a key of this shape takes.
    pub fn bytes(&self, params: &Params, form: KeyForm) -> u64 {
        match form {
            KeyForm::Seeded => self.half_bytes(params) + 32,
            KeyForm::Stored => 2 * self.half_bytes(params),
        }
    }

    /// Makes a key of this shape from its halves b and a, each a list with one polynomial for each digit.
    ///
    /// # Errors
    /// Fails for another number of digits or residues, and for a residue that is not below its modulus.
    pub fn key(
        &self,
        params: &Params,
        b: Vec<Vec<u64>>,
        a: KeyHalf<Vec<Vec<u64>>>,
        key_id: Option<KeyId>,
    ) -> Result<KSwitchKey, RlweError> {
        let stored: &[Vec<u64>] = match &a {
            KeyHalf::Stored(a) => a,
            KeyHalf::Seed(_) => &b,
        };
        for half in [&b, stored] {
            if half.len() != self.digits.len() {
                return Err(RlweError::Length {
                    what: "key-switching key",
                    expected: self.digits.len(),
                    got: half.len(),
                });
            }
            for limbs in half {
                check_limbs(params, "key-switching key", &self.moduli, limbs)?;
            }
        }
        let moduli = self.moduli.clone();
        Ok(KSwitchKey::over(params, moduli, b, a, key_id))
    }
}

/// Makes the key that switches from the secret `from` to the secret `to`, with the key identity `key_id`. `from` is in
/// evaluation form modulo all primes.
///
/// # Errors
/// Fails for missing memory, and if `watch` stops the work.
pub(crate) fn switching_key(
    params: &Params,
    shape: &Shape,
    (from, to): (&[u64], &SecretKey),
    key_id: Option<KeyId>,
    form: KeyForm,
    prng: &mut Prng,
    watch: &Watch,
) -> Result<KSwitchKey, RlweError> {
    let seed = prng.next_seed();
    let (count, n) = (params.moduli().len(), params.degree());
    let special = params.moduli().get(shape.special.clone());
    let special = special.unwrap_or_default();
    let (mut bs, mut a_halves) = (Vec::new(), Vec::new());
    room("a key-switching key", 4 * shape.half_bytes(params))?;
    for (j, own) in shape.digits.iter().enumerate() {
        watch.check()?;
        let a = expand(params, &shape.moduli, &seed, (j * count) as u64);
        let mut b = encrypt_zero(params, shape.low, to, &shape.moduli, &a, prng)?;
        let limbs = limbs_mut(params, &shape.moduli, &mut b);
        for (i, q, b) in limbs.filter(|(i, ..)| own.contains(i)) {
            let p = product_modulo(q, special);
            let mut term = Zeroizing::new(vec![0; n]);
            if let Some(s) = limb(from, i, count) {
                kernels::mul_scalar(q, &mut term, s, p)?;
                kernels::add_assign(q, b, &term)?;
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
    let moduli = shape.moduli.clone();
    Ok(KSwitchKey::over(params, moduli, bs, a, key_id))
}
