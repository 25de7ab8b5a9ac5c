// SPDX-License-Identifier: Apache-2.0
//! Positions in the user's source.

use std::fmt;
use std::sync::Arc;

/// A line of the user's program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceLoc {
    pub file: Arc<str>,
    pub line: u32,
}

impl SourceLoc {
    /// The file's name without its folders: all that text says of it, since text goes to others and folders are the author's
    /// own business.
    pub fn file_name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
