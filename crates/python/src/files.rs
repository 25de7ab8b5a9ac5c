// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files for Python. A file is read whole and within the memory limit, and is written whole or not at
//! all. Every error names the path.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use ringmill_device::whole_file::{self, Contents, ReadError};
use ringmill_limits::{Halt, Watch};
use ringmill_schemes::rlwe::SecretKey;

use crate::errors::{Fault, FileError, halted};
use crate::watch::interruptible;

/// Returns the error of a file, which names its path.
pub fn fault(path: &Path, error: impl Into<Fault>) -> PyErr {
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

/// The name that error messages give to the memory for reading a file.
const READ: &str = "a file and what is made of it";
/// The number of bytes that are written between two checks whether the user stopped the work.
const PIECE: usize = 1 << 20;

/// Reads a file that holds a secret and parses its bytes. The bytes are wiped after that.
///
/// # Errors
/// Raises a Python exception if the file cannot be read, is longer than half of the memory limit, or does not parse.
pub fn read_secret<T, E: Into<Fault>>(
    path: &Path,
    watch: &Watch,
    parse: impl FnOnce(&[u8]) -> Result<T, E>,
) -> PyResult<T> {
    let largest = watch.limits().memory / 2;
    let bytes = whole_file::read_secret(path, largest).map_err(|e| match e.kind() {
        ErrorKind::FileTooLarge => fault(path, too_long(largest.saturating_add(1), largest)),
        _ => fault(path, e),
    })?;
    parse(&bytes).map_err(|e| fault(path, e))
}

/// Reads a file and parses its bytes. The file and the parsed object together stay within the memory limit.
///
/// # Errors
/// Raises a Python exception if the file cannot be read, exceeds the limit, or does not parse.
pub fn read<T, E: Into<Fault>>(
    path: &Path,
    watch: &Watch,
    parse: impl FnOnce(&[u8]) -> Result<T, E>,
) -> PyResult<T> {
    let bytes = whole_file::read(path, READ, watch).map_err(|e| match e {
        ReadError::Halt(halt) => fault(path, halt),
        ReadError::Io(e) => fault(path, e),
    })?;
    parse(&bytes).map_err(|e| fault(path, e))
}

/// Parses the bytes of a file that the caller has in memory. The bytes and the parsed object together stay within the
/// memory limit.
///
/// # Errors
/// Raises a Python exception if the bytes exceed the limit or do not parse.
pub fn parse<T, E: Into<Fault>>(
    bytes: &[u8],
    watch: &Watch,
    parse: impl FnOnce(&[u8]) -> Result<T, E>,
) -> PyResult<T> {
    let needed = (bytes.len() as u64).saturating_mul(2);
    watch.admit(READ, needed).map_err(refused)?;
    parse(bytes).map_err(refused)
}

/// Returns the error for a file of at least `read` bytes that is too long. The memory limit allows a file of `largest`
/// bytes, and as much again for the parsed object.
fn too_long(read: u64, largest: u64) -> Halt {
    Halt::OverLimit {
        what: READ.to_owned(),
        needed: 2 * read,
        limit: 2 * largest,
    }
}

/// Writes a file, unless the user stops the work before the file is whole.
///
/// # Errors
/// Raises a Python exception if the file cannot be written, or if the user stops the work.
pub fn write(path: &Path, watch: &Watch, bytes: &[u8]) -> PyResult<()> {
    write_as(path, Contents::Public, watch, bytes)
}

/// Writes a file that only its owner can read.
///
/// # Errors
/// Raises a Python exception if the file cannot be written, or if the user stops the work.
pub fn write_secret(path: &Path, watch: &Watch, bytes: &[u8]) -> PyResult<()> {
    write_as(path, Contents::Secret, watch, bytes)
}

fn write_as(path: &Path, contents: Contents, watch: &Watch, bytes: &[u8]) -> PyResult<()> {
    let written = whole_file::fill(path, contents, |out| -> Result<(), Fault> {
        for piece in bytes.chunks(PIECE) {
            watch.check()?;
            out.write_all(piece)?;
        }
        Ok(watch.check()?)
    });
    written.map_err(|e| fault(path, e))
}

/// Writes a secret key with its count of shared decryptions, into a file that only its owner can read.
///
/// # Errors
/// Raises a Python exception if the file cannot be written, or if the user stops the work.
pub fn save_counted_secret(path: &Path, watch: &Watch, key: &SecretKey) -> PyResult<()> {
    let stopped = |halt: Halt| fault(path, halt);
    watch.check().map_err(stopped)?;
    key.save(path).map_err(|e| fault(path, e))
}

/// Writes a file, which appears whole or not at all.
#[pyfunction]
fn write_file(py: Python<'_>, path: PathBuf, data: PyBackedBytes) -> PyResult<()> {
    interruptible(py, move |watch| write(&path, watch, &data))?
}

/// Reads a file whole.
#[pyfunction]
fn read_file<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = interruptible(py, move |watch| {
        read(&path, watch, |bytes| Ok::<_, Fault>(bytes.to_vec()))
    })??;
    Ok(PyBytes::new(py, &bytes))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(write_file, m)?)?;
    m.add_function(wrap_pyfunction!(read_file, m)?)
}

/// Returns the content of a file, which `write` makes, as bytes of Python.
///
/// # Errors
/// Raises a Python exception if the content cannot be made, or if the user stops the work.
pub fn to_bytes<'py, E: Into<Fault>>(
    py: Python<'py>,
    write: impl FnOnce() -> Result<Vec<u8>, E> + Send + 'static,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = interruptible(py, move |_| write().map_err(refused))??;
    Ok(PyBytes::new(py, &bytes))
}

/// Parses the content of a file. Together with the parsed object it stays within the memory limit.
///
/// # Errors
/// Raises a Python exception if the content exceeds the limit or does not parse, or if the user stops the work.
pub fn from_bytes<T: Send + 'static, E: Into<Fault>>(
    py: Python<'_>,
    data: PyBackedBytes,
    parse: impl FnOnce(&[u8]) -> Result<T, E> + Send + 'static,
) -> PyResult<T> {
    interruptible(py, move |watch| self::parse(&data, watch, parse))?
}

/// Returns the error of the content of a file that has no path.
fn refused(error: impl Into<Fault>) -> PyErr {
    let error = error.into();
    match Halt::of(&*error) {
        Some(halt) => halted(halt, error.to_string()),
        None => FileError::new_err(error.to_string()),
    }
}
