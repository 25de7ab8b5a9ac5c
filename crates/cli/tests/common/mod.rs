//! The command, started in the workspace's folder.
#![allow(dead_code)] // each test file uses its own part

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const RINGMILL: &str = env!("CARGO_BIN_EXE_ringmill");

pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(RINGMILL);
    command.args(arguments).current_dir(workspace());
    command
}

/// What a command ends with.
pub fn ringmill(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}
