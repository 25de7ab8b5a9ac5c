// SPDX-License-Identifier: Apache-2.0
//! The part of the compiler that schemes of exact integers share. Constants are whole numbers, and values have ranges
//! of whole numbers. A plaintext modulus must hold those of inputs, constant vectors, outputs and values that are
//! tested for zero. Evaluation without encryption is exact.

pub(crate) mod constants;
pub(crate) mod degree;
pub(crate) mod digits;
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
