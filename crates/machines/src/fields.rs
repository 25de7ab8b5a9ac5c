// SPDX-License-Identifier: Apache-2.0
//! Checks for fields that several kinds of descriptions have, with their error messages.
#![deny(clippy::arithmetic_side_effects)]

use serde::{Deserialize, Serialize};

use crate::MachineError;

/// Returns [`MachineError::Field`] with the value `got` and the text `expected` if `holds` is
/// false.
pub(crate) fn ensure(
    holds: bool,
    field: &'static str,
    got: impl ToString,
    expected: impl Into<String>,
) -> Result<(), MachineError> {
    if holds {
        return Ok(());
    }
    Err(MachineError::Field {
        field,
        got: got.to_string(),
        expected: expected.into(),
    })
}

pub(crate) fn range(field: &'static str, got: u64, min: u64, max: u64) -> Result<(), MachineError> {
    let expected = format!("{min} to {max}");
    ensure((min..=max).contains(&got), field, got, expected)
}

pub(crate) fn float(field: &'static str, got: f64, min: f64, max: f64) -> Result<(), MachineError> {
    let expected = format!("{min} to {max}");
    ensure((min..=max).contains(&got), field, got, expected)
}

/// Checks a machine's name, which reports show: 1 to 64 ASCII letters, digits, `-`, `_` or `.`.
pub(crate) fn name(got: &str) -> Result<(), MachineError> {
    let named = (1..=64).contains(&got.len())
        && got
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let expected = "1 to 64 letters, digits, `-`, `_` or `.`";
    ensure(named, "name", got, expected)
}

pub(crate) fn clock_mhz(got: f64) -> Result<(), MachineError> {
    float("clock_mhz", got, 1.0, 10_000.0)
}

/// The link between the host and a card. It carries data in one direction at a time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLink {
    /// The rate that the link reaches, in 10^9 bits per second.
    pub gbit_per_second: f64,
}

impl HostLink {
    pub(crate) fn check(&self) -> Result<(), MachineError> {
        let rate = self.gbit_per_second;
        float("link.gbit_per_second", rate, 0.001, 100_000.0)
    }

    /// Returns the seconds in which `bytes` cross the link.
    pub fn seconds(&self, bytes: u64) -> f64 {
        bytes as f64 * 8.0 / (self.gbit_per_second * 1e9)
    }
}
