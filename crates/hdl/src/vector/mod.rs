// SPDX-License-Identifier: Apache-2.0
//! Drives the RTL of the vector machine in simulation.
//!
//! [`Machine`] runs micro programs, and [`lockstep`] compares a run with the performance simulator, cycle by cycle.
//! [`comparisons`] are the designs with which the machine's arithmetic is compared.

mod areas;
mod host;
mod lockstep;
mod machine;
mod tables;

pub use areas::{
    Comparison, Element, ElementArea, Piece, comparisons, elements, network, saved_percent,
    transform_unit, whole_multipliers,
};
pub use host::Host;
pub use lockstep::{Divergence, lockstep};
pub use machine::{Ended, Fault, Machine, Trace, VectorError, Writer, moved, top};
pub use tables::table_words;
