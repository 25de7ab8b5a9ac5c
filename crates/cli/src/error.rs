//! What the command reports and exits with.

use std::path::PathBuf;

use thiserror::Error;

/// Why a command did not do what was asked.
#[derive(Debug, Error)]
pub enum CliError {
    #[error("{0}")]
    Usage(String),
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
    Compile(#[from] ringmill_compiler::CompileError),
    #[error(transparent)]
    Trace(#[from] ringmill_compiler::builder::TraceError),
    #[error(transparent)]
    Evaluate(#[from] ringmill_compiler::reference::EvaluateError),
    #[error(transparent)]
    Verify(#[from] ringmill_isa::VerifyError),
    #[error(transparent)]
    Math(#[from] ringmill_math::MathError),
    #[error(transparent)]
    Machine(#[from] ringmill_machines::MachineError),
    #[error(transparent)]
    Hdl(#[from] ringmill_hdl::HdlError),
    #[error(transparent)]
    Device(#[from] ringmill_devices::DeviceError),
    #[error(transparent)]
    Runtime(#[from] ringmill_devices::runtime::RuntimeError),
}

impl CliError {
    /// Whether whoever read our standard output stopped reading, as `head` does: nothing went wrong.
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

    /// 1 where results disagree, 2 where the request could not be carried out.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Disagreement(_) => 1,
            _ => 2,
        }
    }
}
