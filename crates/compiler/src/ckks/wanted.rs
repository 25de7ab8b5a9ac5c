// SPDX-License-Identifier: Apache-2.0
//! What is wanted of parameters that the compiler chooses.

use ringmill_schemes::ckks::{SecurityLevel, SecurityTable};

/// What chosen parameters must provide.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wanted {
    /// Bits after the binary point that every output must have, as predicted.
    pub precision_bits: u32,
    /// Outputs hold absolute values below 2 to this at least; more where the program's ranges call for more.
    pub integer_bits: u32,
    pub table: SecurityTable,
    pub level: SecurityLevel,
}

impl Default for Wanted {
    /// 20 bits after the point, the integer bits that the ranges call for, 128-bit security by the 2024 guidelines.
    fn default() -> Self {
        Self {
            precision_bits: 20,
            integer_bits: 0,
            table: SecurityTable::default(),
            level: SecurityLevel::default(),
        }
    }
}
