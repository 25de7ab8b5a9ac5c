// SPDX-License-Identifier: Apache-2.0
//! Why products are exact: no sum of them, as an integer nearest to 0, reaches half of what its transform counts modulo.
//!
//! A coefficient of an accumulator's update is a sum over the (k + 1) l rows and the 2^m - 1 patterns of a step, each over N
//! products of a digit d, |d| <= B/2 (for an unrolled key the difference of two digits, by (X^a - 1), |d| <= B), and a
//! coefficient of a key, |K| <= q/2. With M products in all:
//!
//! - In the worst case the sum is at most M |d| q / 2.
//! - Where the key's coefficients are uniform (its masks are; its bodies are under the assumption that makes the scheme
//!   secure) and independent of the digits (a step's digits depend on the input and on the keys of earlier steps), the
//!   terms are independent, of range |d| q, and by Hoeffding's inequality a sum is beyond t with probability at most
//!   2 exp(-2 t^2 / (M d^2 q^2)). The bound is taken over all (k + 1) N n / m sums of a bootstrap together. The mean of a
//!   coefficient, -1/2, is taken off t.

use ringmill_math::torus::{Coefficients, Lift};

use super::TfheError;
use super::params::Sizes;

/// Why products are exact.
#[derive(Clone, PartialEq, Debug)]
pub enum Exactness {
    /// They are computed modulo q itself, a prime.
    CiphertextRing,
    /// No sum can be too large: log2 of the largest, and of what holds it.
    WorstCase { bound: f64, room: f64 },
    /// With uniform keys a bootstrap has a sum that is too large with probability 2^`failure` at most, below 2^-128.
    Statistical { failure: f64, room: f64 },
}

impl Exactness {
    /// log2 of the failure probability that a proof by statistics must stay below.
    pub const LIMIT: f64 = -128.0;

    /// One line for reports.
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

/// Number of products in one sum, and log2 of the largest |d|.
fn terms(s: &Sizes) -> (f64, f64) {
    let digit = f64::from(s.bootstrap.log_base) - 1.0;
    let (patterns, turned) = match s.unrolling.m() {
        1 => (1, 0.0),
        _ => (s.unrolling.patterns(), 1.0),
    };
    let count = s.rows() * s.degree() * patterns;
    (count as f64, digit + turned)
}

/// The proof for one schedule and one lift, or the refusal.
///
/// # Errors
/// [`TfheError::Overflow`].
pub fn prove(s: &Sizes, q: Coefficients, lift: Lift) -> Result<Exactness, TfheError> {
    let primes = match lift {
        Lift::Native => return Ok(Exactness::CiphertextRing),
        Lift::One(p) => vec![p.value()],
        Lift::Two(both) => both.iter().map(|p| p.value()).collect(),
    };
    let log_product: f64 = primes.iter().map(|&p| (p as f64).log2()).sum();
    // A hair less than half the product, for the logarithms' rounding.
    let room = log_product - 1.0 - 1e-9;
    let (count, digit) = terms(s);
    let log_q = f64::from(q.bits());
    let bound = count.log2() + digit + log_q - 1.0;
    if bound < room {
        return Ok(Exactness::WorstCase { bound, room });
    }
    // t^2 / (M d^2 q^2), in units that do not overflow.
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
