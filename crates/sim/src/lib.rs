// SPDX-License-Identifier: Apache-2.0
//! Simulated machines as devices: cycle models, RTL, co-processors beside the CPU, and a table of all devices by name.

mod cases;
mod error;
mod negacyclic;
mod offload;
mod open;
#[cfg(feature = "rtl")]
mod rtl;
mod sim;

pub use cases::{Case, CaseError, Simulated, Sweep};
pub use error::{OpenError, RunError};
pub use negacyclic::{NegacyclicProduct, negacyclic_product};
pub use offload::Offload;
pub use open::{Devices, engine, known_devices, open, target};
pub use sim::{Sim, calls_done};
