//! Files: read whole under a limit, written whole or not at all, every fault with the path.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use pyo3::prelude::*;
use ringmill_schemes::ckks::file::write_atomic;

use crate::errors::FileError;

/// Largest file read: well above the keys of the largest parameters a machine of today computes with.
const LARGEST: u64 = 1 << 36;

fn fault(path: &Path, error: impl Display) -> PyErr {
    FileError::new_err(format!("{}: {error}", path.display()))
}

/// Reads a file and parses its bytes.
pub fn read<T, E: Display>(path: &Path, parse: impl FnOnce(&[u8]) -> Result<T, E>) -> PyResult<T> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|e| fault(path, e))?;
    file.take(LARGEST)
        .read_to_end(&mut bytes)
        .map_err(|e| fault(path, e))?;
    parse(&bytes).map_err(|e| fault(path, e))
}

/// Writes a file.
pub fn write(path: &Path, bytes: &[u8]) -> PyResult<()> {
    write_atomic(path, bytes).map_err(|e| fault(path, e))
}
