// SPDX-License-Identifier: Apache-2.0
//! Programs and netlists as gates on encrypted bits: the other lowering, beside the lookups of 16 entries.
//!
//! A bit is 1/8 of the torus or -1/8, and a bootstrap reads the sign of a sum of bits. So a gate is whatever function of up
//! to four bits is such a sign ([`form`]): all of two bits, of three majority and parity among others, so that a full adder
//! is two. A choice is two, and a sum: the one if the bit is 1, or else nothing, plus the other if it is not.
//!
//! | question | file |
//! | --- | --- |
//! | which functions one bootstrap computes | [`form`] |
//! | gates of bits, each once, quiet enough | [`build`] |
//! | sums, differences, comparisons | [`add`] |
//! | products and sums of many | [`multiply`] |
//! | quotients and remainders | [`divide`] |
//! | choices, shifts, tables | [`choose`] |
//! | from a program to gates | [`lower`] |

pub mod add;
pub mod build;
pub mod choose;
pub mod divide;
pub mod form;
mod lower;
pub mod multiply;
#[cfg(test)]
mod tests;

pub use build::{Bit, Gates, Limits};
pub use lower::lower;
pub(super) use lower::parts;
