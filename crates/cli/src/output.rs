// SPDX-License-Identifier: Apache-2.0
//! Writing results: to standard output, or to a file that appears whole or not at all.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use ringmill_device::whole_file::{self, Contents};
use serde::Serialize;

use crate::error::CliError;

/// One line of JSON on standard output.
pub fn json(value: &impl Serialize) -> Result<(), CliError> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    text(&line)
}

/// Text on standard output. That its reader left, as `head` does, is no fault: the command goes on, and its exit status
/// says what it found.
pub fn text(text: &str) -> Result<(), CliError> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(fault) if fault.kind() != std::io::ErrorKind::BrokenPipe => Err(fault.into()),
        _ => Ok(()),
    }
}

/// Writes what standard output still holds back.
pub fn flush() -> Result<(), CliError> {
    Ok(std::io::stdout().lock().flush()?)
}

/// Why a command failed, on standard error: as text, or as one line of JSON.
pub fn fault(reason: &str, status: u8, json: bool) {
    let line = if json {
        serde_json::json!({ "error": reason.trim_end(), "status": status }).to_string()
    } else {
        format!("ringmill: {reason}")
    };
    // There is no one left to tell when this fails.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes a file through `fill`; it appears whole or not at all ([`whole_file::fill`]).
pub fn whole_file<T>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    whole_file_of(Contents::Public, path, fill)
}

/// The same for contents that not everybody may read.
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
