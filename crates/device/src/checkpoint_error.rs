// SPDX-License-Identifier: Apache-2.0
//! The errors of checkpoint files: one cannot be written, cannot be read, or belongs to another
//! program or other data.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// The reason for which a checkpoint cannot be written, or a run cannot continue from one.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    #[error("could not {what} the checkpoint {}: {source}", path.display())]
    File {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} is not a checkpoint that this version reads; expected one that a run with a checkpoint saved", path.display())]
    NotOne { path: PathBuf },
    #[error("the checkpoint {} is damaged: {what}; start the run anew, or from an older copy", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("the checkpoint {} is of another program; go on with the program that it was saved from, compiled alike", path.display())]
    OtherProgram { path: PathBuf },
    #[error(
        "the checkpoint {} was saved under other keys or inputs; go on with the very ones, none of them made anew", path.display()
    )]
    OtherData { path: PathBuf },
    #[error("device `{device}` runs from beginning to end; checkpoints are the cpu's")]
    NotHere { device: String },
}
