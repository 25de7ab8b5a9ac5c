// SPDX-License-Identifier: Apache-2.0
//! Keys: secret, public, key-switching, relinearisation and Galois.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use ringmill_isa::{Galois, Poly};
use ringmill_limits::room;
use ringmill_math::Residues;
use zeroize::Zeroizing;

use super::arith::{check_limbs, expand};
use super::cipher::limb;
use super::error::RlweError;
use super::ledger::{Charge, Ledger, LedgerError};
use super::params::Params;
use crate::identity::{Origin, belongs};
use ringmill_device::KeyId;
use ringmill_device::ResidueVec;
use ringmill_device::call::key_digit;
use ringmill_device::{Limbed, ParamsId};

fn all_indices(params: &Params) -> Vec<usize> {
    (0..params.moduli().len()).collect()
}

/// The secret key s in evaluation form over all moduli. Wiped on drop, never printed; written to a file only by
/// [`crate::file::write_secret_key_in_the_clear`] and [`SecretKey::save`]. Its copies share the count of decryptions that
/// were shared under it.
#[derive(Clone)]
pub struct SecretKey {
    origin: Origin,
    eval: Zeroizing<Vec<u64>>,
    ledger: Arc<Ledger>,
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(redacted)")
    }
}

belongs!(SecretKey);

impl SecretKey {
    /// From the evaluation form over all moduli, limb-major (SEAL's form); lengths and residues are checked. It has no
    /// identity, and how many decryptions were shared under it is not known.
    pub fn from_eval_limbs(params: &Params, eval: Zeroizing<Vec<u64>>) -> Result<Self, RlweError> {
        check_limbs(params, "secret key", &all_indices(params), &eval)?;
        Ok(Self::known(params, eval))
    }

    /// Of a key that existed before, without an identity.
    pub(crate) fn known(params: &Params, eval: Zeroizing<Vec<u64>>) -> Self {
        Self {
            origin: params.origin(None),
            eval,
            ledger: Arc::new(Ledger::of_known_key()),
        }
    }

    /// A key that was made just now.
    pub(crate) fn made(params: &Params, eval: Zeroizing<Vec<u64>>, key_id: KeyId) -> Self {
        Self {
            origin: params.origin(Some(key_id)),
            eval,
            ledger: Arc::new(Ledger::of_new_key()),
        }
    }

    /// The same key, read from this file: decryptions that are shared are counted there. A pipe or a device counts nothing.
    pub fn kept_in(self, path: &Path) -> Self {
        Self {
            ledger: Arc::new(Ledger::kept_in(path)),
            ..self
        }
    }

    /// Writes the key into a file, unprotected, its owner's alone (mode 0600): whoever reads the file reads every message.
    ///
    /// The first file that a key is saved to, or the one that it was read from, keeps the count of decryptions that are
    /// shared. Other files have none, since two would count apart.
    ///
    /// # Errors
    /// Those of [`ringmill_device::whole_file::write`].
    pub fn save(&self, path: &Path) -> io::Result<()> {
        self.ledger.save(self, path)
    }

    /// Counts decryptions that are about to be shared. Where the key lives in a file the count is there, and outlives a
    /// crash, when this returns.
    ///
    /// # Errors
    /// [`LedgerError`]: a promise would be broken, or nobody knows how many were shared.
    pub fn charge(&self, charge: &Charge) -> Result<(), LedgerError> {
        self.ledger.charge(self, charge)
    }

    /// How many decryptions were shared under the key, as far as this process and the key's file know; `None` where neither
    /// does.
    pub fn shared_decryptions(&self) -> Option<u64> {
        self.ledger.count(self)
    }

    /// The secret itself, limb-major over all moduli: keep it where it is.
    pub fn expose_eval_limbs(&self) -> &[u64] {
        &self.eval
    }

    pub(super) fn limb(&self, params: &Params, index: usize) -> Option<&[u64]> {
        limb(&self.eval, index, params.moduli().len())
    }
}

/// The uniform half of a public object: expanded from a public seed, or stored.
#[derive(Clone, PartialEq, Debug)]
pub enum KeyHalf<T> {
    Seed([u8; 32]),
    Stored(T),
}

/// Whether generated keys keep the seed of their uniform half (half the size; the default) or store it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KeyForm {
    #[default]
    Seeded,
    Stored,
}

/// An encryption of zero over all moduli: b = -(a s + e); both halves limb-major in evaluation form. A seeded a has
/// limb i from stream i.
#[derive(Clone, PartialEq, Debug)]
pub struct PublicKey {
    origin: Origin,
    b: Vec<u64>,
    a: KeyHalf<Vec<u64>>,
}

belongs!(PublicKey);

impl PublicKey {
    /// Checks lengths and residues. It has no identity.
    pub fn new(params: &Params, b: Vec<u64>, a: KeyHalf<Vec<u64>>) -> Result<Self, RlweError> {
        let indices = all_indices(params);
        check_limbs(params, "public key", &indices, &b)?;
        if let KeyHalf::Stored(a) = &a {
            check_limbs(params, "public key", &indices, a)?;
        }
        Ok(Self::trusted(params, b, a, None))
    }

    pub(super) fn trusted(
        params: &Params,
        b: Vec<u64>,
        a: KeyHalf<Vec<u64>>,
        key_id: Option<KeyId>,
    ) -> Self {
        Self {
            origin: params.origin(key_id),
            b,
            a,
        }
    }

    pub fn b(&self) -> &[u64] {
        &self.b
    }

    pub fn a(&self) -> &KeyHalf<Vec<u64>> {
        &self.a
    }

    /// The a half, expanded if it is seeded.
    pub fn expanded_a(&self, params: &Params) -> Result<Vec<u64>, RlweError> {
        params.check_id("public key", &self.origin.params_id)?;
        Ok(match &self.a {
            KeyHalf::Seed(seed) => expand(params, &all_indices(params), seed, 0),
            KeyHalf::Stored(a) => a.clone(),
        })
    }
}

/// A key-switching key from s' to s: for each digit j a pair over all moduli, b_j = -(a_j s + e_j) + g_j s' with g_j = P
/// modulo the primes of digit j and 0 modulo the others. Evaluation form, limb-major, in words of 32 bits where the parameters have
/// [`Params::short_words`]. A seeded a_j has its limb of modulus i from stream j (number of moduli) + i. Copies share the limbs.
#[derive(Clone, PartialEq, Debug)]
pub struct KSwitchKey {
    origin: Origin,
    /// Places in the table of the moduli that its limbs are modulo, in order.
    moduli: Vec<usize>,
    b: Arc<[ResidueVec]>,
    a: KeyHalf<Arc<[ResidueVec]>>,
}

belongs!(KSwitchKey);

impl KSwitchKey {
    /// Checks the number of digits, lengths and residues. It has no identity.
    pub fn new(
        params: &Params,
        b: Vec<Vec<u64>>,
        a: KeyHalf<Vec<Vec<u64>>>,
    ) -> Result<Self, RlweError> {
        let indices = all_indices(params);
        let stored: &[Vec<u64>] = if let KeyHalf::Stored(a) = &a { a } else { &b };
        for half in [&b, stored] {
            if half.len() != params.dnum() {
                let (what, expected) = ("key-switching key", params.dnum());
                return Err(RlweError::Length {
                    what,
                    expected,
                    got: half.len(),
                });
            }
        }
        for limbs in b.iter().chain(stored) {
            check_limbs(params, "key-switching key", &indices, limbs)?;
        }
        Ok(Self::over(params, indices, b, a, None))
    }

    /// Over some of the moduli, for the levels that have no others.
    pub(crate) fn over(
        params: &Params,
        moduli: Vec<usize>,
        b: Vec<Vec<u64>>,
        a: KeyHalf<Vec<Vec<u64>>>,
        key_id: Option<KeyId>,
    ) -> Self {
        let packed = |half: Vec<Vec<u64>>| -> Arc<[ResidueVec]> {
            let digits = half.into_iter();
            digits
                .map(|limbs| ResidueVec::packed(params.short_words(), limbs))
                .collect()
        };
        Self {
            origin: params.origin(key_id),
            moduli,
            b: packed(b),
            a: match a {
                KeyHalf::Seed(seed) => KeyHalf::Seed(seed),
                KeyHalf::Stored(a) => KeyHalf::Stored(packed(a)),
            },
        }
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> u64 {
        let half: u64 = self.b.iter().map(ResidueVec::bytes).sum();
        match &self.a {
            KeyHalf::Seed(seed) => half + seed.len() as u64,
            KeyHalf::Stored(_) => 2 * half,
        }
    }

    /// Bytes of memory that a key of these parameters takes; a file of it is a few dozen longer.
    pub fn bytes_of(params: &Params, form: KeyForm) -> u64 {
        let residues = params.dnum() * params.moduli().len() * params.degree();
        let half = (params.key_word_bytes() * residues) as u64;
        match form {
            KeyForm::Seeded => half + 32,
            KeyForm::Stored => 2 * half,
        }
    }

    /// Number of digits: dnum, or as many as the highest level that it is for.
    pub fn digits(&self) -> usize {
        self.b.len()
    }

    /// Places in the table of the moduli that its limbs are modulo, in order.
    pub(crate) fn moduli(&self) -> &[usize] {
        &self.moduli
    }

    /// The b halves, one a digit, each limb-major over its moduli.
    pub fn b(&self) -> &[ResidueVec] {
        &self.b
    }

    pub fn a(&self) -> &KeyHalf<Arc<[ResidueVec]>> {
        &self.a
    }

    /// The seed of the a halves, or `None` when they are stored.
    pub fn seed(&self) -> Option<&[u8; 32]> {
        match &self.a {
            KeyHalf::Seed(seed) => Some(seed),
            KeyHalf::Stored(_) => None,
        }
    }

    /// The limb of `digit`, part 0 (b) or 1 (a, only if stored) and modulus `index` of the parameters' table.
    pub fn limb(&self, digit: usize, part: usize, index: usize) -> Option<Residues<'_>> {
        let half = match (part, &self.a) {
            (0, _) => self.b.get(digit)?,
            (1, KeyHalf::Stored(a)) => a.get(digit)?,
            _ => return None,
        };
        let place = self.moduli.binary_search(&index).ok()?;
        half.limb(place, self.moduli.len())
    }

    /// The same key with stored a halves.
    pub fn expanded(&self, params: &Params) -> Result<Self, RlweError> {
        params.check_id("key-switching key", &self.origin.params_id)?;
        let KeyHalf::Seed(seed) = &self.a else {
            return Ok(self.clone());
        };
        room("a key-switching key", 2 * self.bytes())?;
        let count = params.moduli().len();
        let half = |j: usize| {
            let a = expand(params, &self.moduli, seed, (j * count) as u64);
            ResidueVec::packed(params.short_words(), a)
        };
        let a = (0..self.digits()).map(half).collect();
        Ok(Self {
            a: KeyHalf::Stored(a),
            ..self.clone()
        })
    }
}

impl Limbed for KSwitchKey {
    fn params_id(&self) -> &ParamsId {
        self.params_id()
    }

    fn polys(&self) -> usize {
        2 * self.digits()
    }

    fn key_id(&self) -> Option<KeyId> {
        self.key_id()
    }

    fn limb(&self, poly: Poly, modulus: usize) -> Option<Residues<'_>> {
        let (digit, part) = key_digit(poly);
        self.limb(digit.into(), part.into(), modulus)
    }

    fn seed(&self) -> Option<&[u8; 32]> {
        self.seed()
    }
}

/// Switches s^2 to s.
#[derive(Clone, PartialEq, Debug)]
pub struct RelinKey(pub KSwitchKey);

/// For each Galois element g asked for, the key that switches s(x^g) to s.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GaloisKeys {
    keys: BTreeMap<Galois, KSwitchKey>,
}

impl GaloisKeys {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces the key of an odd Galois element.
    pub fn insert(&mut self, galois: Galois, key: KSwitchKey) {
        self.keys.insert(galois, key);
    }

    pub fn get(&self, galois: Galois) -> Result<&KSwitchKey, RlweError> {
        self.keys
            .get(&galois)
            .ok_or_else(|| RlweError::MissingKey(format!("Galois key for element {galois}")))
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The secret key that all belong to; `None` when that of one is not known, or there are none.
    ///
    /// # Errors
    /// [`RlweError::OtherKeys`] for keys of two secret keys.
    pub fn key_id(&self) -> Result<Option<KeyId>, RlweError> {
        let keys = self.keys.values();
        Ok(KeyId::common(keys.map(|k| ("Galois key", k.key_id())))?)
    }

    /// In ascending order of the Galois element.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Galois, &KSwitchKey)> {
        self.keys.iter().map(|(&g, k)| (g, k))
    }
}
