// SPDX-License-Identifier: Apache-2.0
//! The errors of building and running simulation models of the RTL.

use std::path::PathBuf;

/// An error of this crate. The error of a hardware tool contains the message that the tool printed.
#[derive(Debug, thiserror::Error)]
pub enum HdlError {
    #[error(
        "the hardware tools are not in {venv}: {what} is missing; run `make hdl-tools` in a checkout, or \
         `pip install 'ringmill[rtl]'` where the package is installed"
    )]
    ToolsMissing { venv: PathBuf, what: &'static str },
    #[error(
        "no RTL at or above {0}: run this inside a checkout of Ringmill, which has rtl/lib and Cargo.toml"
    )]
    NoWorkspace(PathBuf),
    #[error(
        "there is no folder to keep models in: outside a checkout it is $XDG_CACHE_HOME/ringmill/hdl, or \
         $HOME/.cache/ringmill/hdl; set one of the two to an absolute path"
    )]
    NoCache,
    #[error(
        "no standard-cell library: `make hdl-tools` unpacks Debian's qflow-tech-osu018 into {venv} where there is \
         apt-get; or name a liberty file in RINGMILL_LIBERTY"
    )]
    LibertyMissing { venv: PathBuf },
    #[error("cannot {action} {path}: {source}")]
    Io {
        action: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path} has {got} bytes; RTL sources have at most {limit}")]
    SourceTooLarge { path: PathBuf, got: u64, limit: u64 },
    #[error("module `{name}` is defined by both {first} and {second}")]
    DuplicateModule {
        name: String,
        first: PathBuf,
        second: PathBuf,
    },
    #[error("no module `{0}` among the RTL sources")]
    UnknownModule(String),
    #[error(
        "no ports can be read from the source of module `{0}`: one a line, between `) (` and `);`"
    )]
    NoInterface(String),
    #[error("module `{module}` has no parameter `{name}`; it has {known}")]
    UnknownParameter {
        module: String,
        name: String,
        known: String,
    },
    #[error("`{value}` is no value of parameter `{name}` ({kind}): give {expected}")]
    ParameterValue {
        name: String,
        kind: String,
        value: String,
        expected: String,
    },
    #[error("`{0}` is not a Verilog identifier")]
    BadIdentifier(String),
    #[error(
        "text parameter {0:?} has a quote, a backslash, a comma or a character outside printable ASCII"
    )]
    BadText(String),
    #[error("{tool} refused {what}:\n{message}")]
    Tool {
        tool: &'static str,
        what: String,
        message: String,
    },
    #[error("{tool} answered what this version of Ringmill does not understand: {message}")]
    Answer { tool: &'static str, message: String },
    #[error("{top} does not fit {device}: {reason}")]
    Misfit {
        top: String,
        device: &'static str,
        reason: String,
    },
    #[error("cannot load the model {path}: {message}")]
    Load { path: PathBuf, message: String },
    #[error("the model has no {direction} `{name}`; it has {known}")]
    UnknownPort {
        direction: &'static str,
        name: String,
        known: String,
    },
    #[error("port `{port}` is {width} bits wide; {got} does not fit")]
    PortWidth {
        port: String,
        width: u32,
        got: String,
    },
    #[error("the simulation stopped: {0}")]
    Simulation(String),
    #[error("cannot write waves to {path}: {message}")]
    Waves { path: PathBuf, message: String },
}

impl HdlError {
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
