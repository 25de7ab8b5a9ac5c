// SPDX-License-Identifier: Apache-2.0
//! The instruction sets of Ringmill: the macro and mid levels, the micro level of the `vector` machine, and the
//! definitions of the binary interfaces of machines.
//!
//! Each level has a definition file, types, a text form and a verifier. The crate also has the limits that a machine
//! sets to scheme parameters ([`Target`]).

pub mod codegen;
pub mod def;
pub mod engine;
mod error;
mod lex;
pub mod limits;
pub mod macros;
pub mod micro;
pub mod mid;
pub mod numbers;
pub mod source;
pub mod target;
pub mod vector;

pub use engine::Engine;
pub use error::{Fault, InstrPlace, Place, VerifyError};
pub use lex::ParseError;
pub use numbers::{Galois, Level, Poly};
pub use target::{Limit, Target};

/// Items for the crate's own tests, which are no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::mid::ahead::held;
}
