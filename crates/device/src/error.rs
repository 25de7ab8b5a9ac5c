// SPDX-License-Identifier: Apache-2.0
//! The errors of running a program on a device.

use std::error::Error;
use std::fmt;

use ringmill_isa::mid::TableModulus;
use ringmill_limits::{Halt, human};
use ringmill_math::MathError;

use crate::CheckpointError;

/// The reason for which a program did not run or returned no result. A message names the fault, and where they are
/// known what was expected, what came, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error(
        "the program has {expected} input limbs, {got} were bound; the first one missing is `{name}`"
    )]
    MissingBinding {
        name: String,
        expected: usize,
        got: usize,
    },
    #[error(
        "the program has {expected} input limbs, {got} were bound; bind one limb for each input, in order"
    )]
    ExtraBindings { expected: usize, got: usize },
    #[error(
        "the program needs {expected} key seeds, {got} were bound; bind one for each entry of `seeds`, in order"
    )]
    SeedCount { expected: usize, got: usize },
    #[error(
        "input limb `{name}` has {got} residues, expected {expected} (the ring degree of its type)"
    )]
    LimbLength {
        name: String,
        expected: usize,
        got: usize,
    },
    #[error(
        "input limb `{name}` is bound to residues modulo {got}, its type has modulus {expected}; was it made with other parameters?"
    )]
    LimbModulus {
        name: String,
        expected: TableModulus,
        got: TableModulus,
    },
    #[error(
        "residue {value} at position {position} is not below its modulus {modulus}; the data is damaged or of another modulus"
    )]
    Residue {
        position: usize,
        value: u64,
        modulus: TableModulus,
    },
    #[error(
        "device `{device}` does not hold {kind}, and `{input}` of the program is or has one; run it on a device that \
         does, or take limbs alone"
    )]
    Kind {
        device: String,
        input: String,
        kind: &'static str,
    },
    #[error("the program is not well-formed: {0}")]
    Malformed(String),
    #[error("instruction {instr} of procedure `{proc}` cannot run: {reason}")]
    Instruction {
        proc: String,
        instr: usize,
        reason: String,
    },
    #[error(
        "a budget of {} for expanded keys and constants is too small: the largest of them takes {}; give at least {least} bytes",
        human(*budget),
        human(*least)
    )]
    SmallBudget { budget: u64, least: u64 },
    #[error(
        "one budget for expanded keys was asked for, and the seeds keep their limbs in {places} places; make them with `SeedExpansion::within` one"
    )]
    SeveralBudgets { places: usize },
    #[error(
        "device `{device}` cannot keep a budget for expanded keys and constants: {why}; leave it out, or run on the cpu"
    )]
    NoBudget { device: String, why: &'static str },
    /// A plaintext constant could not be encoded.
    #[error(transparent)]
    Constant(Box<dyn Error + Send + Sync>),
    #[error("the request asks for neither function nor timing; ask for one of them")]
    NothingAsked,
    #[error(
        "device `{device}` has no cycle model, so it cannot give timing alone; use a `sim:` device"
    )]
    NoTiming { device: String },
    #[error(transparent)]
    Verify(#[from] ringmill_isa::VerifyError),
    #[error(transparent)]
    Math(#[from] MathError),
    /// An error that only one kind of device has, with that device's own message.
    #[error(transparent)]
    Own(Own),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("the trace could not be written: {0}")]
    Trace(#[from] std::io::Error),
}

/// The class of an error that only one kind of device has, for callers that do not know the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The device could not be opened: no such name, file, threads or tools.
    Opening,
    /// The machine cannot run this program, or its description is wrong.
    Machine,
    /// The device's results or its cycles differ from the reference with which it is compared.
    Differs,
}

/// An error from a device's own crate: its class, and the error itself.
#[derive(Debug)]
pub struct Own {
    kind: Kind,
    source: Box<dyn Error + Send + Sync>,
}

impl Own {
    pub fn new(kind: Kind, source: impl Error + Send + Sync + 'static) -> Self {
        Self {
            kind,
            source: Box::new(source),
        }
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

/// An [`Own`] prints the message of the wrapped error. So its source is the source of the wrapped
/// error, and no message appears twice.
impl Error for Own {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.source()
    }
}

impl DeviceError {
    /// Wraps `source`, an error from a device's own crate, as an error of the class `kind`.
    pub fn own(kind: Kind, source: impl Error + Send + Sync + 'static) -> Self {
        Self::Own(Own::new(kind, source))
    }

    /// Returns the wrapped error as type `E` of a device's own crate, or `None` for any other error.
    pub fn as_own<E: Error + 'static>(&self) -> Option<&E> {
        match self {
            Self::Own(own) => own.source.downcast_ref(),
            _ => None,
        }
    }
}
