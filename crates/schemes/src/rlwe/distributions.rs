// SPDX-License-Identifier: Apache-2.0
//! Distributions of secrets and errors.

use ringmill_math::{MathError, Prng, sample};
use zeroize::Zeroizing;

/// Number of summed bits on each side of SEAL's centred binomial error.
const BINOMIAL_ETA: u32 = 21;
const GAUSSIAN_SIGMA: f64 = 3.2;

/// Distribution of the secret key's coefficients.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SecretDistribution {
    /// Uniform in {-1, 0, 1}.
    #[default]
    Ternary,
    /// Exactly `weight` coefficients of 1 or -1; `sparse_ternary_2026` alone covers it.
    SparseTernary { weight: u32 },
    /// The rounded Gaussian of standard deviation 3.2.
    Gaussian,
    /// Uniform in {0, 1}; no table of rings covers it, so it needs the opt-out.
    Binary,
}

impl SecretDistribution {
    /// The sum of the squares of `n` coefficients, in the mean.
    pub fn mean_square(self, n: f64) -> f64 {
        match self {
            Self::Ternary => n * 2.0 / 3.0,
            Self::SparseTernary { weight } => f64::from(weight),
            Self::Gaussian => n * GAUSSIAN_SIGMA * GAUSSIAN_SIGMA,
            Self::Binary => n / 2.0,
        }
    }

    /// `n` coefficients. Time depends on `n` and the distribution alone.
    pub fn sample(self, prng: &mut Prng, n: usize) -> Result<Zeroizing<Vec<i8>>, MathError> {
        match self {
            Self::Ternary => Ok(sample::ternary(prng, n)),
            Self::SparseTernary { weight } => sample::sparse_ternary(prng, n, weight as usize),
            Self::Gaussian => sample::gaussian(prng, n, GAUSSIAN_SIGMA),
            Self::Binary => Ok(binary(prng, n)),
        }
    }
}

/// `n` random bits.
fn binary(prng: &mut Prng, n: usize) -> Zeroizing<Vec<i8>> {
    let mut bytes = Zeroizing::new(vec![0u8; n.div_ceil(8)]);
    prng.fill_bytes(&mut bytes);
    let bits = bytes
        .iter()
        .flat_map(|&byte| (0..8).map(move |k| (byte >> k & 1) as i8));
    let mut values = Zeroizing::new(Vec::with_capacity(n));
    values.extend(bits.take(n));
    values
}

/// Distribution of the encryption and key errors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ErrorDistribution {
    /// Difference of two sums of 21 bits, standard deviation 3.24 (SEAL's default).
    #[default]
    CentredBinomial,
    /// Rounded Gaussian of standard deviation 3.2.
    Gaussian,
}

impl ErrorDistribution {
    /// Standard deviation, rounded up.
    pub const fn std_dev(self) -> f64 {
        match self {
            Self::CentredBinomial => 3.2404,
            Self::Gaussian => GAUSSIAN_SIGMA,
        }
    }

    /// `n` coefficients. Time depends on `n` and the distribution alone.
    pub fn sample(self, prng: &mut Prng, n: usize) -> Result<Zeroizing<Vec<i8>>, MathError> {
        match self {
            Self::CentredBinomial => sample::centred_binomial(prng, n, BINOMIAL_ETA),
            Self::Gaussian => sample::gaussian(prng, n, GAUSSIAN_SIGMA),
        }
    }
}
