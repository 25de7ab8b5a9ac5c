// SPDX-License-Identifier: Apache-2.0
//! The errors of driving the polynomial multiplier in simulation.

use std::fmt;

use ringmill_machines::polymul::PolymulError;

use super::{Code, Unit};
use crate::HdlError;

/// The reason for which the multiplier did not execute a command, or returned a wrong result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    /// The host refused the command before it reached the hardware.
    #[error(transparent)]
    Refused(#[from] PolymulError),
    /// The host refused the command, because a unit or limb that the command needs is in use.
    #[error("{command} while the {unit} is busy: wait until it is done")]
    Busy { unit: Unit, command: &'static str },
    #[error("no polynomial {buf} of set {set}: both are 0 or 1")]
    Place { set: usize, buf: usize },
    /// The hardware refused the command with a result code, and nothing has begun.
    #[error("the multiplier refuses {command}: {code}")]
    Answered { command: &'static str, code: Code },
    /// The hardware ended a stream with an error code.
    #[error("the multiplier refuses the stream of {command}: {code}")]
    Stream { command: &'static str, code: Code },
    #[error(
        "the {unit} is not done after {cycles} cycles; a stream that it waits for, or a fault in the RTL?"
    )]
    NeverDone { unit: Unit, cycles: u64 },
    #[error("the schedule needs a limb or table that was not given: {0}")]
    Missing(String),
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    #[error(transparent)]
    Hdl(#[from] HdlError),
}

/// The first difference between the polynomial multiplier's RTL and its models in an operation that
/// both executed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{operation}: {what}")]
pub struct Mismatch {
    /// The operation that was compared, with the multiplier's number of processing units and the tables, as text.
    pub operation: String,
    pub what: Difference,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// The cycles from a command to its done bit are not the model's. `of` names the command.
    Cycles {
        of: &'static str,
        rtl: u64,
        model: u64,
    },
    /// The butterflies begin an operation in cycle `cycle` of the command in the RTL but not in the
    /// model, or in the model but not in the RTL. `rtl` is true in the first case.
    Issue { cycle: usize, rtl: bool },
    Residue {
        position: usize,
        rtl: Option<u64>,
        reference: Option<u64>,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |x: &Option<u64>| x.map_or("missing".to_owned(), |x| x.to_string());
        match self {
            Self::Cycles { of, rtl, model } => {
                write!(
                    f,
                    "{of} takes {rtl} cycles in the RTL, {model} in the model"
                )
            }
            Self::Issue { cycle, rtl } => {
                let (does, other) = if *rtl {
                    ("issues", "not")
                } else {
                    ("is idle", "issues")
                };
                write!(f, "the array {does} in cycle {cycle}, in the model {other}")
            }
            Self::Residue {
                position,
                rtl,
                reference,
            } => {
                let (rtl, reference) = (shown(rtl), shown(reference));
                write!(
                    f,
                    "residue {position} is {rtl} in the RTL, {reference} in the reference"
                )
            }
        }
    }
}
