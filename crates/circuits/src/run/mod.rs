// SPDX-License-Identifier: Apache-2.0
//! Who runs a circuit: keys, encryption, runs, decryption.
//!
//! | question | file |
//! | --- | --- |
//! | who encrypts and decrypts integers, with which parameters | [`client`] |
//! | what does the bootstraps: this computer's kernels, or a device | [`engine`] |
//! | in which order, on how many threads | [`server`] |
//! | what is kept of a run that is stopped | `checkpoint` |
//! | what a machine takes for the bootstraps | [`timing`] |

mod checkpoint;
pub mod client;
pub mod engine;
mod error;
pub mod server;
#[cfg(test)]
mod tests;
pub mod timing;

pub use client::CircuitClient;
pub use engine::Engine;
pub use error::CircuitRunError;
pub use server::{CircuitRun, Keeping, Server, run};
pub use timing::MachineTime;
