// SPDX-License-Identifier: Apache-2.0
//! Simulated machines as devices, machines that take a part of a program, and devices by their names.

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
