// SPDX-License-Identifier: Apache-2.0
//! From a traced function to a macro program to a mid-level program: small passes, one file each.
//!
//! [`builder::TraceBuilder`] makes a macro program of a front end's operations; [`compile`] runs the passes, has the scheme
//! ([`Compiles`]) choose or check parameters, and lowers to calls of the scheme layer's procedures. docs/compiler.md tells
//! what each pass does.

pub mod arrays;
pub mod bfv;
pub mod bgv;
mod bodies;
pub mod builder;
pub mod ckks;
mod compile;
mod cse;
mod dce;
pub mod error;
pub mod exact;
mod explicit;
mod hoist;
pub mod inline;
pub mod kept;
mod keys;
pub mod line;
mod lower;
mod mincut;
pub mod numbers;
mod pipeline;
mod poly;
mod reference;
mod refresh;
mod relin;
mod rewrite;
mod rings;
pub mod saved;
pub mod scheme;
pub mod target;
#[cfg(test)]
mod tests;
mod transparent;

pub use compile::{Compiled, CompiledInput, CompiledOutput, compile};
pub use error::CompileError;
pub use lower::{PlainRequest, PlainSource};
pub use numbers::{Ends, Numbers, Values};
pub use reference::EvaluateError;
pub use scheme::options::{self, Options, ParamsChoice, Passes, SAMPLE_MARGIN};
pub use scheme::{Bootstraps, Code, Compiles, Fitted, Lowerable};
pub use target::{Limit, Target, TargetError};
