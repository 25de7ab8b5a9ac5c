// SPDX-License-Identifier: Apache-2.0
//! The row of one vector instruction in the generated table.

use super::op::{Immediate, Unit};

/// The allowed kinds of an operand; none if there is no operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allowed {
    pub chunk: bool,
    pub register: bool,
    pub accumulator: bool,
}

/// One instruction's row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    pub mnemonic: &'static str,
    pub unit: Unit,
    /// The allowed places of the result.
    pub d: Allowed,
    pub a: Allowed,
    pub b: Allowed,
    pub n: Immediate,
    /// Whether the instruction computes modulo a modulus of the table.
    pub modulus: bool,
    /// Whether the instruction adds to the accumulator.
    pub adds: bool,
}

impl Allowed {
    /// Returns whether there is no such operand.
    pub const fn nothing(self) -> bool {
        !self.chunk && !self.register && !self.accumulator
    }
}
