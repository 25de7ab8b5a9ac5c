// SPDX-License-Identifier: Apache-2.0
//! The demands that CKKS parameters must meet when the compiler chooses them.

use ringmill_schemes::ckks::{SecurityLevel, SecurityTable};

use crate::accuracy::Accuracy;

/// The demands on CKKS parameters that the compiler chooses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wanted {
    /// The accuracy that every output must have, by prediction.
    pub accuracy: Accuracy,
    /// The integer bits that every output must hold at least: absolute values below 2^`integer_bits`. The program's
    /// ranges may call for more.
    pub integer_bits: u32,
    pub table: SecurityTable,
    pub level: SecurityLevel,
    /// Whether values may be bootstrapped if no parameters have enough levels.
    pub bootstrapping: bool,
}

impl Default for Wanted {
    /// Asks for six digits, the integer bits that the ranges call for, and 128-bit security by the 2024 guidelines.
    /// Values may be bootstrapped.
    fn default() -> Self {
        Self {
            accuracy: Accuracy::DEFAULT,
            integer_bits: 0,
            table: SecurityTable::default(),
            level: SecurityLevel::default(),
            bootstrapping: true,
        }
    }
}
