// SPDX-License-Identifier: Apache-2.0
//! The verifier of mid-level procedures and programs: it accepts those that follow the typing rules and stay within
//! the limits. It panics for no input.
#![deny(clippy::arithmetic_side_effects)]

mod procedure;
mod program;
mod unrolled;

use std::collections::HashSet;
use std::hash::Hash;

use super::text;
use crate::error::Fault;
use crate::limits;

pub use procedure::verify_procedure;
pub use program::{ProgramTypes, verify_program};
pub(crate) use program::{exactly, in_program};
pub use unrolled::verify_unrolled;

/// Checks the name of a procedure or block: letters, digits, `.`, `_` and `-`. `what` says for the
/// error which of the two has the name.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), Fault> {
    let legal = |b: u8| b.is_ascii_alphanumeric() || b".-_".contains(&b);
    if name.is_empty() || name.len() > limits::MAX_NAME || !name.bytes().all(legal) {
        let expected = format!("1 to {} letters, digits, `.`, `_` or `-`", limits::MAX_NAME);
        return Err(Fault::Illegal {
            what,
            expected,
            found: format!("{:?}", text::shorten(name.to_owned())),
        });
    }
    Ok(())
}

/// Checks the length of a name that may have any characters, such as that of a parameter or an input.
/// `what` describes the name in the error.
pub(crate) fn check_label(what: &'static str, name: &str) -> Result<(), Fault> {
    if name.len() > limits::MAX_NAME {
        let expected = format!("at most {} bytes", limits::MAX_NAME);
        return Err(Fault::Illegal {
            what,
            expected,
            found: format!("{} bytes", name.len()),
        });
    }
    Ok(())
}

pub(crate) fn at_most(what: &'static str, limit: usize, found: usize) -> Result<(), Fault> {
    if found > limit {
        Err(Fault::TooMany { what, limit, found })
    } else {
        Ok(())
    }
}

fn unique<T: Hash + Eq>(
    seen: &mut HashSet<T>,
    key: T,
    what: &'static str,
    item: impl FnOnce() -> String,
) -> Result<(), Fault> {
    if seen.insert(key) {
        Ok(())
    } else {
        Err(Fault::Duplicate { what, item: item() })
    }
}

/// Checks the number of a part of a key's digit: 0 for the body b, 1 for the mask a, or a higher
/// number for a further mask of a GLWE key.
fn check_part(part: u16) -> Result<(), Fault> {
    if part >= limits::MAX_KEY_PARTS {
        return Err(Fault::Range {
            what: "key part",
            limit: limits::MAX_KEY_PARTS.into(),
            found: u64::from(part),
        });
    }
    Ok(())
}
