// SPDX-License-Identifier: Apache-2.0
//! The error type for building circuits and for lowering programs and netlists to circuits.

use ringmill_limits::Halt;
use thiserror::Error;

/// The error of a circuit that cannot be made. A message names the fault, and where they are known the expected value,
/// the value found and a cure.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum CircuitError {
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error("{what} is {got}, expected {expected}")]
    OutOfRange {
        what: String,
        expected: String,
        got: String,
    },
    #[error("{op} of {a} and {b}: expected equal types; convert one of them first")]
    Types {
        op: &'static str,
        a: String,
        b: String,
    },
    #[error("{0}")]
    Refused(String),
    #[error("the circuit takes {expected} values, got {got}")]
    Inputs { expected: usize, got: usize },
    #[error(
        "the noise of a sum in front of a bootstrap is too much: expected at most {limit} times that of a bootstrap's output, which is what these parameters bear at the failure probability asked for, and it is {needed} times that; take a set with less noise, or ask for a probability that is less small"
    )]
    Noise { limit: u64, needed: u64 },
    #[error(
        "bootstraps that fail with a probability of 2^{asked} are asked for, expected 2^{most} or less; ask for 2^-64"
    )]
    Unreliable { asked: f64, most: i32 },
    #[error(
        "lookup {at} has {halves} halves of a message, or eighths of the torus for bits: the circuit is inconsistent"
    )]
    Inconsistent { at: usize, halves: i64 },
    #[error(
        "a lookup fails with probability 2^{got:.1} with these parameters, more than the 2^{asked} asked for; ask for less or take another set"
    )]
    Fails { asked: f64, got: f64 },
    #[error(
        "the parameters are for {got}; circuits compute on integers of 2 + 2 bits or on booleans"
    )]
    Messages { got: String },
    /// The netlist cannot be read. `line` is the line of the fault, and `what` its reason. Line 0 stands for the
    /// whole netlist.
    #[error("{}: {what}", if *line == 0 { "the netlist".to_owned() } else { format!("line {line} of the netlist") })]
    Netlist { line: usize, what: String },
}
