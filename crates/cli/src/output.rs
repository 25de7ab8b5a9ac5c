// SPDX-License-Identifier: Apache-2.0
//! Writes results to standard output, or to a file that appears whole or not at all.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use ringmill_device::whole_file::{self, Contents};
use serde::Serialize;

use crate::error::CliError;

/// Writes one line of JSON to standard output.
///
/// # Errors
/// Fails if the value cannot be serialised, or if standard output cannot be written.
pub fn json(value: &impl Serialize) -> Result<(), CliError> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    text(&line)
}

/// Writes text to standard output. If the reader of the output has closed it, as `head` does, the command continues
/// without an error.
///
/// # Errors
/// Fails if standard output cannot be written for another reason.
pub fn text(text: &str) -> Result<(), CliError> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(fault) if fault.kind() != std::io::ErrorKind::BrokenPipe => Err(fault.into()),
        _ => Ok(()),
    }
}

/// Writes the text that standard output still buffers.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn flush() -> Result<(), CliError> {
    Ok(std::io::stdout().lock().flush()?)
}

/// Writes the reason why the command failed to standard error, as text or as one line of JSON.
pub fn fault(reason: &str, status: u8, json: bool) {
    let line = if json {
        serde_json::json!({ "error": reason.trim_end(), "status": status }).to_string()
    } else {
        format!("ringmill: {reason}")
    };
    // No reader is left to tell if this fails.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes a file, whose content the function `fill` writes. The file appears whole or not at all
/// ([`whole_file::fill`]).
///
/// # Errors
/// Fails if the file cannot be written, or if `fill` fails.
pub fn whole_file<T>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    whole_file_of(Contents::Public, path, fill)
}

/// Writes a file as [`whole_file()`] does. `contents` says whether only the file's owner may read it.
///
/// # Errors
/// Fails as [`whole_file()`] does.
pub fn whole_file_of<T>(
    contents: Contents,
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    whole_file::fill(path, contents, fill).map_err(|error| match error {
        CliError::Output(source)
        | CliError::Machine(ringmill_machines::MachineError::Io(source)) => CliError::File {
            path: path.to_owned(),
            source,
        },
        error => error,
    })
}
