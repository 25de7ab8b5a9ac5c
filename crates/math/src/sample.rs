// SPDX-License-Identifier: Apache-2.0
//! Samples uniform residues, secrets and noise.
//!
//! Signed samples are integers; [`to_limb`], [`to_limb_i64`] and [`to_limb_i128`] convert them to residues without
//! branching. Their buffers are wiped on drop.

mod gaussian;
mod signed;
mod wide;

pub use gaussian::{GaussianTable, gaussian};
pub use signed::{largest, round, to_limb, to_limb_i64, to_limb_i128};
pub use wide::WideGaussian;

use zeroize::Zeroizing;

use crate::random::BLOCK_WORDS;
use crate::{MathError, Modulus, Prng};
use signed::widest;

/// Fills `out` with residues modulo q, each from 128 random bits, so that each is within q / 2^128
/// of uniform in statistical distance.
pub fn uniform(prng: &mut Prng, q: Modulus, out: &mut [u64]) {
    let mut bytes = Zeroizing::new([0u8; 1024]);
    for residues in out.chunks_mut(bytes.len() / 16) {
        let used = &mut bytes[..residues.len() * 16];
        prng.fill_bytes(used);
        for (residue, word) in residues.iter_mut().zip(used.as_chunks::<16>().0) {
            *residue = q.reduce_wide(u128::from_le_bytes(*word));
        }
    }
}

/// Returns n independent values, each -1, 0 or 1 with probability 1/3 (wrong by less than 2^-62), in constant time.
pub fn ternary(prng: &mut Prng, n: usize) -> Zeroizing<Vec<i8>> {
    draw(prng, n, |random, samples| {
        for (sample, &x) in samples.iter_mut().zip(random) {
            *sample = ((u128::from(x) * 3) >> 64) as i8 - 1;
        }
    })
}

/// Returns n values of which exactly `hamming_weight` are not 0. Each of those is -1 or 1 with equal probability, and
/// their positions are uniform. By selection sampling, position i is chosen with probability (values still needed) /
/// (positions left). The time does not depend on the outcome.
///
/// # Errors
/// [`MathError::OutOfRange`] for a `hamming_weight` above n.
pub fn sparse_ternary(
    prng: &mut Prng,
    n: usize,
    hamming_weight: usize,
) -> Result<Zeroizing<Vec<i8>>, MathError> {
    if hamming_weight > n {
        return Err(MathError::OutOfRange {
            what: "Hamming weight",
            expected: "at most the number of coefficients",
            got: hamming_weight.to_string(),
        });
    }
    let mut values = Zeroizing::new(vec![0i8; n]);
    let mut wanted = hamming_weight as u64;
    for (i, value) in values.iter_mut().enumerate() {
        // A number below `left`, uniform but for a bias below n / 2^64.
        let left = (n - i) as u64;
        let number = ((u128::from(prng.next_u64()) * u128::from(left)) >> 64) as u64;
        // 1 when number < wanted, from the borrow: both are far below 2^63.
        let chosen = number.wrapping_sub(wanted) >> 63;
        // All ones where a bit is 0: the number is negated.
        let minus = (prng.next_u64() & 1) as i8 - 1;
        *value = (chosen as i8 ^ minus).wrapping_sub(minus);
        wanted = wanted.wrapping_sub(chosen);
    }
    Ok(values)
}

/// Returns n samples of the centred binomial distribution: the number of ones among `eta` random bits minus the number
/// of ones among `eta` others. The variance is eta / 2, the range -eta to eta. `eta` 21 (sigma 3.24) is SEAL's noise.
/// It takes constant time.
///
/// # Errors
/// [`MathError::OutOfRange`] unless `eta` is from 1 to 32.
pub fn centred_binomial(
    prng: &mut Prng,
    n: usize,
    eta: u32,
) -> Result<Zeroizing<Vec<i8>>, MathError> {
    if !(1..=32).contains(&eta) {
        return Err(MathError::OutOfRange {
            what: "eta",
            expected: "1..=32",
            got: eta.to_string(),
        });
    }
    Ok(draw(prng, n, |random, samples| {
        count_bits(eta, random, samples)
    }))
}

widest! {
    fn count_bits(eta: u32, random: &[u64], samples: &mut [i8]) {
        let mask = u64::MAX >> (64 - eta);
        for (sample, &bits) in samples.iter_mut().zip(random) {
            // Two disjoint groups of eta bits; the ones of the second are eta less its zeros, so one count serves both.
            let both = (bits & mask) | ((!(bits >> (64 - eta)) & mask) << 32);
            *sample = both.count_ones() as i8 - eta as i8;
        }
    }
}

/// Returns n samples, each made by the function `sample` from 64 random bits of its own.
fn draw(
    prng: &mut Prng,
    n: usize,
    mut sample: impl FnMut(&[u64], &mut [i8]),
) -> Zeroizing<Vec<i8>> {
    let mut values = Zeroizing::new(vec![0; n]);
    let mut blocks = values.chunks_mut(BLOCK_WORDS);
    prng.for_each_block(n, |random| {
        if let Some(block) = blocks.next() {
            sample(random, block);
        }
    });
    values
}
