//! From a traced function to a macro program to a mid-level program: small passes, one file each.
//!
//! [`builder::TraceBuilder`] makes a macro program of a front end's operations; [`compile`] runs the passes, chooses or
//! checks parameters, and lowers to calls of the scheme layer's procedures. docs/compiler.md tells what each pass does.

mod alike;
pub mod builder;
mod canonical;
mod compile;
mod cse;
mod dce;
mod depth;
pub mod error;
mod fold;
pub mod galois;
mod hoist;
pub mod inline;
mod linear;
mod lower;
mod mincut;
pub mod options;
mod params;
mod pipeline;
mod poly;
pub mod precision;
pub mod range;
mod real;
pub mod reference;
mod relin;
mod rewrite;
pub mod saved;
mod scale;
pub mod target;
#[cfg(test)]
mod tests;
mod transparent;

pub use compile::{Compiled, CompiledInput, CompiledOutput, compile};
pub use error::CompileError;
pub use lower::{KeyRequest, PlainRequest, PlainSource};
pub use options::{Options, ParamsChoice, Passes, SAMPLE_MARGIN, Wanted};
pub use precision::Precision;
pub use range::InputRange;
pub use target::{Limit, Target, TargetError};
