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

pub use fit::{Fit, Need, NeedUse, Needs, RegionUse, Total, Unit, pieces_text};
pub use memory::{Memory, MemoryKind, Ports};
pub use multiplier::{Multipliers, Reduction, Sparse, lazy_mul_latency};
pub use part::{Family, PARTS, Part, Resource, Resources};
pub use printed::{Printed, PrintedUse};
