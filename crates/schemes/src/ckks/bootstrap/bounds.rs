// SPDX-License-Identifier: Apache-2.0
//! Bounds on the errors that single operations of a bootstrap add to a slot.
//!
//! A bound holds for all slots of the ring, except with the failure probability of the noise model. Bounds of
//! independent errors of many operations are added as squares ([`root`]), since each is a multiple of a standard
//! deviation, the same for all.

use ringmill_isa::Level;

use crate::ckks::noise::tail;
use crate::ckks::{Noise, NoiseModel, Params, Slots};

/// The bounds for one parameter set.
pub(super) struct Bounds {
    model: NoiseModel,
    n: f64,
    /// The L of the failure probability: a Gaussian error exceeds the square root of L times its standard deviation in
    /// no slot, except with that probability.
    exponent: f64,
    /// The variance of a coefficient of an error polynomial.
    error: f64,
    /// The number of special primes.
    special: f64,
}

/// The relative error of a number in a constant, a double after a few operations.
const DOUBLE: f64 = 1.0 / (1u64 << 48) as f64;

impl Bounds {
    pub fn new(params: &Params) -> Self {
        let n = params.degree() as f64;
        Self {
            model: NoiseModel::new(params, params.slots()).flattened(),
            n,
            exponent: tail::exponent(params.slots()),
            error: params.error_distribution().std_dev().powi(2),
            special: params.special_count() as f64,
        }
    }

    fn of(&self, noise: &Noise) -> f64 {
        self.model.bound_anywhere(noise)
    }

    /// Returns the bound of the rounding in a rescaling of a ciphertext of two polynomials to `scale`.
    pub fn rescale(&mut self, scale: f64) -> f64 {
        let noise = self.model.rescale(&Noise::none(), 2, scale, [None; 3]);
        self.of(&noise)
    }

    /// Returns the bound of the rounding in a division to `scale` by the special primes and one more prime together. The
    /// quotient has a rounding error of as many terms as there are primes.
    pub fn divide(&mut self, scale: f64) -> f64 {
        self.rescale(scale) * (self.special + 1.0).sqrt()
    }

    /// Returns the bound of a key switch at a level and a scale.
    pub fn switch(&mut self, level: Level, scale: f64) -> f64 {
        let noise = self.model.relinearise(&Noise::none(), level, scale, None);
        self.of(&noise)
    }

    /// Returns the bound of the error of an encoded vector of numbers up to `magnitude`.
    pub fn encoded(&mut self, magnitude: f64, scale: f64) -> f64 {
        let noise = self.model.encoded(&Slots::All(magnitude), scale, None);
        self.of(&noise) + magnitude * DOUBLE
    }

    /// Returns the bound of the key switch to the sparse secret, in a coefficient, in units of 1. The key has one digit:
    /// q_0, beside one special prime, `ratio` times as large as q_0. The weight is that of the sparse secret.
    pub fn encapsulated(&self, ratio: f64, weight: u32) -> f64 {
        // The digit is uniform below q_0 in size: N products with an error each; and the rounding by the special prime.
        let product = self.n * self.error / (3.0 * ratio * ratio);
        let rounding = (1.0 + f64::from(weight)) / 12.0;
        (self.exponent * (product + rounding)).sqrt()
    }

    /// Returns a bound on the slots of a polynomial whose coefficients are sums of `weight` + 1 numbers that are uniform
    /// between -1/2 and 1/2.
    pub fn raised(&self, weight: u32) -> f64 {
        (self.exponent * self.n * f64::from(weight + 1) / 12.0).sqrt()
    }
}

/// Returns the bound of a sum of independent errors with these bounds.
pub(super) fn root(bounds: impl IntoIterator<Item = f64>) -> f64 {
    let squares = bounds.into_iter().map(|bound| bound * bound);
    squares.sum::<f64>().sqrt()
}
