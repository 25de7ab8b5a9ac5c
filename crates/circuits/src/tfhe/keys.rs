// SPDX-License-Identifier: Apache-2.0
//! Public and evaluation keys. Each key stores its bodies and the public seed of its masks. Each mask polynomial, and
//! each mask of a key switch's row, expands from a stream of its own.

use ringmill_device::KeyId;
use ringmill_math::torus::{Coefficients, SwitchRows};
use ringmill_math::{expand_uniform, expand_words};
use ringmill_schemes::identity::{Origin, belongs};

use super::TfheError;
use super::params::Params;
use super::plan::RotationKey;

/// Expands one mask of `out.len()` words from stream `stream` of a public seed: words of the keystream
/// ([`expand_words`]), or residues modulo a prime ([`expand_uniform`]). Two masks of a key must not share a stream.
pub fn expand_mask(q: Coefficients, seed: &[u8; 32], stream: u64, out: &mut [u64]) {
    match q {
        Coefficients::Prime(q) => expand_uniform(seed, stream, q, out),
        Coefficients::Word(q) => expand_words(seed, stream, q, out),
    }
}

/// The bootstrapping key: gadget (GGSW) encryptions of the patterns of the small key's bits, m bits in each step of a
/// blind rotation, and the remaining bits in its last. Ciphertext `step` (2^m - 1) + u - 1 encrypts whether the bits of
/// that step equal u >= 1. Bit t of u belongs to bit m `step` + t of the key. With l digits and the ring key's
/// polynomials s_0 to s_(k-1), row c l + j of a ciphertext belongs to digit j. To the body of an encryption of zero it
/// adds the message times -s_c (1 for c = k) times the digit's weight.
#[derive(Clone, PartialEq, Debug)]
pub struct BootstrapKey {
    origin: Origin,
    seed: [u8; 32],
    /// The bodies of the key's rows, one row after another, with N words each.
    bodies: Vec<u64>,
}

belongs!(BootstrapKey);

/// Returns the identity of the secret key to which the bootstrapping key and the key-switching key
/// belong, if it is known.
///
/// # Errors
/// [`TfheError::OtherKeys`] if they belong to different secret keys.
pub fn common(bootstrap: &BootstrapKey, switch: &KeySwitchKey) -> Result<Option<KeyId>, TfheError> {
    Ok(KeyId::common([
        ("bootstrapping key", bootstrap.key_id()),
        ("key-switching key", switch.key_id()),
    ])?)
}

/// Returns the bytes of the bootstrapping key and the key-switching key together as memory holds them: bodies without
/// masks, with 8 bytes for each word. Files take 4 bytes for a word if the ciphertext modulus is at most 2^32. The size
/// is known before a key is generated.
pub fn bytes(params: &Params) -> u64 {
    8 * (BootstrapKey::words_of(params) + KeySwitchKey::words_of(params)) as u64
}

/// Returns the number of gadget ciphertexts of a bootstrapping key: 2^m - 1 for each step of the blind rotation, which
/// takes m secret bits. If r bits remain for a last step, it has 2^r - 1.
pub fn gadget_ciphertexts(params: &Params) -> usize {
    let s = params.sizes();
    let left = s.n.0 % s.unrolling.m();
    s.n.0 / s.unrolling.m() * s.unrolling.patterns() + (1 << left) - 1
}

fn check_bodies(
    params: &Params,
    what: &'static str,
    expected: usize,
    bodies: &[u64],
) -> Result<(), TfheError> {
    if bodies.len() != expected {
        return Err(TfheError::Dimension {
            what,
            expected,
            got: bodies.len(),
        });
    }
    params.check_words(what, bodies)
}

impl BootstrapKey {
    /// Returns the number of words of the bootstrapping key's bodies for these parameters.
    pub fn words_of(params: &Params) -> usize {
        gadget_ciphertexts(params) * params.sizes().rows() * params.sizes().degree()
    }

    /// Makes a bootstrapping key from its seed and bodies, after a check of length and residues. The key has no
    /// identity of a secret key.
    ///
    /// # Errors
    /// [`TfheError::Dimension`], [`TfheError::Residue`].
    pub fn new(params: &Params, seed: [u8; 32], bodies: Vec<u64>) -> Result<Self, TfheError> {
        check_bodies(params, "bootstrapping key", Self::words_of(params), &bodies)?;
        Ok(Self::trusted(params, seed, bodies, None))
    }

    pub(super) fn trusted(
        params: &Params,
        seed: [u8; 32],
        bodies: Vec<u64>,
        key_id: Option<KeyId>,
    ) -> Self {
        Self {
            origin: params.origin(key_id),
            seed,
            bodies,
        }
    }

    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    pub fn bodies(&self) -> &[u64] {
        &self.bodies
    }

    /// Writes row `row` of gadget ciphertext `at` to `out`, with its mask expanded: k mask polynomials and the body, N
    /// words each. The caller ensures that the key belongs to `params`, and that `row` is below (k + 1) l.
    ///
    /// # Errors
    /// [`TfheError::Dimension`] for a row after the key's last one, or if the last part of `out` is not one body of N
    /// words.
    ///
    /// # Panics
    /// If `out` is shorter than the masks, k N words.
    pub fn row(
        &self,
        params: &Params,
        at: usize,
        row: usize,
        out: &mut [u64],
    ) -> Result<(), TfheError> {
        let s = params.sizes();
        let index = at * s.rows() + row;
        let (masks, body) = out.split_at_mut(s.large_dimension());
        for (c, mask) in masks.chunks_mut(s.degree()).enumerate() {
            let stream = (index * s.k.0 + c) as u64;
            expand_mask(params.coefficients(), &self.seed, stream, mask);
        }
        let stored = (self.bodies.chunks(s.degree()).nth(index)).filter(|x| x.len() == body.len());
        let stored = stored.ok_or(TfheError::Dimension {
            what: "row of a bootstrapping key",
            expected: s.degree(),
            got: body.len(),
        })?;
        body.copy_from_slice(stored);
        Ok(())
    }

    /// Returns the whole key with its masks expanded and transformed, in the order in which blind rotation reads it.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`]; [`TfheError::Math`] for a key that memory does not hold.
    pub fn transformed(&self, params: &Params) -> Result<RotationKey, TfheError> {
        params.check("bootstrapping key", &self.origin)?;
        let count = gadget_ciphertexts(params);
        if let Some(ring) = params.narrow() {
            let mut key = ring.key(params.sizes().unrolling.patterns(), count)?;
            self.each(params, |at, place, x| Ok(ring.put(&mut key, at, place, x)?))?;
            return Ok(RotationKey::Narrow(key));
        }
        let mut key = params.ring().key(params.shape(), count)?;
        self.each(params, |at, place, x| {
            Ok(params.ring().put(&mut key, at, place, x)?)
        })?;
        Ok(RotationKey::Wide(key))
    }

    /// Calls `put` on every polynomial of the bootstrapping key, with the numbers of its gadget ciphertext, row and
    /// column.
    fn each(
        &self,
        params: &Params,
        mut put: impl FnMut(usize, [usize; 2], &[u64]) -> Result<(), TfheError>,
    ) -> Result<(), TfheError> {
        let (s, shape) = (params.sizes(), params.shape());
        let mut words = vec![0; shape.cols() * s.degree()];
        for at in 0..gadget_ciphertexts(params) {
            for row in 0..shape.rows() {
                self.row(params, at, row, &mut words)?;
                for (col, x) in words.chunks(s.degree()).enumerate() {
                    put(at, [row, col], x)?;
                }
            }
        }
        Ok(())
    }
}

/// The key-switching key: encryptions of the large key's bits under the small key. With l digits,
/// row i l + j encrypts bit i times the weight of digit j. Its mask comes from stream i l + j of
/// the seed.
#[derive(Clone, PartialEq, Debug)]
pub struct KeySwitchKey {
    origin: Origin,
    seed: [u8; 32],
    bodies: Vec<u64>,
}

belongs!(KeySwitchKey);

impl KeySwitchKey {
    /// Returns the number of rows of the key-switching key, each with one body of one word.
    pub fn words_of(params: &Params) -> usize {
        params.sizes().large_dimension() * params.sizes().key_switch.levels
    }

    /// Makes a key-switching key from its seed and bodies, after a check of length and residues. The key has no
    /// identity of a secret key.
    ///
    /// # Errors
    /// [`TfheError::Dimension`], [`TfheError::Residue`].
    pub fn new(params: &Params, seed: [u8; 32], bodies: Vec<u64>) -> Result<Self, TfheError> {
        check_bodies(params, "key-switching key", Self::words_of(params), &bodies)?;
        Ok(Self::trusted(params, seed, bodies, None))
    }

    pub(super) fn trusted(
        params: &Params,
        seed: [u8; 32],
        bodies: Vec<u64>,
        key_id: Option<KeyId>,
    ) -> Self {
        Self {
            origin: params.origin(key_id),
            seed,
            bodies,
        }
    }

    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    pub fn bodies(&self) -> &[u64] {
        &self.bodies
    }

    /// Returns all rows of the key-switching key with their masks expanded, in the form that a key switch reads.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`]; [`TfheError::Math`] for rows that memory does not hold.
    pub fn rows(&self, params: &Params) -> Result<SwitchRows, TfheError> {
        let width = params.sizes().n.0 + 1;
        let mut rows = SwitchRows::zeroed(params.coefficients(), self.bodies.len(), width)?;
        self.expand(params, |i, row| Ok(rows.put(i, row)?))?;
        Ok(rows)
    }

    /// Returns the words of all rows of the key-switching key, mask and body, one row after another.
    ///
    /// # Errors
    /// [`TfheError::OtherParams`]; [`TfheError::Halt`] if memory does not hold the words.
    pub fn words(&self, params: &Params) -> Result<Vec<u64>, TfheError> {
        let count = self.bodies.len() * (params.sizes().n.0 + 1);
        ringmill_limits::room("a key-switching key", 8 * count as u64)?;
        let mut words = Vec::with_capacity(count);
        self.expand(params, |_, row| {
            words.extend_from_slice(row);
            Ok(())
        })?;
        Ok(words)
    }

    fn expand(
        &self,
        params: &Params,
        mut each: impl FnMut(usize, &[u64]) -> Result<(), TfheError>,
    ) -> Result<(), TfheError> {
        params.check("key-switching key", &self.origin)?;
        let width = params.sizes().n.0 + 1;
        let mut words = vec![0; width];
        for (i, &body) in self.bodies.iter().enumerate() {
            let stream = i as u64;
            expand_mask(
                params.coefficients(),
                &self.seed,
                stream,
                &mut words[..width - 1],
            );
            words[width - 1] = body;
            each(i, &words)?;
        }
        Ok(())
    }
}

/// The public key: k encryptions of zero under the ring key, which has k polynomials. Mask
/// polynomial c of row t comes from stream t k + c of the seed.
#[derive(Clone, PartialEq, Debug)]
pub struct PublicKey {
    origin: Origin,
    seed: [u8; 32],
    bodies: Vec<u64>,
}

belongs!(PublicKey);

impl PublicKey {
    /// Returns the number of words of the public key's bodies.
    pub fn words_of(params: &Params) -> usize {
        params.sizes().large_dimension()
    }

    /// Makes a public key from its seed and bodies, after a check of length and residues. The key has no identity of a
    /// secret key.
    ///
    /// # Errors
    /// [`TfheError::Dimension`], [`TfheError::Residue`].
    pub fn new(params: &Params, seed: [u8; 32], bodies: Vec<u64>) -> Result<Self, TfheError> {
        check_bodies(params, "public key", Self::words_of(params), &bodies)?;
        Ok(Self::trusted(params, seed, bodies, None))
    }

    pub(super) fn trusted(
        params: &Params,
        seed: [u8; 32],
        bodies: Vec<u64>,
        key_id: Option<KeyId>,
    ) -> Self {
        Self {
            origin: params.origin(key_id),
            seed,
            bodies,
        }
    }

    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    pub fn bodies(&self) -> &[u64] {
        &self.bodies
    }
}
