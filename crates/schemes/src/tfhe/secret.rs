//! Secret keys: uniform bits, and their transform for keys to be made with.

use std::fmt;

use ringmill_math::torus::{KeyShape, TransformedKey};
use ringmill_math::{Prng, declassify};
use zeroize::Zeroizing;

use super::TfheError;
use super::lwe::LweKey;
use super::params::Params;
use crate::identity::{KeyId, Origin, belongs};

/// The small key (n bits) and the ring key (k polynomials of N bits, which are the large key). Wiped on drop.
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
    /// Uniform bits and a new identity.
    pub(super) fn draw(params: &Params, prng: &mut Prng) -> Self {
        let mut bits = |n: usize| {
            let mut bits = Zeroizing::new(vec![0; n]);
            prng.fill_bytes(&mut bits);
            bits.iter_mut().for_each(|x| *x &= 1);
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

    /// From bits, one a byte. It has no identity.
    ///
    /// # Errors
    /// [`TfheError::Dimension`]; [`TfheError::OutOfRange`] for bytes that are no bits.
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

    /// The secret itself, one bit a byte: keep it where it is.
    pub fn expose_bits(&self, key: LweKey) -> &[u8] {
        match key {
            LweKey::Small => &self.small,
            LweKey::Large => &self.large,
        }
    }

    /// <a, s>, in constant time.
    pub(super) fn inner_product(&self, params: &Params, key: LweKey, mask: &[u64]) -> u64 {
        let q = params.coefficients();
        let bits = self.expose_bits(key).iter();
        bits.zip(mask).fold(0, |sum, (&bit, &x)| {
            q.add(sum, x & u64::from(bit).wrapping_neg())
        })
    }

    /// Bit `at` of the ring key's polynomial `c`.
    pub(super) fn ring_bit(&self, params: &Params, c: usize, at: usize) -> u64 {
        u64::from(self.large[c * params.sizes().degree() + at])
    }
}

/// The ring key in transform form. Wiped on drop.
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

    /// acc += the sum of the masks' products with the key's polynomials: exact, as k N q / 2 is far below what the lift
    /// holds for digits.
    pub(super) fn add_product(
        &self,
        params: &Params,
        masks: &[u64],
        acc: &mut [u64],
    ) -> Result<(), TfheError> {
        let (ring, n) = (params.ring(), params.sizes().degree());
        // Products with the secret before their noise: wiped.
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
