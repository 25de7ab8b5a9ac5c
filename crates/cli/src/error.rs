// SPDX-License-Identifier: Apache-2.0
//! The error type of the `ringmill` command, and its exit status.

use std::error::Error;
use std::path::PathBuf;

use ringmill_compiler::CompileError;
use ringmill_device::DeviceError;
use ringmill_device::error::Kind;
use ringmill_limits::Halt;
use ringmill_papers::PaperError;
use ringmill_runtime::RuntimeError;
use ringmill_runtime::shown::TracedError;
use thiserror::Error as Named;

use crate::Untraced;

/// The exit status after Ctrl-C: 128 plus the signal's number, as in shells.
pub const INTERRUPTED: u8 = 130;

/// The reason why a `ringmill` command failed.
#[derive(Debug, Named)]
pub enum CliError {
    #[error("{0}")]
    Halt(#[from] Halt),
    /// Ctrl-C stopped the command after a part of its work. `at` names the device whose run was interrupted, and `kept`
    /// the results that were finished.
    #[error("interrupted on {at}; {kept}")]
    Interrupted { at: String, kept: String },
    #[error("{0}")]
    Usage(String),
    /// A fault of Ringmill itself, not of the request. The text is the reason.
    #[error("internal error: {0}; please report it")]
    Internal(String),
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}: {reason}", path.display())]
    Input { path: PathBuf, reason: String },
    #[error("{0}")]
    Disagreement(String),
    #[error("standard output: {0}")]
    Output(#[from] std::io::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Ckks(#[from] ringmill_schemes::ckks::CkksError),
    #[error(transparent)]
    Bfv(#[from] ringmill_schemes::bfv::BfvError),
    #[error(transparent)]
    Bgv(#[from] ringmill_schemes::bgv::BgvError),
    #[error(transparent)]
    Seal(#[from] ringmill_schemes::seal::SealError),
    #[error(transparent)]
    Compile(Box<dyn Error + Send + Sync>),
    #[error(transparent)]
    Trace(#[from] ringmill_compiler::builder::TraceError),
    #[error(transparent)]
    Evaluate(#[from] ringmill_compiler::ckks::reference::EvaluateError),
    #[error(transparent)]
    Verify(#[from] ringmill_isa::VerifyError),
    #[error(transparent)]
    Circuit(#[from] ringmill_circuits::circuit::CircuitError),
    #[error(transparent)]
    CircuitRun(#[from] ringmill_circuits::run::CircuitRunError),
    #[error(transparent)]
    Tfhe(#[from] ringmill_circuits::tfhe::TfheError),
    #[error(transparent)]
    Math(#[from] ringmill_math::MathError),
    #[error(transparent)]
    Machine(#[from] ringmill_machines::MachineError),
    #[error(transparent)]
    Hdl(#[from] ringmill_hdl::HdlError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// An error in the computation of a paper's figures that is not an error of a device.
    #[error(transparent)]
    Paper(Box<PaperError>),
    /// A [`RuntimeError`] of the program's scheme that is not an error of a device.
    #[error(transparent)]
    Runtime(Box<dyn Error + Send + Sync>),
}

impl From<Untraced> for CliError {
    fn from(why: Untraced) -> Self {
        match why {
            Untraced::Interrupted => Self::Halt(Halt::Interrupted),
            Untraced::Raised(text) => Self::Usage(text),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<CompileError<E>> for CliError {
    fn from(error: CompileError<E>) -> Self {
        Self::Compile(error.into())
    }
}

impl<E: Error + Send + Sync + 'static> From<RuntimeError<E>> for CliError {
    fn from(error: RuntimeError<E>) -> Self {
        match error {
            RuntimeError::Device(error) => Self::Device(error),
            error => Self::Runtime(error.into()),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<TracedError<E>> for CliError {
    fn from(error: TracedError<E>) -> Self {
        match error {
            TracedError::Run(error) => error.into(),
            TracedError::File { path, source } => Self::File { path, source },
        }
    }
}

impl From<PaperError> for CliError {
    fn from(error: PaperError) -> Self {
        match error {
            PaperError::Device(error) => Self::Device(error),
            PaperError::Disagreement(what) => Self::Disagreement(what),
            error => Self::Paper(Box::new(error)),
        }
    }
}

impl From<ringmill_schemes::rlwe::RlweError> for CliError {
    fn from(e: ringmill_schemes::rlwe::RlweError) -> Self {
        Self::Ckks(e.into())
    }
}

impl CliError {
    /// Returns whether the reader of standard output stopped reading, as `head` does. That is no fault of the command.
    pub fn reader_left(&self) -> bool {
        let kind = match self {
            Self::Output(fault) | Self::Machine(ringmill_machines::MachineError::Io(fault)) => {
                Some(fault.kind())
            }
            Self::Json(fault) => fault.io_error_kind(),
            _ => None,
        };
        kind == Some(std::io::ErrorKind::BrokenPipe)
    }

    /// Returns whether the command failed because Ctrl-C stopped it.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Interrupted { .. }) || Halt::of(self) == Some(&Halt::Interrupted)
    }

    /// Returns the command's exit status: 1 if results disagree, 130 after Ctrl-C, 2 for any other request that could
    /// not be carried out.
    pub fn exit_code(&self) -> u8 {
        match self {
            _ if self.is_interrupt() => INTERRUPTED,
            Self::Disagreement(_) => 1,
            Self::Device(DeviceError::Own(own)) if own.kind() == Kind::Differs => 1,
            _ => 2,
        }
    }
}
