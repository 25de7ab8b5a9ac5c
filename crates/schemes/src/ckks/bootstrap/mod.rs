// SPDX-License-Identifier: Apache-2.0
//! Bootstraps CKKS ciphertexts: turns a ciphertext at a low level into one of the same message, with a known error, at a
//! high level.
//!
//! The steps are, in this order:
//!
//! 1. slots to coefficients ([`transform`]), at a low level, down to level 0;
//! 2. encapsulation: a key switch to a sparse secret of weight h at level 0 (ePrint 2022/024);
//! 3. raising of the modulus from q_0 to the highest level, and a key switch back. Coefficient m becomes m + q_0 I for an
//!    integer I. With t = (m + q_0 I) / q_0, |t| <= (h + 1) / 2 for every ciphertext, so no bootstrap fails;
//! 4. coefficients to slots ([`transform`]), which gives t in the slots;
//! 5. the removal of q_0 I in every slot ([`modulo`]), by one Chebyshev series ([`sawtooth`]).
//!
//! One walk through these steps emits macro instructions with levels, scales and a bound on the error. A program takes
//! them as its [`Procedure`].

mod bounds;
mod code;
mod errors;
mod keys;
mod least_squares;
mod linear;
mod modulo;
mod procedure;
pub mod sawtooth;
mod setup;
pub mod transform;

pub use procedure::{Constant, Procedure, Wanted};
pub use setup::{Bootstrapping, Layout, Set};
