// SPDX-License-Identifier: Apache-2.0
//! Bootstraps BGV ciphertexts: turns a ciphertext at a low level into one of the same message at a high level (BASALISC
//! paper, section 3.3 and appendix B).
//!
//! Integers m modulo p^r in slots take *thin* bootstrapping, in this order:
//!
//! 1. slots to coefficients, at a low level ([`Maps`]);
//! 2. encapsulation: a key switch to a sparse secret s' at the level of the inner modulus q;
//! 3. raising the modulus ([`raise`]), which gives an encryption modulo p^e, at the highest level, of p^(e-r) m + rho
//!    for small integers rho;
//! 4. the trace to the coefficients that hold integers, and coefficients to slots;
//! 5. the removal of rho's digits, after which the plaintext modulus is p^r again.
//!
//! [`Bootstrapper::bootstrap_general`] bootstraps any polynomial modulo p^r. Other variants look integers up in a table
//! ([`Bootstrapper::bootstrap_table`]), scale them ([`Bootstrapper::bootstrap_scaled`]) or compare them
//! ([`Bootstrapper::bootstrap_sign`]) on the way.
//!
//! One walk through these steps emits macro instructions, from levels and noise bounds alone. A program takes the
//! instructions as its [`Procedure`], and a [`Bootstrapper`] runs them on ciphertexts. Each instruction is a call
//! of a mid-level procedure. The plaintext modulus of a ciphertext is part of its [`Factor`](super::Factor).

mod bootstrapper;
mod chance;
mod code;
mod digits;
mod emit;
pub mod error;
mod file;
mod general;
mod keys;
mod layout;
mod lift;
mod linear;
mod maps;
mod named;
mod operands;
pub mod operation;
mod params;
mod plan;
mod procedure;
pub(super) mod raise;
mod run;
mod sets;
mod table;
mod thin;
mod value;

pub use bootstrapper::{Bootstrapper, Observer, Step};
pub use chance::log2_chance;
pub use error::BootstrapError;
pub use keys::BootstrapKeys;
pub use lift::Lifted;
pub use maps::Maps;
pub use params::Bootstrapping;
pub use procedure::Procedure;
pub use sets::Set;
pub use table::Table;
pub use value::Value;

pub use crate::rlwe::SparseSecret;
