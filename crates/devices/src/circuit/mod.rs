//! Circuits of TFHE: keys, encryption, runs, decryption.
//!
//! | question | file |
//! | --- | --- |
//! | who encrypts and decrypts integers, with which parameters | [`client`] |
//! | how a circuit runs on the cores of this computer | [`run`] |
//! | what is kept of a run that is stopped | `checkpoint` |

mod checkpoint;
pub mod client;
mod error;
pub mod run;
#[cfg(test)]
mod tests;

pub use client::CircuitClient;
pub use error::CircuitRunError;
pub use run::{CircuitRun, Keeping, Server, run};
