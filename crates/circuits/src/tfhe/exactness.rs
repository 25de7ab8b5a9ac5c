// SPDX-License-Identifier: Apache-2.0
//! Proves that the products of a bootstrap are exact. Modulo a prime q they need no proof, because q is the modulus of
//! their transform. For other q no sum of products, as an integer nearest to 0, may reach half of the modulus of its
//! transform, or only with a probability below 2^-128.
//!
//! Let an accumulator have k mask polynomials of N coefficients modulo q, and be decomposed into l digits in base B. A
//! step takes m of the small key's n secret bits. A coefficient of an accumulator's update is a sum over the (k + 1) l
//! rows and the 2^m - 1 patterns of a step. Each row and pattern contributes N products of a digit d and a coefficient
//! of a key, |K| <= q/2. The digit has |d| <= B/2. For an unrolled key the factor X^a - 1 makes d the difference of two
//! digits, with |d| <= B. With M products in all:
//!
//! - In the worst case the sum is at most M |d| q / 2.
//! - The key's masks are uniform, and its bodies are uniform under the assumption that makes the scheme secure. A
//!   step's digits depend on the input and on the keys of earlier steps, so the step's key is independent of its
//!   digits. Then the terms are independent with range |d| q. By Hoeffding's inequality a sum exceeds t with
//!   probability at most 2 exp(-2 t^2 / (M d^2 q^2)). The bound is taken over all sums of a bootstrap together: (k + 1)
//!   N in each of its n / m steps (rounded up). The mean of a coefficient, -1/2, gives a sum a mean of at most M |d| /
//!   2, which is subtracted from t.

use ringmill_math::torus::{Coefficients, Lift};

use super::TfheError;
use super::params::Sizes;

/// The reason why the products of a bootstrap are exact. If q is no prime, it is a bound on the sums of products that
/// the transforms must hold.
#[derive(Clone, PartialEq, Debug)]
pub enum Exactness {
    /// The products are exact because the ciphertext modulus q is prime and they are computed
    /// modulo q itself.
    CiphertextRing,
    /// The proof by the worst case: no sum can be too large. `bound` is log2 of the largest sum, `room` is log2 of the
    /// bound that sums must stay below.
    WorstCase { bound: f64, room: f64 },
    /// The proof for uniform keys: the probability that a bootstrap has a sum that is too large is at most 2^`failure`,
    /// below 2^-128. `room` is log2 of the bound that sums must stay below.
    Statistical { failure: f64, room: f64 },
}

impl Exactness {
    /// log2 of the limit for the failure probability of [`Exactness::Statistical`].
    pub const LIMIT: f64 = -128.0;

    /// Returns one line of text for reports: the kind of exactness proof and its bounds.
    pub fn summary(&self) -> String {
        match self {
            Self::CiphertextRing => {
                "products are computed modulo the ciphertext modulus itself".to_owned()
            }
            Self::WorstCase { bound, room } => {
                format!("products are exact in the worst case: below 2^{bound:.1} of 2^{room:.1}")
            }
            Self::Statistical { failure, room } => {
                format!(
                    "products are exact but for 2^{failure:.0} a bootstrap with uniform keys: 2^{room:.1} hold them"
                )
            }
        }
    }
}

/// Returns the number of products in one sum of an external product, and log2 of the largest absolute value |d| of a
/// digit.
fn terms(s: &Sizes) -> (f64, f64) {
    let digit = f64::from(s.bootstrap.log_base) - 1.0;
    let (patterns, turned) = match s.unrolling.m() {
        1 => (1, 0.0),
        _ => (s.unrolling.patterns(), 1.0),
    };
    let count = s.rows() * s.degree() * patterns;
    (count as f64, digit + turned)
}

/// Proves that products are exact for the sizes `s`, the ciphertext modulus `q`, and the transforms of `lift`.
///
/// # Errors
/// [`TfheError::Overflow`] if a sum of products may exceed what the transforms hold.
pub fn prove(s: &Sizes, q: Coefficients, lift: Lift) -> Result<Exactness, TfheError> {
    let primes = match lift {
        Lift::Native => return Ok(Exactness::CiphertextRing),
        Lift::One(p) => vec![p.value()],
        Lift::Two(both) => both.iter().map(|p| p.value()).collect(),
    };
    let log_product: f64 = primes.iter().map(|&p| (p as f64).log2()).sum();
    // Slightly less than half of the product, to cover the rounding of the logarithms.
    let room = log_product - 1.0 - 1e-9;
    let (count, digit) = terms(s);
    let log_q = f64::from(q.bits());
    let bound = count.log2() + digit + log_q - 1.0;
    if bound < room {
        return Ok(Exactness::WorstCase { bound, room });
    }
    // log2 of t^2 / (M d^2 q^2), from logarithms that do not overflow.
    let t = room.exp2() - (count.log2() + digit - 1.0).exp2();
    let ratio = (t.log2() - digit - log_q) * 2.0 - count.log2();
    let sums = (s.k.0 + 1) * s.degree() * s.steps();
    let failure = (2.0 * sums as f64).log2() - 2.0 * ratio.exp2() / std::f64::consts::LN_2;
    if failure < Exactness::LIMIT {
        return Ok(Exactness::Statistical { failure, room });
    }
    let named: Vec<String> = primes.iter().map(u64::to_string).collect();
    Err(TfheError::Overflow {
        bound,
        m: s.unrolling.m() as u32,
        primes: format!("the transforms modulo {}", named.join(" and ")),
        room,
    })
}
