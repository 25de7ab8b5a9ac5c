// SPDX-License-Identifier: Apache-2.0
//! Compiles a traced function to a macro program, and the macro program to a mid-level program. Each pass is small and
//! has a file of its own.
//!
//! [`builder::TraceBuilder`] makes a macro program of a front end's operations. [`compile`] runs the passes, has the
//! scheme ([`Compiles`]) choose or check parameters, and lowers the program to calls of the scheme layer's procedures.
//! docs/compiler.md tells what each pass does.

pub mod accuracy;
pub mod arrays;
mod assumption;
pub mod bfv;
pub mod bgv;
mod bodies;
mod bootstrappable;
pub mod builder;
pub mod ckks;
mod compile;
mod cse;
mod cures;
mod dce;
mod digits;
pub mod error;
pub mod exact;
pub mod explain;
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
mod sequence;
pub mod target;
mod transparent;
mod trial;

pub use accuracy::Accuracy;
pub use compile::{Compiled, CompiledInput, CompiledOutput, compile};
pub use cures::Cures;
pub use error::CompileError;
pub use lower::{PlainRequest, PlainSource};
pub use numbers::{Ends, Numbers, Values};
pub use reference::EvaluateError;
pub use scheme::options::{self, KeyWishes, Options, ParamsChoice, Passes, Prefer, SAMPLE_MARGIN};
pub use scheme::{Bootstraps, Code, Compiles, Fitted, Lowerable};
pub use sequence::Sequence;
pub use target::{Limit, Target, TargetError};

#[doc(hidden)]
pub mod internals {
    //! Items that only the crate's own tests use. They are no part of the interface.

    pub use crate::bfv::noise::of_outputs as noise_of_outputs;
    pub use crate::bgv::cost::Costs;
    pub use crate::bgv::deep::Setting;
    pub use crate::bgv::levels::{Callee, Deep, Frame, Managed, Manager};
    pub use crate::bgv::procedures::{cheapest, chosen};
    pub use crate::bodies::each;
    pub use crate::ckks::algebra::result as polynomial;
    pub use crate::ckks::alike::origins;
    pub use crate::ckks::canonical::CanonicalScales;
    pub use crate::ckks::precision::walk;
    pub use crate::ckks::range::Spans;
    pub use crate::ckks::scale::trial::run as with_levels;
    pub use crate::ckks::span::Span;
    pub use crate::ckks::univariate::{DEGREE, range as range_of_polynomial};
    pub use crate::exact::zero::Way;
    pub use crate::explicit::run as explicit;
    pub use crate::lower::run as lower;
    pub use crate::mincut::min_vertex_cut;
    pub use crate::pipeline::{of_scheme, relinearised};
    pub use crate::refresh::{Course, Placement, best, tried};
}
