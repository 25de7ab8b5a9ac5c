// SPDX-License-Identifier: Apache-2.0
//! Writes HTML pages of reports, and reads the source lines to which reports refer.

use std::io::Write;
use std::path::Path;

use ringmill_runtime::html::{Section, page};
use ringmill_runtime::report::Sources;

use super::program::python_file;
use crate::error::CliError;
use crate::{inputs, output};

/// The most bytes of a Python program file whose lines are shown.
const LONGEST: u64 = 1 << 22;

/// Returns the source lines of a program in a Python file. The source files of other programs are not available.
pub fn sources(program: &Path) -> Sources {
    let mut sources = Sources::default();
    let file = python_file(program);
    let name = file.as_deref().and_then(Path::file_name);
    if let (Some(file), Some(name)) = (&file, name) {
        // A report is complete without the lines.
        if let Ok(text) = inputs::read_text(file, LONGEST) {
            sources.of_file(&name.to_string_lossy(), &text);
        }
    }
    sources
}

/// Writes an HTML page with these sections to a file, which appears whole or not at all.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn write(path: &Path, title: &str, sections: &[Section]) -> Result<(), CliError> {
    let text = page(title, sections);
    output::whole_file(path, |out| Ok(out.write_all(text.as_bytes())?))
}

/// Refuses two output options with equal paths. Different paths of one file pass.
///
/// # Errors
/// Returns [`CliError::Usage`] with the names of both options.
pub fn apart(files: &[(&str, Option<&Path>)]) -> Result<(), CliError> {
    for (number, (option, file)) in files.iter().enumerate() {
        let before = files.iter().take(number);
        let mut same = before.filter(|(_, other)| file.is_some() && other == file);
        if let Some((other, _)) = same.next() {
            return Err(CliError::Usage(format!(
                "{other} and {option} name one file; give each its own"
            )));
        }
    }
    Ok(())
}
