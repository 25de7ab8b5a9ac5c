//! What runs a limb program: the CPU, simulated machines, RTL; the run time around a compiled program; run reports.
//!
//! A [`Device`] takes a verified mid-level program and [`Bindings`] (its input limbs and seeds) and gives the output
//! limbs, the same bits on every device, and figures: measured on the CPU, modelled on a machine, counted in the RTL.

mod bindings;
mod bootstrap;
mod checkpoint;
pub mod circuit;
mod cpu;
mod device;
mod error;
mod expanded;
mod negacyclic;
mod offload;
mod open;
pub mod pool;
mod procedures;
pub mod progress;
pub mod report;
mod rtl;
pub mod runtime;
mod saving;
pub mod shown;
mod sim;
pub mod trace;
mod value;

pub use bindings::{Bindings, Limb, SeedExpansion};
pub use bootstrap::{Bootstrap, BootstrapError};
pub use checkpoint::CheckpointError;
pub use cpu::Cpu;
pub use device::{CpuStats, Device, Outcome, Request};
pub use error::DeviceError;
pub use expanded::{Expanded, ExpandedStats};
pub use negacyclic::{NegacyclicProduct, negacyclic_product};
pub use offload::Offload;
pub use open::{known_devices, open};
pub use pool::OutputLimb;
pub use procedures::Procedures;
pub use saving::Saving;
pub use sim::{Sim, calls_done, target};
