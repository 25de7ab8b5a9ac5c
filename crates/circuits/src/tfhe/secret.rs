// SPDX-License-Identifier: Apache-2.0
//! Secret keys of TFHE: random bits, and their transform for key generation.
//!
//! Noise grows with a key's 1s, and a uniform key may have many. So the small key and the large key are each drawn
//! uniformly. If more than half of the bits of one of them are 1, all its bits are inverted. The inversion costs at
//! most one bit of security, and none against known attacks. A sample (a, b) of a key s becomes (a, sum of a - b), a
//! sample of the key 1 - s. So whoever breaks keys of few 1s breaks uniform keys in two tries.

use std::fmt;

use ringmill_device::KeyId;
use ringmill_math::torus::{KeyShape, TransformedKey};
use ringmill_math::{Prng, declassify};
use ringmill_schemes::identity::{Origin, belongs};
use zeroize::Zeroizing;

use super::TfheError;
use super::lwe::LweKey;
use super::noise::Weights;
use super::params::Params;

/// A TFHE secret key: the small key of n bits, and the ring key of k polynomials of N bits, whose coefficients are the
/// large key. In a key that this version drew, at most half of the bits of each are 1. The key is wiped on drop.
pub struct SecretKey {
    origin: Origin,
    small: Zeroizing<Vec<u8>>,
    large: Zeroizing<Vec<u8>>,
}

belongs!(SecretKey);

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(TFHE)")
    }
}

impl SecretKey {
    /// Draws the small key, the large key and a new identity, in constant time. In each of the two keys at most half of
    /// the bits are 1.
    pub(super) fn draw(params: &Params, prng: &mut Prng) -> Self {
        let mut bits = |n: usize| {
            let mut bits = Zeroizing::new(vec![0; n]);
            prng.fill_bytes(&mut bits);
            bits.iter_mut().for_each(|x| *x &= 1);
            turn_where_heavy(&mut bits);
            bits
        };
        let small = bits(LweKey::Small.dimension(params));
        let large = bits(LweKey::Large.dimension(params));
        Self {
            origin: params.origin(Some(KeyId::draw(prng))),
            small,
            large,
        }
    }

    /// Makes a secret key from its bits, one in each byte. The key has no identity.
    ///
    /// # Errors
    /// [`TfheError::Dimension`]; [`TfheError::OutOfRange`] for bytes other than 0 and 1.
    pub fn from_bits(
        params: &Params,
        small: Zeroizing<Vec<u8>>,
        large: Zeroizing<Vec<u8>>,
    ) -> Result<Self, TfheError> {
        for (what, key, bits) in [
            ("small secret key", LweKey::Small, &small),
            ("large secret key", LweKey::Large, &large),
        ] {
            let expected = key.dimension(params);
            if bits.len() != expected {
                return Err(TfheError::Dimension {
                    what,
                    expected,
                    got: bits.len(),
                });
            }
            if declassify(bits.iter().fold(0, |all, &x| all | x) > 1) {
                return Err(TfheError::OutOfRange {
                    what,
                    expected: "bits, one a byte".to_owned(),
                    got: "other bytes".to_owned(),
                });
            }
        }
        Ok(Self {
            origin: params.origin(None),
            small,
            large,
        })
    }

    /// Returns the secret bits themselves, one in each byte. The caller must not copy them elsewhere.
    pub fn expose_bits(&self, key: LweKey) -> &[u8] {
        match key {
            LweKey::Small => &self.small,
            LweKey::Large => &self.large,
        }
    }

    /// Returns, in constant time, whether the key has no more 1s than the model of the failure probability assumes
    /// ([`Weights::most`]).
    pub(super) fn is_counted(&self, params: &Params) -> bool {
        let own = Weights::of(params.sizes(), &self.small, &self.large);
        declassify(own.are_within(&Weights::most(params.sizes())))
    }

    /// Computes <a, s>, the inner product of a ciphertext's mask a and this key's bits s, in
    /// constant time.
    pub(super) fn inner_product(&self, params: &Params, key: LweKey, mask: &[u64]) -> u64 {
        let q = params.coefficients();
        let bits = self.expose_bits(key).iter();
        bits.zip(mask).fold(0, |sum, (&bit, &x)| {
            q.add(sum, x & u64::from(bit).wrapping_neg())
        })
    }

    /// Returns bit `at` of the ring key's polynomial `c`.
    pub(super) fn ring_bit(&self, params: &Params, c: usize, at: usize) -> u64 {
        u64::from(self.large[c * params.sizes().degree() + at])
    }
}

/// Returns the number of the key's bits that are 1. The sums wrap explicitly, since a check for overflow would branch
/// on secrets.
pub(super) fn ones(bits: &[u8]) -> usize {
    let bits = bits.iter().map(|&bit| usize::from(bit));
    bits.fold(0, usize::wrapping_add)
}

/// Inverts all bits of a key, one in each byte, if more than half of them are 1. It takes the same time for every key.
pub fn turn_where_heavy(bits: &mut [u8]) {
    let twice = ones(bits).wrapping_mul(2);
    // The sign of n - 2 w, taken without a branch.
    let heavy = (bits.len().wrapping_sub(twice) >> (usize::BITS - 1)) as u8;
    bits.iter_mut().for_each(|bit| *bit ^= heavy);
}

/// The ring key in transform form. It is wiped on drop.
pub(super) struct RingSecret {
    key: TransformedKey,
}

impl Drop for RingSecret {
    fn drop(&mut self) {
        self.key.wipe();
    }
}

impl RingSecret {
    pub(super) fn new(params: &Params, secret: &SecretKey) -> Result<Self, TfheError> {
        let (ring, n, k) = (params.ring(), params.sizes().degree(), params.sizes().k.0);
        let shape = KeyShape::new(n, k, 1)?;
        let mut key = Self {
            key: ring.key(shape, 1)?,
        };
        let mut words = Zeroizing::new(vec![0u64; n]);
        for (c, bits) in secret.large.chunks(n).enumerate() {
            for (word, &bit) in words.iter_mut().zip(bits) {
                *word = bit.into();
            }
            ring.put(&mut key.key, 0, [c, 0], &words)?;
        }
        Ok(key)
    }

    /// Adds to `acc` the sum, over the k mask polynomials, of mask times key polynomial, modulo q. The integer sum is
    /// at most k N q / 2 in magnitude. It is exact, because the transforms' primes hold the larger sums of external
    /// products.
    pub(super) fn add_product(
        &self,
        params: &Params,
        masks: &[u64],
        acc: &mut [u64],
    ) -> Result<(), TfheError> {
        let (ring, n) = (params.ring(), params.sizes().degree());
        // The sums are products with the secret before noise is added, so they are wiped.
        let zeros = |n| Zeroizing::new(vec![0; n]);
        let mut sums = [zeros(n), zeros(n * (ring.lanes() - 1))];
        let mut residues = vec![0; masks.len()];
        for (lane, sum) in sums.iter_mut().enumerate().take(ring.lanes()) {
            ring.residues(lane, &mut residues, masks)?;
            ring.forward(lane, &mut residues)?;
            let rows = self.key.rows(lane, 0);
            ring.accumulate(lane, self.key.shape(), &residues, rows, sum)?;
        }
        let [first, second] = &mut sums;
        Ok(ring.inverse_add(first, second, acc)?)
    }
}
