// SPDX-License-Identifier: Apache-2.0
//! Bounds on the errors that single operations of a bootstrap add to a slot.
//!
//! A bound holds for all slots of the ring, except with the failure probability of the noise model. Each bound is
//! one and the same multiple of an error's standard deviation. So bounds of independent errors are added as squares
//! ([`root`]).

use ringmill_isa::Level;

use crate::ckks::noise::tail;
use crate::ckks::{Noise, NoiseModel, Params, Slots};

/// The bounds on the errors of a bootstrap's operations, for one parameter set.
pub(super) struct Bounds {
    model: NoiseModel,
    n: f64,
    /// The number L that belongs to the failure probability. Except with that probability, a Gaussian error exceeds
    /// sqrt(L) standard deviations in no slot.
    exponent: f64,
    /// The variance of a coefficient of the error polynomials that encryption and keys draw.
    error: f64,
    /// The number of special primes.
    special: f64,
}

/// The relative error of an entry of a bootstrap's constant vector. The entry is a double that a few floating-point
/// operations computed.
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

    /// Returns a bound on the error that a rescaling adds to a slot by its rounding. The ciphertext has two
    /// polynomials, and the scale `scale` after the rescaling.
    pub fn rescale(&mut self, scale: f64) -> f64 {
        let noise = self.model.rescale(&Noise::none(), 2, scale, [None; 3]);
        self.of(&noise)
    }

    /// Returns a bound on the error that rounding adds to a slot in one division by all special primes and one more
    /// prime. The quotient has the scale `scale`. Its rounding error is a sum of one term for each of these primes.
    pub fn divide(&mut self, scale: f64) -> f64 {
        self.rescale(scale) * (self.special + 1.0).sqrt()
    }

    /// Returns a bound on the error that a key switch at a level adds to a slot of a ciphertext of scale `scale`.
    pub fn switch(&mut self, level: Level, scale: f64) -> f64 {
        let noise = self.model.relinearise(&Noise::none(), level, scale, None);
        self.of(&noise)
    }

    /// Returns a bound on the error in a slot of a plaintext that encodes numbers up to `magnitude` at `scale`.
    pub fn encoded(&mut self, magnitude: f64, scale: f64) -> f64 {
        let noise = self.model.encoded(&Slots::All(magnitude), scale, None);
        self.of(&noise) + magnitude * DOUBLE
    }

    /// Returns a bound on the error that the key switch to the sparse secret adds to a coefficient, which is an
    /// integer modulo q_0. The key has one digit, q_0, and one special prime, `ratio` times as large as q_0.
    /// `weight` is the number of coefficients other than 0 of the sparse secret.
    pub fn encapsulated(&self, ratio: f64, weight: u32) -> f64 {
        // The digit is uniform below q_0 in size: N products with an error each; and the rounding by the special prime.
        let product = self.n * self.error / (3.0 * ratio * ratio);
        let rounding = (1.0 + f64::from(weight)) / 12.0;
        (self.exponent * (product + rounding)).sqrt()
    }

    /// Returns a bound on the absolute values of the slots of a random polynomial. Each of its coefficients is a
    /// sum of `weight` + 1 numbers that are uniform between -1/2 and 1/2.
    pub fn raised(&self, weight: u32) -> f64 {
        (self.exponent * self.n * f64::from(weight + 1) / 12.0).sqrt()
    }
}

/// Returns the bound on a sum of independent errors with the bounds `bounds`: the square root of the sum of their
/// squares.
pub(super) fn root(bounds: impl IntoIterator<Item = f64>) -> f64 {
    let squares = bounds.into_iter().map(|bound| bound * bound);
    squares.sum::<f64>().sqrt()
}
