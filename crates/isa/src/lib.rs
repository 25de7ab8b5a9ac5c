//! The macro and mid instruction levels: definitions, types, text form and verifier.

pub mod codegen;
pub mod def;
mod error;
mod lex;
pub mod limits;
pub mod macros;
pub mod mid;
pub mod numbers;
pub mod source;

pub use error::{Fault, InstrPlace, Place, VerifyError};
pub use lex::ParseError;
pub use numbers::{Galois, Level, Poly};
