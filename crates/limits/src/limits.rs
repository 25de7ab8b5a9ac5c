// SPDX-License-Identifier: Apache-2.0
//! What a user sets, and what holds where nothing is set: the one place of defaults.

use std::env;
use std::time::Duration;

use crate::available;
use crate::lately::Lately;

/// Of the memory that the process may still take, what one piece of work may take.
const SHARE: (u64, u64) = (4, 5);
/// Where the system does not say what there is.
const UNKNOWN: u64 = 16 << 30;
/// How long what the system said holds.
const LATELY: Duration = Duration::from_millis(200);

/// Bounds on what one piece of work (reading a file, compiling, making keys, a run) may take.
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
    /// Bytes of memory, beyond what the process has when the work begins.
    pub memory: u64,
}

/// A limit that is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a memory limit is a positive number of bytes with or without K, M, G or T behind it (powers of 1024), as in 4G or 512MiB, not {got:?}"
)]
pub struct LimitsError {
    pub got: String,
}

impl Limits {
    /// The environment variable that sets the limit where nothing else does.
    pub const VARIABLE: &'static str = "RINGMILL_MAX_MEMORY";

    /// [`Limits::VARIABLE`] if it is set, otherwise the defaults.
    ///
    /// # Errors
    /// A variable that holds no size.
    pub fn from_environment() -> Result<Self, LimitsError> {
        match env::var_os(Self::VARIABLE) {
            Some(text) => Self::parse(&text.to_string_lossy()),
            None => Ok(Self::default()),
        }
    }

    /// A number of bytes, with or without a unit of 1024: `4G`, `512MiB`, `1.5 GB`.
    ///
    /// # Errors
    /// Anything else, and nothing.
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
    /// Four fifths of the memory that the process may still take, or 16 GiB if the system does not say. That memory is the
    /// least of three numbers: the computer's available memory, what the control groups leave, and what the address-space
    /// limit leaves.
    fn default() -> Self {
        static LAST: Lately<u64> = Lately::new();
        let left = LAST.get(LATELY, available::memory);
        Self {
            memory: left.map_or(UNKNOWN, |bytes| bytes / SHARE.1 * SHARE.0),
        }
    }
}
