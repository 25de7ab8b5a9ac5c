// SPDX-License-Identifier: Apache-2.0
//! Samples discrete Gaussian noise in constant time, with a cumulative table that is read whole for every sample.

use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};
use zeroize::Zeroizing;

use crate::kernels::Backend;
use crate::random::BLOCK_WORDS;
use crate::{MathError, Prng};

/// The number of bits after the binary point with which the Gaussian's table of probabilities is
/// computed. The table keeps 63 of them.
const PRECISION: u32 = 192;

/// The table of a discrete Gaussian of one width. Entry k is the probability that |x| <= k, in units of 2^-63,
/// rounded down.
///
/// The probabilities are computed with integers alone from the exact rational value of sigma, so
/// the table, and with it every sample, is the same on every machine. The distribution is truncated
/// at 9.4 sigma, rounded up. The mass beyond is below 2^-64, and so beyond the table's resolution.
#[derive(Clone, Debug)]
pub struct GaussianTable {
    thresholds: Vec<u64>,
}

impl GaussianTable {
    /// Makes the table for the standard deviation `sigma`, with probabilities in proportion to exp(-x^2 / (2
    /// sigma^2)).
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] unless `sigma` is from 0.3 to 13.
    pub fn new(sigma: f64) -> Result<Self, MathError> {
        if !(0.3..=13.0).contains(&sigma) {
            return Err(MathError::OutOfRange {
                what: "sigma",
                expected: "0.3..=13",
                got: sigma.to_string(),
            });
        }
        // sigma is an exact multiple of 2^-54, because the last bit of a double from 0.25 on is worth at least
        // 2^-54. It is below 2^4.
        let scaled = BigUint::from((sigma * (1u64 << 54) as f64) as u64);
        let tail = (9.4 * sigma).ceil() as u64;
        let one = BigUint::one() << PRECISION;
        // Weight of 0 counted once, of k > 0 twice (both signs).
        let weights: Vec<BigUint> = (0..=tail)
            .map(|k| {
                let density = exp_minus_square(k, &scaled, &one);
                if k == 0 { density } else { density << 1u32 }
            })
            .collect();
        let total: BigUint = weights.iter().sum();
        let mut cumulative = BigUint::zero();
        let thresholds = weights[..tail as usize].iter().map(|w| {
            cumulative += w;
            ((&cumulative << 63u32) / &total)
                .to_u64()
                .unwrap_or(u64::MAX >> 1) // at most 2^63
        });
        Ok(Self {
            thresholds: thresholds.collect(),
        })
    }

    /// Returns the largest magnitude that a sample can have.
    pub fn bound(&self) -> usize {
        self.thresholds.len()
    }

    /// Appends one sample for each 64-bit word of `random`. The word's upper 63 bits choose the
    /// magnitude, its lowest bit the sign.
    fn append(&self, random: &[u64], samples: &mut Vec<i8>) {
        let mut magnitudes = Zeroizing::new([0u64; BLOCK_WORDS]);
        match Backend::current() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Backend::current` only gives backends whose features the processor has.
            Backend::Avx512 | Backend::Avx512Ifma => unsafe {
                self.scan_avx512(random, &mut magnitudes)
            },
            _ => self.scan(random, &mut magnitudes),
        }
        let signed = magnitudes.iter().zip(random).map(|(&magnitude, &x)| {
            // All ones where the lowest bit is 0: the number is negated.
            let minus = (x & 1) as i8 - 1;
            (magnitude as i8 ^ minus).wrapping_sub(minus)
        });
        samples.extend(signed);
    }

    /// Computes the magnitudes of samples. A magnitude is the number of entries of the table that
    /// are not above the upper 63 bits of a random word; each comparison is a borrow. The outer
    /// loop goes over entries and the inner one over samples, so that the compiler can use vectors.
    #[inline(always)]
    fn scan(&self, random: &[u64], magnitudes: &mut [u64; BLOCK_WORDS]) {
        for &threshold in &self.thresholds {
            for (magnitude, &x) in magnitudes.iter_mut().zip(random) {
                *magnitude = magnitude.wrapping_add(1 - ((x >> 1).wrapping_sub(threshold) >> 63));
            }
        }
    }

    /// Computes the magnitudes of samples as [`GaussianTable::scan`] does, compiled for AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn scan_avx512(&self, random: &[u64], magnitudes: &mut [u64; BLOCK_WORDS]) {
        self.scan(random, magnitudes);
    }

    /// Returns n samples of the discrete Gaussian, in time that does not depend on their values.
    pub fn draw(&self, prng: &mut Prng, n: usize) -> Zeroizing<Vec<i8>> {
        // The whole capacity up front: growing would leave copies behind.
        let mut samples = Zeroizing::new(Vec::with_capacity(n));
        prng.for_each_block(n, |random| self.append(random, &mut samples));
        samples
    }
}

/// Returns n samples of the discrete Gaussian of standard deviation `sigma` (see [`GaussianTable`]). Its table
/// costs some ten microseconds; keep a [`GaussianTable`] to draw many small batches.
///
/// # Errors
/// The errors of [`GaussianTable::new`].
pub fn gaussian(prng: &mut Prng, n: usize, sigma: f64) -> Result<Zeroizing<Vec<i8>>, MathError> {
    Ok(GaussianTable::new(sigma)?.draw(prng, n))
}

/// Returns exp(-k^2 / (2 sigma^2)) in units of 1 / `one`, where `scaled` is sigma * 2^54 and k an
/// integer.
fn exp_minus_square(k: u64, scaled: &BigUint, one: &BigUint) -> BigUint {
    // y = k^2 2^108 / (2 scaled^2), as a fixed-point number; exp(-y) = exp(-y / 2^r)^(2^r) with a small argument.
    let y = ((BigUint::from(k * k) << (108 + PRECISION)) / scaled.pow(2)) >> 1u32;
    let halvings = 10u32;
    let small = y >> halvings;
    // The alternating Taylor series of exp(-small), positive and negative terms apart.
    let (mut plus, mut minus) = (one.clone(), BigUint::zero());
    let mut term = one.clone();
    for i in 1u32.. {
        term = ((term * &small) >> PRECISION) / i;
        if term.is_zero() {
            break;
        }
        if i % 2 == 1 {
            minus += &term;
        } else {
            plus += &term;
        }
    }
    let mut value = plus - minus;
    for _ in 0..halvings {
        value = (&value * &value) >> PRECISION;
    }
    value
}
