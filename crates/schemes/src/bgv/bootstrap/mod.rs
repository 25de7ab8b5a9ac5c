// SPDX-License-Identifier: Apache-2.0
//! Bootstrapping: a ciphertext at a low level to one of the same message at a high one (vector paper, section 3.3 and appendix B).
//!
//! Integers modulo p^r in slots (*thin* bootstrapping), in this order:
//!
//! 1. slots to coefficients, at a low level ([`Maps`]);
//! 2. encapsulation: a key switch to a sparse secret s' at the level of the inner modulus q;
//! 3. the modulus is raised ([`raise`]): an encryption modulo p^e, at the highest level, of p^(e-r) m + rho;
//! 4. the trace to the coefficients that hold integers, and coefficients to slots;
//! 5. the digits of rho are removed, and the plaintext modulus is p^r again.
//!
//! Any polynomial modulo p^r is bootstrapped by [`Bootstrapper::bootstrap_general`]; on the way integers are looked up in a table
//! ([`Bootstrapper::bootstrap_table`]), scaled ([`Bootstrapper::bootstrap_scaled`]) or compared ([`Bootstrapper::bootstrap_sign`]).
//!
//! One walk through these steps emits macro instructions, by levels and bounds alone: they are a program's [`Procedure`], and what a
//! [`Bootstrapper`] runs on ciphertexts. Each is a call of a mid-level procedure. Which plaintext modulus a ciphertext has is part of its [`Factor`](super::Factor).

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
pub use keys::{BootstrapKeys, SparseSecret};
pub use lift::Lifted;
pub use maps::Maps;
pub use params::Bootstrapping;
pub use procedure::Procedure;
pub use sets::Set;
pub use table::Table;
pub use value::Value;
