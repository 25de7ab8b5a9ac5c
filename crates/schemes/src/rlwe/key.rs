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

/// The secret key s in evaluation form, modulo all ciphertext and special primes. It is wiped on drop and never
/// printed. Only `write_secret_key_in_the_clear` of [`crate::file`] and [`crate::seal`], [`SecretKey::save`] and
/// [`SecretKey::charge`] write it out. Copies of a key share one count of the decryptions under it that were given to
/// others.
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
    /// Makes a secret key from its evaluation form modulo all primes, with one limb after another (SEAL's form). It
    /// checks lengths and residues. The key has no identity, and the count of decryptions under it that were shared
    /// with others is not known.
    pub fn from_eval_limbs(params: &Params, eval: Zeroizing<Vec<u64>>) -> Result<Self, RlweError> {
        check_limbs(params, "secret key", &all_indices(params), &eval)?;
        Ok(Self::known(params, eval))
    }

    /// Makes a secret key that existed before from its evaluation form modulo all primes. It has no identity, and
    /// its count of shared decryptions is not known.
    pub(crate) fn known(params: &Params, eval: Zeroizing<Vec<u64>>) -> Self {
        Self {
            origin: params.origin(None),
            eval,
            ledger: Arc::new(Ledger::of_known_key()),
        }
    }

    /// Makes a new secret key with the identity `key_id` from its evaluation form modulo all primes. No decryption
    /// under it was shared with others.
    pub(crate) fn made(params: &Params, eval: Zeroizing<Vec<u64>>, key_id: KeyId) -> Self {
        Self {
            origin: params.origin(Some(key_id)),
            eval,
            ledger: Arc::new(Ledger::of_new_key()),
        }
    }

    /// Returns this secret key with its count of shared decryptions kept in the file `path`, from which the key was
    /// read. If `path` is no regular file, for example a pipe, no file keeps the count.
    pub fn kept_in(self, path: &Path) -> Self {
        Self {
            ledger: Arc::new(Ledger::kept_in(path)),
            ..self
        }
    }

    /// Writes the secret key to a file without encryption; a regular file gets mode 0600. Whoever reads the file can
    /// decrypt every message.
    ///
    /// Only one file stores the count of decryptions that were shared with others: the one that [`SecretKey::kept_in`]
    /// named, or the first regular file to which the key is saved. All other files store no count, because two counts
    /// would not agree. Nor does a file that a forked child saves, if the key had none before.
    ///
    /// # Errors
    /// The errors of [`ringmill_device::whole_file::write`], and a folder that cannot be flushed to the disk. Also
    /// fails if `path` is the file that stores the count, and it cannot be read or locked, or holds another key.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        self.ledger.save(self, path)
    }

    /// Counts decryptions under the key that its holder is about to share with others. If the key has a file, the file
    /// stores the count before the call returns, so that the count survives a crash. If the file cannot be read or
    /// written, the count is kept in memory, provided that the process knows the whole count or the charge names one.
    ///
    /// # Errors
    /// [`LedgerError`] if the charge would break a promise, or if the earlier count is not known. A forked child also
    /// fails for a key without a file, and for a file that cannot be read or written.
    pub fn charge(&self, charge: &Charge) -> Result<(), LedgerError> {
        self.ledger.charge(self, charge)
    }

    /// Returns how many decryptions under the key were shared with others, as this process and the key's file know. It
    /// is `None` if neither knows a count.
    pub fn shared_decryptions(&self) -> Option<u64> {
        self.ledger.count(self)
    }

    /// Returns the secret key itself: its residues modulo all primes, one limb after another. The caller must not
    /// copy them elsewhere.
    pub fn expose_eval_limbs(&self) -> &[u64] {
        &self.eval
    }

    pub(super) fn limb(&self, params: &Params, index: usize) -> Option<&[u64]> {
        limb(&self.eval, index, params.moduli().len())
    }
}

/// The uniform half of a public key or key-switching key: the public seed from which it is expanded, or its residues.
#[derive(Clone, PartialEq, Debug)]
pub enum KeyHalf<T> {
    Seed([u8; 32]),
    Stored(T),
}

/// The choice whether generated keys hold the seed of their uniform half or its residues. Seeds are the default and
/// halve the size of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KeyForm {
    #[default]
    Seeded,
    Stored,
}

/// A public key (b, a): an encryption of zero, b = -(a s + e), modulo all primes. In BGV, t e with the plaintext
/// modulus t replaces e. Both halves are in evaluation form, with one limb after another. If a comes from a seed, its
/// limb of index i is random stream number i of the seed.
#[derive(Clone, PartialEq, Debug)]
pub struct PublicKey {
    origin: Origin,
    b: Vec<u64>,
    a: KeyHalf<Vec<u64>>,
}

belongs!(PublicKey);

impl PublicKey {
    /// Makes a public key from its halves b and a, after a check of lengths and residues. The key has no identity.
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

    /// Returns the half a of the public key, with one limb after another. It expands a if the key holds a seed.
    pub fn expanded_a(&self, params: &Params) -> Result<Vec<u64>, RlweError> {
        params.check_id("public key", &self.origin.params_id)?;
        Ok(match &self.a {
            KeyHalf::Seed(seed) => expand(params, &all_indices(params), seed, 0),
            KeyHalf::Stored(a) => a.clone(),
        })
    }
}

/// A key-switching key from a secret s' to a secret s. For each digit j it has a pair (b_j, a_j) with b_j = -(a_j s +
/// e_j) + g_j s'. Here e_j is an error, in BGV times a plaintext modulus. The factor g_j is P, the product of the key's
/// special primes, modulo the primes of digit j, and 0 modulo the others.
///
/// Limbs are in evaluation form, in words of 32 bits if the parameters have [`Params::short_words`]. If a_j comes from
/// a seed, its limb modulo the modulus of index i is random stream number j M + i of the seed. M is the number of
/// primes in [`Params::moduli`]. Copies of a key share the limbs.
#[derive(Clone, PartialEq, Debug)]
pub struct KSwitchKey {
    origin: Origin,
    /// The moduli of the key's limbs, in order, by their indices in the parameters' table.
    moduli: Vec<usize>,
    b: Arc<[ResidueVec]>,
    a: KeyHalf<Arc<[ResidueVec]>>,
}

belongs!(KSwitchKey);

impl KSwitchKey {
    /// Makes a key-switching key for the highest level from its halves b and a, each a list with one polynomial for
    /// each digit. It checks the number of digits, the lengths and the residues. The key has no identity.
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

    /// Makes a key-switching key, unchecked, with limbs modulo the moduli of indices `moduli`, which must ascend. It
    /// serves ciphertexts at levels whose primes are all among these moduli.
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

    /// Returns the number of bytes of the key: those of its residues in memory, and of its seed if it has one.
    pub fn bytes(&self) -> u64 {
        let half: u64 = self.b.iter().map(ResidueVec::bytes).sum();
        match &self.a {
            KeyHalf::Seed(seed) => half + seed.len() as u64,
            KeyHalf::Stored(_) => 2 * half,
        }
    }

    /// Returns the number of bytes of memory that a key-switching key for the highest level takes. Its file has about a
    /// hundred bytes more.
    pub fn bytes_of(params: &Params, form: KeyForm) -> u64 {
        let residues = params.dnum() * params.moduli().len() * params.degree();
        let half = (params.key_word_bytes() * residues) as u64;
        match form {
            KeyForm::Seeded => half + 32,
            KeyForm::Stored => 2 * half,
        }
    }

    /// Returns the number of digits of the key: dnum, or fewer for a key of lower levels only.
    pub fn digits(&self) -> usize {
        self.b.len()
    }

    /// Returns the moduli of the key's limbs, in order, by their indices in the parameters' table.
    pub(crate) fn moduli(&self) -> &[usize] {
        &self.moduli
    }

    /// Returns the halves b_j (the bodies, whose other halves are the masks a_j), one for each digit j. Each has
    /// one limb after another, modulo the key's moduli.
    pub fn b(&self) -> &[ResidueVec] {
        &self.b
    }

    pub fn a(&self) -> &KeyHalf<Arc<[ResidueVec]>> {
        &self.a
    }

    /// Returns the seed of the halves a, or `None` if the key holds their residues.
    pub fn seed(&self) -> Option<&[u8; 32]> {
        match &self.a {
            KeyHalf::Seed(seed) => Some(seed),
            KeyHalf::Stored(_) => None,
        }
    }

    /// Returns the limb of digit `digit` of half b (`part` 0) or a (`part` 1) of the key, modulo the modulus of index
    /// `index` in the parameters' table. It is `None` for a half that comes from a seed, and for a digit or a modulus
    /// that the key does not have.
    pub fn limb(&self, digit: usize, part: usize, index: usize) -> Option<Residues<'_>> {
        let half = match (part, &self.a) {
            (0, _) => self.b.get(digit)?,
            (1, KeyHalf::Stored(a)) => a.get(digit)?,
            _ => return None,
        };
        let place = self.moduli.binary_search(&index).ok()?;
        half.limb(place, self.moduli.len())
    }

    /// Returns the key with the residues of its halves a in place of the seed, if it has one.
    ///
    /// # Errors
    /// [`RlweError::OtherParams`] for a key of other parameters. Also fails if there is no memory for the residues.
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

/// A relinearisation key, which switches the square s^2 of the secret to the secret s.
#[derive(Clone, PartialEq, Debug)]
pub struct RelinKey(pub KSwitchKey);

/// Galois keys: for each of several Galois elements g, the key that switches s(x^g) to s.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GaloisKeys {
    keys: BTreeMap<Galois, KSwitchKey>,
}

impl GaloisKeys {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the key of an odd Galois element, or replaces it.
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

    /// Returns the identity of the secret key to which all Galois keys belong. It is `None` if one key has no identity,
    /// or if there are no keys.
    ///
    /// # Errors
    /// [`RlweError::OtherKeys`] for keys of different secret keys.
    pub fn key_id(&self) -> Result<Option<KeyId>, RlweError> {
        let keys = self.keys.values();
        Ok(KeyId::common(keys.map(|k| ("Galois key", k.key_id())))?)
    }

    /// Iterates over the Galois elements and their keys, in ascending order of the elements.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Galois, &KSwitchKey)> {
        self.keys.iter().map(|(&g, k)| (g, k))
    }
}
