// SPDX-License-Identifier: Apache-2.0
//! Runs the RTL's tools: Verilator models behind a safe handle, lint, resource counts by synthesis, and proofs by a
//! solver.
//!
//! [`Hdl`] joins the RTL sources, the pinned tools of the virtual environment (`make hdl-tools`) and a cache directory.
//! From a [`Top`], a module with its parameters, it
//!
//! - builds a simulation [`Model`], and lints,
//! - counts the resources of an FPGA ([`Resources`]) or the area of standard cells ([`Area`]),
//! - finds a clock frequency ([`Placement`]) or the length of paths between registers ([`Levels`]),
//! - writes the configuration as stand-alone sources ([`Generated`]),
//! - proves the assertions of a property module ([`Proof`]).
//!
//! [`polymul`] drives the polynomial multiplier, in lockstep with its cycle model on request. [`basext`] drives the
//! base-extension units, [`torus`] the bootstrapping engine and its key-switching unit, [`ring`] the ring machine,
//! [`vector`] the vector machine. [`vector`] also lists the designs with which the vector machine's arithmetic is
//! compared.
//!
//! ```no_run
//! use ringmill_hdl::{BuildOptions, Hdl, Top};
//!
//! let hdl = Hdl::find(std::path::Path::new("."))?;
//! let top = Top::new("rm_mod_add").int("Width", 8);
//! let mut model = hdl.model(&top, BuildOptions::default())?;
//! let (a, b, q, r) = (model.input("a_i")?, model.input("b_i")?, model.input("q_i")?, model.output("r_o")?);
//! for (port, value) in [(a, 5), (b, 6), (q, 7)] {
//!     model.set(port, value)?;
//! }
//! model.eval()?;
//! assert_eq!(model.get(r)?, 4);
//! # Ok::<(), ringmill_hdl::HdlError>(())
//! ```

mod area;
pub mod basext;
mod build;
mod cache;
#[cfg(feature = "rtl")]
pub mod device;
mod error;
mod generate;
mod hdl;
mod header;
mod instances;
pub mod leaves;
mod model;
mod module;
mod origin;
pub mod parts;
mod place;
pub mod polymul;
mod prove;
mod python;
pub mod ring;
pub mod shell;
mod sources;
mod synth;
mod timing;
mod tools;
mod top;
pub mod torus;
pub mod vector;
mod watch;

pub use area::{Area, CellPath, LIBERTY_VARIABLE, Library, MEMORY_WORDS};
pub use build::{BuildOptions, Optimise};
pub use error::HdlError;
pub use generate::{Generated, Table, generate};
pub use hdl::Hdl;
pub use model::{In, Model, Out};
pub use module::{Interface, Parameter, Port};
pub use origin::{Package, install, sources};
pub use place::{Effort, Part, Path, Placement};
pub use prove::{Proof, Verdict};
pub use sources::Sources;
pub use synth::{Family, Resources, Synthesis};
pub use timing::{BAR_MHZ, LevelPath, Levels, MOST_CARRY, MOST_LEVELS, Paths};
pub use tools::{Tools, Versions};
pub use top::{Param, Top};
pub use watch::Stage;

#[doc(hidden)]
pub mod internals {
    //! Items for this crate's own tests. Other crates must not use them.

    pub use crate::cache::{Key, Lock, remembered};
    pub use crate::header::ports;
    pub use crate::origin::written;
    pub use crate::ring::places::packed;
}
