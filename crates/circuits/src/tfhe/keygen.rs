// SPDX-License-Identifier: Apache-2.0
//! Generates the public and evaluation keys of a secret key.

use ringmill_math::Prng;
use ringmill_math::sample::WideGaussian;
use ringmill_math::torus::Coefficients;
use zeroize::Zeroizing;

use super::TfheError;
use super::keys::{BootstrapKey, KeySwitchKey, PublicKey, expand_mask};
use super::lwe::LweKey;
use super::params::Params;
use super::secret::{RingSecret, SecretKey};

/// A sampler of discrete Gaussian noise of one width, as residues modulo q. It is made once for many samples, because
/// its tables take longer to make than the samples.
pub(super) struct Noise {
    q: Coefficients,
    gaussian: WideGaussian,
}

impl Noise {
    /// Makes a sampler of noise whose standard deviation `std` is a fraction of the torus.
    pub(super) fn new(params: &Params, std: f64) -> Result<Self, TfheError> {
        let q = params.coefficients();
        let sigma = std * 2f64.powi(q.bits() as i32);
        Ok(Self {
            q,
            gaussian: WideGaussian::exactly(sigma)?,
        })
    }

    /// Adds an independent sample of the noise to each word.
    pub(super) fn add_to(&self, prng: &mut Prng, words: &mut [u64]) {
        let q = self.q;
        let samples = self.gaussian.draw(prng, words.len());
        for (word, &e) in words.iter_mut().zip(samples.iter()) {
            *word = q.add(*word, q.from_i64(e as i64));
        }
    }
}

/// Returns 1 if the bits equal the bits of `pattern`, lowest first, else 0, in constant time.
fn matches(bits: &[u8], pattern: usize) -> u64 {
    let different = bits
        .iter()
        .enumerate()
        .fold(0, |all, (t, &bit)| all | (bit ^ (pattern >> t & 1) as u8));
    u64::from(1 ^ different)
}

/// Generates the [`BootstrapKey`] of a secret key.
pub(super) fn bootstrap_key(
    params: &Params,
    secret: &SecretKey,
    prng: &mut Prng,
) -> Result<BootstrapKey, TfheError> {
    let (s, q) = (params.sizes(), params.coefficients());
    let (n, rows) = (s.degree(), s.rows());
    let (gadget, levels) = (params.bootstrap_gadget(), s.bootstrap.levels);
    ringmill_limits::room(
        "a bootstrapping key",
        8 * BootstrapKey::words_of(params) as u64,
    )?;
    let ring_secret = RingSecret::new(params, secret)?;
    let noise = Noise::new(params, s.glwe_std)?;
    let seed = prng.next_seed();
    let mut bodies = vec![0; BootstrapKey::words_of(params)];
    let mut masks = vec![0; s.large_dimension()];
    let steps = secret.expose_bits(LweKey::Small).chunks(s.unrolling.m());
    let patterns = steps.flat_map(|bits| (1..1 << bits.len()).map(move |u| matches(bits, u)));
    let ciphertexts = bodies.chunks_mut(rows * n).zip(patterns);
    for (at, (bodies, message)) in ciphertexts.enumerate() {
        for (row, body) in bodies.chunks_mut(n).enumerate() {
            let index = at * rows + row;
            for (c, mask) in masks.chunks_mut(n).enumerate() {
                expand_mask(q, &seed, (index * s.k.0 + c) as u64, mask);
            }
            ring_secret.add_product(params, &masks, body)?;
            noise.add_to(prng, body);
            let (c, weight) = (
                row / levels,
                message.wrapping_mul(gadget.weight(row % levels)),
            );
            if c == s.k.0 {
                body[0] = q.add(body[0], weight);
            } else {
                for (i, x) in body.iter_mut().enumerate() {
                    *x = q.sub(*x, weight.wrapping_mul(secret.ring_bit(params, c, i)));
                }
            }
        }
    }
    Ok(BootstrapKey::trusted(params, seed, bodies, secret.key_id()))
}

/// Generates the [`KeySwitchKey`] of a secret key.
pub(super) fn key_switch_key(
    params: &Params,
    secret: &SecretKey,
    prng: &mut Prng,
) -> Result<KeySwitchKey, TfheError> {
    let (s, q) = (params.sizes(), params.coefficients());
    let (gadget, levels) = (params.key_switch_gadget(), s.key_switch.levels);
    let noise = Noise::new(params, s.lwe_std)?;
    let seed = prng.next_seed();
    let mut bodies = vec![0; KeySwitchKey::words_of(params)];
    noise.add_to(prng, &mut bodies);
    let mut mask = vec![0; s.n.0];
    for (i, &bit) in secret.expose_bits(LweKey::Large).iter().enumerate() {
        for j in 0..levels {
            let row = i * levels + j;
            expand_mask(q, &seed, row as u64, &mut mask);
            let product = secret.inner_product(params, LweKey::Small, &mask);
            let message = gadget.weight(j).wrapping_mul(u64::from(bit));
            bodies[row] = q.add(bodies[row], q.add(product, message));
        }
    }
    Ok(KeySwitchKey::trusted(params, seed, bodies, secret.key_id()))
}

/// Generates the [`PublicKey`] of a secret key.
pub(super) fn public_key(
    params: &Params,
    secret: &SecretKey,
    prng: &mut Prng,
) -> Result<PublicKey, TfheError> {
    let (s, q) = (params.sizes(), params.coefficients());
    let ring_secret = RingSecret::new(params, secret)?;
    let noise = Noise::new(params, s.glwe_std)?;
    let seed = prng.next_seed();
    let mut bodies = vec![0; PublicKey::words_of(params)];
    let mut masks = vec![0; s.large_dimension()];
    for (t, body) in bodies.chunks_mut(s.degree()).enumerate() {
        for (c, mask) in masks.chunks_mut(s.degree()).enumerate() {
            expand_mask(q, &seed, (t * s.k.0 + c) as u64, mask);
        }
        ring_secret.add_product(params, &masks, body)?;
        noise.add_to(prng, body);
    }
    Ok(PublicKey::trusted(params, seed, bodies, secret.key_id()))
}

/// Draws n uniform secret bits, one in each word.
pub(super) fn bits(prng: &mut Prng, n: usize) -> Zeroizing<Vec<u64>> {
    let mut bytes = Zeroizing::new(vec![0u8; n]);
    prng.fill_bytes(&mut bytes);
    Zeroizing::new(bytes.iter().map(|&x| u64::from(x & 1)).collect())
}
