// SPDX-License-Identifier: Apache-2.0
//! Lowers programs and netlists to gates on encrypted bits, the alternative to lookups of 16 entries.
//!
//! A bit is 1/8 or -1/8 of the torus, and a bootstrap reads the sign of a sum of bits. So one bootstrap computes each
//! function of up to four bits that is such a sign ([`form`]). All functions that depend on two bits are, and so are
//! majority and parity of three. A full adder therefore takes two bootstraps. A choice takes two bootstraps and a sum:
//! the first operand if the bit is 1, plus the second if it is 0.
//!
//! | question | file |
//! | --- | --- |
//! | which functions one bootstrap computes | [`form`] |
//! | the builder of gates | [`build`] |
//! | sums, differences, comparisons | [`add`] |
//! | products, sums of many terms | [`multiply`] |
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

pub use build::{Bit, Gates, Limits};
pub use lower::lower;
pub(super) use lower::parts;
