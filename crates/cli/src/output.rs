//! Writing results: to standard output, or to a file that appears whole or not at all.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::CliError;

/// One line of JSON on standard output.
pub fn json(value: &impl Serialize) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// Text on standard output.
pub fn text(text: &str) -> Result<(), CliError> {
    Ok(std::io::stdout().lock().write_all(text.as_bytes())?)
}

/// Writes a file through `fill` beside its final name and renames it when it is complete.
pub fn whole_file<T>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let fault = |source| CliError::File {
        path: path.to_owned(),
        source,
    };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part: PathBuf = path.with_file_name(name);
    let mut writer = BufWriter::new(File::create(&part).map_err(fault)?);
    let filled = fill(&mut writer).map_err(|error| match error {
        CliError::Output(source)
        | CliError::Machine(ringmill_machines::MachineError::Io(source)) => fault(source),
        error => error,
    });
    let done = filled.and_then(|value| {
        let file = writer.into_inner().map_err(|e| fault(e.into_error()))?;
        file.sync_all().map_err(fault)?;
        std::fs::rename(&part, path).map_err(fault)?;
        Ok(value)
    });
    if done.is_err() {
        // The first fault is the one to tell; a partial file that cannot be removed changes nothing about it.
        let _ = std::fs::remove_file(&part);
    }
    done
}
