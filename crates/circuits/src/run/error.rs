// SPDX-License-Identifier: Apache-2.0
//! The errors of encrypting for, running and decrypting a circuit.

use ringmill_device::CheckpointError;
use ringmill_limits::Halt;
use thiserror::Error;

use crate::BootstrapError;
use crate::circuit::CircuitError;
use crate::circuit::graph::Basis;
use crate::tfhe::{IntegerType, TfheError};

#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CircuitRunError {
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error(transparent)]
    Tfhe(#[from] TfheError),
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    #[error(transparent)]
    Circuit(#[from] CircuitError),
    #[error("{port}: expected {expected} ciphertexts, got {got}; encrypt it for this program")]
    Ciphertexts {
        port: String,
        expected: usize,
        got: usize,
    },
    #[error(
        "{port} is encrypted as {got}, expected {expected}; encrypt it for this program, or convert it in a circuit that takes {got}"
    )]
    Integer {
        port: String,
        expected: IntegerType,
        got: IntegerType,
    },
    #[error(
        "{port}: expected {expected} encrypted integers, got {got}; encrypt it for this program"
    )]
    Integers {
        port: String,
        expected: usize,
        got: usize,
    },
    #[error(
        "the circuit computes on {basis:?}, and the keys' parameters are for other messages; compile it for them"
    )]
    OtherBasis { basis: Basis },
    #[error("{port} is {got}, expected a value of {expected}")]
    Value {
        port: String,
        expected: String,
        got: String,
    },
    #[error("could not start {threads} worker threads: {reason}; ask for fewer with `cpu:N`")]
    Threads { threads: usize, reason: String },
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("a worker thread ended without a result")]
    Worker,
}
