// SPDX-License-Identifier: Apache-2.0
//! Runs circuits: encrypts inputs, computes the bootstraps on a server, decrypts outputs.
//!
//! | question | file |
//! | --- | --- |
//! | encryption and decryption of integers | [`client`] |
//! | the engine of the bootstraps: this computer's kernels, or a device | [`engine`] |
//! | the order of bootstraps, on several threads | [`server`] |
//! | the state of a stopped run | `checkpoint` |
//! | the time of the bootstraps on a machine | [`timing`] |

pub(crate) mod checkpoint;
pub mod client;
pub mod engine;
mod error;
pub mod server;
pub mod timing;

pub use client::CircuitClient;
pub use engine::Engine;
pub use error::CircuitRunError;
pub use server::{CircuitRun, Keeping, Server, run};
pub use timing::MachineTime;
