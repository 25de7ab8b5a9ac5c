// SPDX-License-Identifier: Apache-2.0
//! Helpers that the tests of several machines use.

pub mod failure;
pub mod faulty;
pub mod setup;

use std::path::PathBuf;

/// Returns an empty folder of this name for a test's files. Removes what was in it.
pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
