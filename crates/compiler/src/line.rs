// SPDX-License-Identifier: Apache-2.0
//! The line of the user's program that a message is about.

use std::fmt;

use ringmill_isa::source::SourceLoc;

/// A source position that begins a message, or nothing if the message is about no line or the program carries no
/// positions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct At(pub Option<SourceLoc>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(loc) => write!(f, "{loc}: "),
            None => Ok(()),
        }
    }
}
