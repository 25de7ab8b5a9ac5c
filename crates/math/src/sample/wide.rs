// SPDX-License-Identifier: Apache-2.0
//! Samples discrete Gaussians that are too wide for a table, as sums of narrow ones.

use zeroize::Zeroizing;

use super::GaussianTable;
use crate::{MathError, Prng};

/// The standard deviation of the narrow Gaussian table from which wide samples are summed.
const BASE: f64 = 12.0;

/// The smoothing parameter of the integers for a relative error of 2^-64, times sqrt(2), as a
/// standard deviation. It is sqrt(2 ln(2 + 2^65) / pi / (2 pi)), rounded up.
const SMOOTH: f64 = 2.15;

/// A discrete Gaussian of any width up to 2^110, in constant time. A width is a standard deviation.
///
/// Let x and y be samples of width w, and let k be at most w / [`SMOOTH`]. Then x + k y is within 2^-64 (relative, at
/// every point) of a discrete Gaussian of width w sqrt(1 + k^2), by the convolution theorem of Micciancio and Walter,
/// CRYPTO 2017. So the width all but squares at each step. After s steps, 2^s samples of the table and 2^s - 1 sums
/// make one sample. Five steps reach a width of 2^78, six the largest, 2^110. [`WideGaussian::distance`] returns how
/// far a sample is from a Gaussian.
#[derive(Clone, Debug)]
pub struct WideGaussian {
    table: GaussianTable,
    /// The factors k, one for each step. A step makes wider samples x + k y of two samples x and y;
    /// the first step has the narrowest samples.
    factors: Vec<i128>,
    sigma: f64,
}

impl WideGaussian {
    /// Returns a Gaussian of a standard deviation not below `sigma`. If `sigma` is at least 12, it is above `sigma` by
    /// a factor of at most sqrt(2). For a smaller `sigma` it is 12.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] unless `sigma` is from 0 to 2^110.
    pub fn at_least(sigma: f64) -> Result<Self, MathError> {
        let most = 110f64.exp2();
        if !(0.0..=most).contains(&sigma) {
            return Err(MathError::OutOfRange {
                what: "sigma of a wide Gaussian",
                expected: "0 to 2^110",
                got: sigma.to_string(),
            });
        }
        let (mut width, mut factors) = (BASE, Vec::new());
        while width < sigma {
            let wanted = ((sigma / width).powi(2) - 1.0).sqrt().ceil();
            let factor = wanted.clamp(1.0, (width / SMOOTH).floor());
            width *= factor.hypot(1.0);
            factors.push(factor as i128);
        }
        Ok(Self {
            table: GaussianTable::new(BASE)?,
            factors,
            sigma: width,
        })
    }

    /// Returns a Gaussian of exactly the standard deviation `sigma`, from 0.3 on. Up to 12, samples come from a table
    /// of this width. Above 12 they are sums of samples from a table that is narrower than 12 by the factor by which
    /// such sums would otherwise be too wide.
    ///
    /// # Errors
    /// [`MathError::OutOfRange`] for a width below 0.3 or above 2^110.
    pub fn exactly(sigma: f64) -> Result<Self, MathError> {
        if !(0.3..=110f64.exp2()).contains(&sigma) {
            return Err(MathError::OutOfRange {
                what: "sigma of a wide Gaussian",
                expected: "0.3 to 2^110",
                got: sigma.to_string(),
            });
        }
        // Factors so small that they stay below w / SMOOTH when the table, and with it each w, shrinks by up to sqrt(2).
        let smooth = SMOOTH * std::f64::consts::SQRT_2;
        let (mut width, mut factors) = (BASE, Vec::new());
        while width < sigma {
            let wanted = ((sigma / width).powi(2) - 1.0).sqrt().ceil();
            let factor = wanted.clamp(1.0, (width / smooth).floor());
            width *= factor.hypot(1.0);
            factors.push(factor as i128);
        }
        Ok(Self {
            table: GaussianTable::new(BASE * sigma / width)?,
            factors,
            sigma,
        })
    }

    /// Returns an upper bound on the standard deviation of the Gaussian that [`WideGaussian::at_least`] returns for
    /// `sigma`.
    pub fn widest(sigma: f64) -> f64 {
        sigma.max(BASE) * std::f64::consts::SQRT_2
    }

    /// Returns a bound on the statistical distance of n samples together from n samples of a
    /// discrete Gaussian. After s steps of sums it is n 2^(s - 57).
    ///
    /// The table has at most 114 magnitudes, each with a probability that is wrong by less than 2^-63, and cuts off less
    /// than 2^-64. So its distance is below 58 2^-63. A sum is within 2^-64 of a Gaussian (relative, at every point) if its
    /// parts are Gaussians. Distances of independent parts add up, so a sample is off by less than 2^s (58 + 1) 2^-63, and
    /// 59 is below 64.
    pub fn distance(&self, n: usize) -> f64 {
        n as f64 * (self.factors.len() as f64 - 57.0).exp2()
    }

    /// Returns the standard deviation of the Gaussian's samples.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Returns n samples of the discrete Gaussian, in time that does not depend on their values.
    pub fn draw(&self, prng: &mut Prng, n: usize) -> Zeroizing<Vec<i128>> {
        self.step(self.factors.len(), prng, n)
    }

    fn step(&self, steps: usize, prng: &mut Prng, n: usize) -> Zeroizing<Vec<i128>> {
        let Some(below) = steps.checked_sub(1) else {
            let narrow = self.table.draw(prng, n);
            return Zeroizing::new(narrow.iter().map(|&x| i128::from(x)).collect());
        };
        let factor = self.factors.get(below).copied().unwrap_or(1);
        let (mut sum, other) = (self.step(below, prng, n), self.step(below, prng, n));
        for (x, y) in sum.iter_mut().zip(other.iter()) {
            *x = x.wrapping_add(factor.wrapping_mul(*y));
        }
        sum
    }
}
