// SPDX-License-Identifier: Apache-2.0
//! What schemes of exact integers share in the compiler: constants are whole, values have ranges of whole numbers, which a
//! plaintext modulus holds, and results in the clear are exact.

pub(crate) mod constants;
pub(crate) mod degree;
pub(crate) mod held;
pub(crate) mod messages;
mod prediction;
pub(crate) mod primes;
pub mod range;
pub mod reference;
pub(crate) mod simplify;
pub(crate) mod zero;

pub use crate::numbers::whole;
pub(crate) use messages::of_integers;
pub use prediction::Prediction;
pub use range::IntegerRange;
