// SPDX-License-Identifier: Apache-2.0
//! Key switching of LWE ciphertexts with the key's masks expanded on the chip (Kong and Li's paper, Section III-C, with
//! secure masks).
//!
//! The module has the parameters of a unit ([`Shape`]), its expected results ([`golden`]) and its cycles: a model of
//! every cycle ([`Clock`]), their number ([`cycles`]), and a lower bound ([`Floor`]).
//!
//! Kong and Li's paper has one mask for all rows of the key and the old secret in the device, which reveals the secret.
//! Here each row's mask is a different stream of the public seed, and bodies come from the key's owner.

mod clock;
mod error;
mod golden;
mod shape;
mod skid;
pub(crate) mod time;

pub use super::isa::SwitchCode as Code;
pub use clock::{Clock, Command, Inputs, Shown, Word};
pub use error::SwitchError;
pub use golden::golden;
pub use shape::{BLOCK_WORDS, Digits, Generators, Shape};
pub use time::{Floor, cycles};
