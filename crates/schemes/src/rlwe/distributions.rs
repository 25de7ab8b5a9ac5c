// SPDX-License-Identifier: Apache-2.0
//! The distributions of secrets and errors of the ring schemes.

use ringmill_math::{MathError, Prng, sample};
use zeroize::Zeroizing;

/// The number of random bits in each of two sums. The difference of the sums is a coefficient of SEAL's centred
/// binomial error.
const BINOMIAL_ETA: u32 = 21;
const GAUSSIAN_SIGMA: f64 = 3.2;

/// The distribution of the secret key's coefficients.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SecretDistribution {
    /// Each coefficient of the secret is uniform in {-1, 0, 1}.
    #[default]
    Ternary,
    /// Exactly `weight` coefficients of the secret are 1 or -1, the others 0. Of the security tables, only
    /// `sparse_ternary_2026` covers this distribution.
    SparseTernary { weight: u32 },
    /// Each coefficient of the secret is a discrete Gaussian of standard deviation 3.2.
    Gaussian,
    /// Each coefficient of the secret is uniform in {0, 1}. No security table of ring schemes covers this
    /// distribution, so it needs the insecure opt-out.
    Binary,
}

impl SecretDistribution {
    /// Returns the mean of the sum of the squares of all coefficients of a secret with `n` coefficients.
    pub fn mean_square(self, n: f64) -> f64 {
        match self {
            Self::Ternary => n * 2.0 / 3.0,
            Self::SparseTernary { weight } => f64::from(weight),
            Self::Gaussian => n * GAUSSIAN_SIGMA * GAUSSIAN_SIGMA,
            Self::Binary => n / 2.0,
        }
    }

    /// Samples `n` coefficients of a secret. The run time depends on `n` and the distribution
    /// alone.
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

/// The distribution of the coefficients of errors in encryptions and keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ErrorDistribution {
    /// Each coefficient of the error is the difference of two sums of 21 random bits, with standard deviation 3.24
    /// (SEAL's default).
    #[default]
    CentredBinomial,
    /// Each coefficient of the error is a discrete Gaussian of standard deviation 3.2.
    Gaussian,
}

impl ErrorDistribution {
    /// Returns the standard deviation of a coefficient of an error, rounded up.
    pub const fn std_dev(self) -> f64 {
        match self {
            Self::CentredBinomial => 3.2404,
            Self::Gaussian => GAUSSIAN_SIGMA,
        }
    }

    /// Samples `n` coefficients of an error. The run time depends on `n` and the distribution
    /// alone.
    pub fn sample(self, prng: &mut Prng, n: usize) -> Result<Zeroizing<Vec<i8>>, MathError> {
        match self {
            Self::CentredBinomial => sample::centred_binomial(prng, n, BINOMIAL_ETA),
            Self::Gaussian => sample::gaussian(prng, n, GAUSSIAN_SIGMA),
        }
    }
}
