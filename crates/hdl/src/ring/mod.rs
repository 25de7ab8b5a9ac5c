// SPDX-License-Identifier: Apache-2.0
//! Drives the RTL of the ring machine in simulation.
//!
//! [`Machine`] runs a procedure. [`Machine::lockstep`] also compares every start of an instruction word, every result
//! in polynomial memory, every transfer and the end with the cycle model's. [`Rpau`] is a single residue polynomial
//! arithmetic unit (RPAU), to which instruction words are sent in the cycles in which the model starts them.

use std::sync::Mutex;

use crate::{BuildOptions, Hdl, HdlError, Model, Top};

mod host;
mod machine;
pub mod parts;
pub(crate) mod places;
mod replay;
mod rpau;
mod shadow;
mod shape;
mod tables;
mod twiddles;
mod wires;

pub use host::{Host, NoHost, Place, Wanted};
pub use machine::{Ended, Machine, program_entries, size_entries, top};
pub use replay::evenly;
pub use rpau::{Rpau, RpauError};
pub use shadow::Lockstep;
pub use shape::Shape;
pub use tables::Tables;

/// Returns a simulation model of an RTL module. If several threads ask for the same model, one
/// builds it and the others wait.
fn built(hdl: &Hdl, top: &Top, options: BuildOptions) -> Result<Model, HdlError> {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _guard = BUILDING.lock().unwrap_or_else(|e| e.into_inner());
    hdl.model(top, options)
}
