// SPDX-License-Identifier: Apache-2.0
//! Helpers that start the command in the workspace's folder.
#![allow(dead_code)] // each test file uses its own part

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const RINGMILL: &str = env!("CARGO_BIN_EXE_ringmill");

/// A program that every machine schedules quickly.
pub const MEAN: &str = "crates/cli/tests/cli/mean_of_four.rmac";

pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(RINGMILL);
    command.args(arguments).current_dir(workspace());
    command
}

/// Runs the command to its end.
pub fn ringmill(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// Makes a folder of this name for a test's files, if it does not exist.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a program that rotates and conjugates x `turns` times, and returns its path. The compiler merges none of
/// these operations. They need keys of five steps, and the values do not grow.
pub fn long_program(folder: &Path, turns: usize) -> String {
    let mut text = String::from(
        "macro \"turning\" slots 4096\n  input 0 = encrypted \"x\"\n  output 0 = \"y\"\n",
    );
    text += "%0 = INPUT input 0 : cipher 2\n";
    for turn in 0..turns {
        let (value, step) = (2 * turn, 1 + turn % 5);
        text += &format!("%{} = ROTATE %{value} steps {step} : cipher 2\n", value + 1);
        text += &format!("%{} = CONJ %{} : cipher 2\n", value + 2, value + 1);
    }
    text += &format!("OUTPUT %{} output 0\nend\n", 2 * turns);
    let path = folder.join(format!("turning{turns}.rmac"));
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}
