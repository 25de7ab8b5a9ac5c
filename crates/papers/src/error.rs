// SPDX-License-Identifier: Apache-2.0
//! The errors of reproducing a paper's tables beside our figures.

use std::error::Error;
use std::path::PathBuf;

use ringmill_compiler::CompileError;
use ringmill_device::DeviceError;
use ringmill_limits::Halt;

/// The error for a paper whose tables cannot be reproduced.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    #[error("{0}")]
    Halt(#[from] Halt),
    #[error("no paper is known for machine `{got}`; known: {}", known.join(", "))]
    Unknown {
        got: String,
        known: Vec<&'static str>,
    },
    /// The command has an option that this paper does not take, but other papers do.
    #[error(
        "`{paper}` has no use for {flag}, which {does}; it is for {}: leave it out",
        of.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
    )]
    NoUse {
        paper: &'static str,
        flag: &'static str,
        does: &'static str,
        /// The names of the papers that take the option.
        of: Vec<&'static str>,
    },
    /// The text of printed figures, or a formula of a sheet, does not have the form that the paper's rows need. The
    /// field is the reason.
    #[error("the built-in paper tables: {0}")]
    Tables(String),
    /// Our own results disagree with each other, so none of them can be printed. The text is the reason.
    #[error("{0}")]
    Disagreement(String),
    /// The size of a ring, a modulus or a machine is not valid. The text is the reason.
    #[error("{0}")]
    Size(String),
    /// Ringmill itself has a fault. The text is the reason.
    #[error("internal error: {0}; please report it")]
    Internal(String),
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(transparent)]
    Io(#[from] std::io::Error),
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
    Verify(#[from] ringmill_isa::VerifyError),
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
}

impl<E: Error + Send + Sync + 'static> From<CompileError<E>> for PaperError {
    fn from(error: CompileError<E>) -> Self {
        Self::Compile(error.into())
    }
}

impl From<ringmill_schemes::rlwe::RlweError> for PaperError {
    fn from(error: ringmill_schemes::rlwe::RlweError) -> Self {
        Self::Ckks(error.into())
    }
}
