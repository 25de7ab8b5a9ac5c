// SPDX-License-Identifier: Apache-2.0
//! The macro and mid instruction levels, and the micro level of `vector`: definitions, types, text form and verifier; and what a
//! machine asks of parameters.

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

/// Items that the crate's own tests reach; no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::mid::ahead::held;
}
