//! Circuits of TFHE: keys, encryption, runs, decryption.
//!
//! | question | file |
//! | --- | --- |
//! | who encrypts and decrypts integers, with which parameters | [`client`] |
//! | what does the bootstraps: this computer's kernels, or a device | [`engine`] |
//! | in which order, on how many threads | [`run`] |
//! | what is kept of a run that is stopped | `checkpoint` |
//! | which parameters a machine runs | [`target`] |
//! | what a machine takes for the bootstraps | [`timing`] |

mod checkpoint;
pub mod client;
pub mod engine;
mod error;
pub mod run;
pub mod target;
#[cfg(test)]
mod tests;
pub mod timing;

pub use client::CircuitClient;
pub use engine::Engine;
pub use error::CircuitRunError;
pub use run::{CircuitRun, Keeping, Server, run};
pub use timing::MachineTime;
