// SPDX-License-Identifier: Apache-2.0
//! SEAL's modulus chain: the names (`parms_id`) that SEAL gives to the levels of a parameter set.

use super::blake::hash_words;
use super::error::Object;

/// A scheme of SEAL, with the number that stands for it in SEAL's files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum SealScheme {
    Bfv = 1,
    Ckks = 2,
    Bgv = 3,
}

impl SealScheme {
    /// Returns advice for a user whose file is of another scheme.
    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::Bfv => "only BFV (scheme 1) is computed on here: CKKS is 2, BGV 3",
            Self::Ckks => "only CKKS (scheme 2) is computed on here: BFV is 1, BGV 3",
            Self::Bgv => "only BGV (scheme 3) is computed on here: BFV is 1, CKKS 2",
        }
    }
}

/// SEAL's name of one level: BLAKE2b-256 of scheme, ring degree, primes and plaintext modulus, each a 64-bit word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ParmsId(pub [u8; 32]);

impl ParmsId {
    /// Returns SEAL's name of the level with the primes `primes`. `plain` is the plaintext modulus, which is 0 in
    /// CKKS.
    fn of(scheme: SealScheme, n: usize, primes: &[u64], plain: u64) -> Self {
        let mut words = vec![scheme as u64, n as u64];
        words.extend_from_slice(primes);
        words.push(plain);
        ParmsId(hash_words(&words))
    }

    /// The level's name (`parms_id`) in a file whose object belongs to no level: a plaintext in coefficient form.
    pub(super) const NONE: Self = Self([0; 32]);

    /// Returns the name of a level in hexadecimal, in the order of its bytes in files.
    pub fn hex(&self) -> String {
        self.0.iter().map(|b| format!("{b:02x}")).collect()
    }
}

/// A modulus chain of SEAL: the scheme, ring degree, primes in SEAL's order (the special prime last), plaintext
/// modulus, and the names of all levels.
#[derive(Clone, Debug)]
pub struct Chain {
    scheme: SealScheme,
    n: usize,
    moduli: Vec<u64>,
    plain: u64,
    /// The names of the levels. Entry k is the name of the level with the first k + 1 primes. The last entry is
    /// SEAL's key level, which has all primes.
    ids: Vec<ParmsId>,
}

impl Chain {
    pub fn new(scheme: SealScheme, n: usize, moduli: &[u64], plain: u64) -> Self {
        let ids = (1..=moduli.len())
            .filter_map(|k| moduli.get(..k))
            .map(|primes| ParmsId::of(scheme, n, primes, plain))
            .collect();
        Self {
            scheme,
            n,
            moduli: moduli.to_vec(),
            plain,
            ids,
        }
    }

    pub(super) fn scheme(&self) -> SealScheme {
        self.scheme
    }

    pub(super) fn plain(&self) -> u64 {
        self.plain
    }

    /// Returns whether files hold the polynomials of this kind of ciphertext or key in evaluation form. They do, except
    /// for BFV's ciphertexts.
    pub(super) fn evaluation_form(&self, object: Object) -> bool {
        match self.scheme {
            SealScheme::Ckks | SealScheme::Bgv => true,
            SealScheme::Bfv => object != Object::Ciphertext,
        }
    }

    pub(super) fn n(&self) -> usize {
        self.n
    }

    pub(super) fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// Returns the number of primes of the level with this name, or `None` if no level has it.
    pub fn primes_of(&self, id: &ParmsId) -> Option<usize> {
        self.ids
            .iter()
            .position(|known| known == id)?
            .checked_add(1)
    }

    /// Returns the name of the level with the first `primes` primes, or `None` if there is no such level.
    pub fn id(&self, primes: usize) -> Option<ParmsId> {
        self.ids.get(primes.checked_sub(1)?).copied()
    }
}
