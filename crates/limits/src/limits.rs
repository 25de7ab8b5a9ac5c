// SPDX-License-Identifier: Apache-2.0
//! The memory limit that a user sets, and its default.

use std::env;
use std::time::Duration;

use crate::available;
use crate::lately::Lately;

/// The default limit, as a fraction of the memory that the process may still take.
const SHARE: (u64, u64) = (4, 5);
/// The memory in bytes that is assumed available if the system does not tell.
const UNKNOWN: u64 = 16 << 30;
/// The time for which an answer of the system on available memory is reused.
const LATELY: Duration = Duration::from_millis(200);

/// The bounds on one piece of work: reading a file, compiling, making keys, or a run.
///
/// ```
/// use ringmill_limits::Limits;
/// assert_eq!(Limits::parse("512MiB")?.memory, 512 << 20);
/// assert_eq!(Limits::parse("4G")?.memory, 4 << 30);
/// assert!(Limits::parse("much").is_err());
/// # Ok::<(), ringmill_limits::LimitsError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most bytes of memory that the work may add to what the process has when the work begins.
    pub memory: u64,
}

/// The error of a text that is no memory limit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a memory limit is a positive number of bytes with or without K, M, G or T behind it (powers of 1024), as in 4G or 512MiB, not {got:?}"
)]
pub struct LimitsError {
    pub got: String,
}

impl Limits {
    /// The name of the environment variable that sets the memory limit, if nothing else sets it.
    pub const VARIABLE: &'static str = "RINGMILL_MAX_MEMORY";

    /// Returns the limits that [`Limits::VARIABLE`] sets, or the defaults without that variable.
    ///
    /// # Errors
    /// The variable is set to a text that [`Limits::parse`] refuses.
    pub fn from_environment() -> Result<Self, LimitsError> {
        match env::var_os(Self::VARIABLE) {
            Some(text) => Self::parse(&text.to_string_lossy()),
            None => Ok(Self::default()),
        }
    }

    /// Parses a number of bytes, such as `4G`, `512MiB` or `1.5 GB`. The units K, M, G and T are powers of 1024.
    ///
    /// # Errors
    /// The text is no number with or without such a unit, or the number is below 1 byte or is 2^64 bytes or more.
    pub fn parse(text: &str) -> Result<Self, LimitsError> {
        let refused = || LimitsError {
            got: text.chars().take(40).collect(),
        };
        let trimmed = text.trim();
        let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = trimmed.split_at(end.unwrap_or(trimmed.len()));
        let shift = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            "t" | "tb" | "tib" => 40,
            _ => return Err(refused()),
        };
        let number: f64 = number.parse().map_err(|_| refused())?;
        let bytes = number * f64::from(shift).exp2();
        if !(bytes >= 1.0 && bytes < u64::MAX as f64) {
            return Err(refused());
        }
        Ok(Self {
            memory: bytes as u64,
        })
    }
}

impl Default for Limits {
    /// Returns four fifths of the memory that the process may still take, or 16 GiB if the system does not tell. That
    /// memory is the least of three numbers: the computer's available memory, what the control groups leave, and what
    /// the address-space limit leaves.
    fn default() -> Self {
        static LAST: Lately<u64> = Lately::new();
        let left = LAST.get(LATELY, available::memory);
        Self {
            memory: left.map_or(UNKNOWN, |bytes| bytes / SHARE.1 * SHARE.0),
        }
    }
}
