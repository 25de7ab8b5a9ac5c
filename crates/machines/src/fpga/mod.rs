// SPDX-License-Identifier: Apache-2.0
//! Computes the resources that a machine's description needs, and compares them with those of its FPGA or ASIC die.
//!
//! The resources of an FPGA are block RAM, UltraRAM, distributed RAM and DSP blocks, those of an ASIC SRAM and
//! multipliers. A memory with more accesses in a cycle than its ports serve is refused, except that copies of it serve
//! further reads. One set of rules serves all machines. A machine's `needs.rs` lists its memories and multipliers
//! ([`Needs`]). [`Needs::fit`] adds them up and says whether they fit. If each unit must lie on one die, it also counts
//! the units that a die holds ([`Fit`]).

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
