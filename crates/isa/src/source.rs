// SPDX-License-Identifier: Apache-2.0
//! Lines of the user's source, to which instructions and errors refer.

use std::fmt;
use std::sync::Arc;

/// A line of the user's program: file and line number.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceLoc {
    pub file: Arc<str>,
    pub line: u32,
}

impl SourceLoc {
    /// Returns the source file's name without its folders. Printed texts have only this name, because users pass them
    /// to others and folders are private.
    pub fn file_name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
