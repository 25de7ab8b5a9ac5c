// SPDX-License-Identifier: Apache-2.0
//! The interface between limb programs and the devices that run them.
//!
//! The CPU, simulated machines and RTL implement [`Device`], so a caller need not know which of them runs a program. A
//! device takes a verified mid-level program and [`Bindings`] (input limbs and seeds) and returns output limbs, the
//! same bits on every device. It also returns figures: measured on a processor, modelled for a machine, counted in RTL.

pub mod bindings;
pub mod call;
pub mod checkpoint;
mod checkpoint_error;
mod constant;
pub mod device;
pub mod error;
pub mod expanded;
pub mod interpret;
mod key_id;
mod limbed;
pub mod plan;
pub mod pool;
pub mod procedures;
pub mod progress;
pub mod report;
mod resident;
mod residues;
pub mod saving;
mod statistics;
pub mod timeline;
pub mod trace;
pub mod value;
pub mod whole_file;

pub use bindings::{Bindings, Limb, SeedExpansion, exponents};
pub use checkpoint_error::CheckpointError;
pub use constant::{Constant, Encode};
pub use device::{Device, Outcome, Request, Session, check_budget, check_request, check_values};
pub use error::DeviceError;
pub use expanded::{Expanded, ExpandedStats};
pub use key_id::{Agreement, KeyId, Mismatch};
pub use limbed::{Limbed, ParamsId};
pub use pool::OutputLimb;
pub use procedures::Procedures;
pub use resident::Resident;
pub use residues::ResidueVec;
pub use saving::Saving;
pub use statistics::Statistics;
