// SPDX-License-Identifier: Apache-2.0
//! What a description needs of the FPGA that it names: block, ultra and distributed RAM, DSP blocks and ports, computed
//! from its fields by one set of rules for all machines, beside what the part has.
//!
//! A machine's `needs.rs` lists its memories and multipliers ([`Needs`]); [`Needs::fit`] counts them, sums them up and says
//! whether they fit the part and, where units may not be cut by a border between dies, each die region ([`Fit`]).

mod fit;
mod memory;
mod multiplier;
mod part;
mod printed;

pub use fit::{Need, Needs, Unit};
pub use memory::{Memory, MemoryKind};
pub use multiplier::{Multipliers, Reduction, Sparse, lazy_mul_latency};
pub use part::{Family, PARTS, Part, Resources};
pub use printed::{Printed, PrintedUse};

pub use ringmill_device::report::{Fit, NeedUse, Ports, RegionUse, Resource, Total, pieces_text};
