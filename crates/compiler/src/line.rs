// SPDX-License-Identifier: Apache-2.0
//! Where in the user's program a message is about.

use std::fmt;

use ringmill_isa::source::SourceLoc;

/// A source position as the front of a message; nothing where the program carries none.
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
