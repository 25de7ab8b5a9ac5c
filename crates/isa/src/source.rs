//! Positions in the user's source.

use std::fmt;
use std::sync::Arc;

/// A line of the user's program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceLoc {
    pub file: Arc<str>,
    pub line: u32,
}

impl fmt::Display for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
