//! Files: read whole under a limit, written whole or not at all, every fault with the path.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use ringmill_limits::Halt;
use ringmill_schemes::whole_file::{self, Contents};

use crate::errors::{Fault, FileError};
use crate::watch::{halted, limits};

fn fault(path: &Path, error: impl Into<Fault>) -> PyErr {
    let error = error.into();
    let text = if path.as_os_str().is_empty() {
        "the path is empty; name a file".to_owned()
    } else {
        format!("{}: {error}", path.display())
    };
    let starved = |e: &std::io::Error| e.kind() == ErrorKind::OutOfMemory;
    match Halt::of(&*error) {
        Some(halt) => halted(halt, text),
        None if error.downcast_ref().is_some_and(starved) => PyMemoryError::new_err(text),
        None => FileError::new_err(text),
    }
}

/// Reads a file and parses its bytes; the file and what is made of it are within the memory limit.
pub fn read<T, E: Into<Fault>>(
    path: &Path,
    parse: impl FnOnce(&[u8]) -> Result<T, E>,
) -> PyResult<T> {
    let largest = limits()?.memory / 2;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|e| fault(path, e))?;
    // Grows fallibly, and no further than the limit.
    let read = file
        .take(largest.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|e| fault(path, e))? as u64;
    if read > largest {
        let what = "a file and what is made of it".to_owned();
        let (needed, limit) = (2 * read, 2 * largest);
        let over = Halt::OverLimit {
            what,
            needed,
            limit,
        };
        return Err(fault(path, over));
    }
    parse(&bytes).map_err(|e| fault(path, e))
}

/// Writes a file.
pub fn write(path: &Path, bytes: &[u8]) -> PyResult<()> {
    whole_file::write(path, Contents::Public, bytes).map_err(|e| fault(path, e))
}

/// Writes a file that only its owner can read.
pub fn write_secret(path: &Path, bytes: &[u8]) -> PyResult<()> {
    whole_file::write(path, Contents::Secret, bytes).map_err(|e| fault(path, e))
}

/// Makes a folder to write into, where it is missing; the one it is in must be there.
pub fn make_folder(path: &Path) -> PyResult<()> {
    whole_file::make_folder(path).map_err(|e| fault(path, e))
}
