// SPDX-License-Identifier: Apache-2.0
//! Lines of the user's source, to which instructions and errors refer.

use std::fmt;
use std::sync::Arc;

/// A line of the user's program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceLoc {
    pub file: Arc<str>,
    pub line: u32,
}

impl SourceLoc {
    /// Returns the file's name without its folders. Text has only this name: text is passed to others, and folders are
    /// private.
    pub fn file_name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
