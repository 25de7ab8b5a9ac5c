// SPDX-License-Identifier: Apache-2.0
//! Computes the FPGA resources that a description needs, and compares them with those of its part.
//!
//! The resources are block RAM, UltraRAM, distributed RAM, DSP blocks and ports. One set of rules serves all machines.
//! A machine's `needs.rs` lists its memories and multipliers ([`Needs`]). [`Needs::fit`] counts and adds them, and says
//! whether they fit the part. If no unit may cross a border between dies, it does so for each die region ([`Fit`]).

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
