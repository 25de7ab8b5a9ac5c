// SPDX-License-Identifier: Apache-2.0
//! The distributions of secrets and errors of the ring schemes.

use ringmill_math::{MathError, Prng, sample};
use zeroize::Zeroizing;

/// The number of bits that are summed on each side of SEAL's centred binomial error.
const BINOMIAL_ETA: u32 = 21;
const GAUSSIAN_SIGMA: f64 = 3.2;

/// Distribution of the secret key's coefficients.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SecretDistribution {
    /// Uniform in {-1, 0, 1}.
    #[default]
    Ternary,
    /// Exactly `weight` coefficients are 1 or -1. Only the table `sparse_ternary_2026` covers it.
    SparseTernary { weight: u32 },
    /// The rounded Gaussian of standard deviation 3.2.
    Gaussian,
    /// Uniform in {0, 1}. No table of rings covers it, so it needs the opt-out.
    Binary,
}

impl SecretDistribution {
    /// Returns the mean of the sum of the squares of `n` coefficients.
    pub fn mean_square(self, n: f64) -> f64 {
        match self {
            Self::Ternary => n * 2.0 / 3.0,
            Self::SparseTernary { weight } => f64::from(weight),
            Self::Gaussian => n * GAUSSIAN_SIGMA * GAUSSIAN_SIGMA,
            Self::Binary => n / 2.0,
        }
    }

    /// Samples `n` coefficients. The run time depends on `n` and the distribution alone.
    pub fn sample(self, prng: &mut Prng, n: usize) -> Result<Zeroizing<Vec<i8>>, MathError> {
        match self {
            Self::Ternary => Ok(sample::ternary(prng, n)),
            Self::SparseTernary { weight } => sample::sparse_ternary(prng, n, weight as usize),
            Self::Gaussian => sample::gaussian(prng, n, GAUSSIAN_SIGMA),
            Self::Binary => Ok(binary(prng, n)),
        }
    }
}

/// Samples `n` random bits.
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
    /// The difference of two sums of 21 bits, with standard deviation 3.24 (SEAL's default).
    #[default]
    CentredBinomial,
    /// The rounded Gaussian of standard deviation 3.2.
    Gaussian,
}

impl ErrorDistribution {
    /// Returns the standard deviation, rounded up.
    pub const fn std_dev(self) -> f64 {
        match self {
            Self::CentredBinomial => 3.2404,
            Self::Gaussian => GAUSSIAN_SIGMA,
        }
    }

    /// Samples `n` coefficients. The run time depends on `n` and the distribution alone.
    pub fn sample(self, prng: &mut Prng, n: usize) -> Result<Zeroizing<Vec<i8>>, MathError> {
        match self {
            Self::CentredBinomial => sample::centred_binomial(prng, n, BINOMIAL_ETA),
            Self::Gaussian => sample::gaussian(prng, n, GAUSSIAN_SIGMA),
        }
    }
}
