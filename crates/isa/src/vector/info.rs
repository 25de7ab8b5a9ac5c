// SPDX-License-Identifier: Apache-2.0
//! What the definition file says of one instruction, in the shape that the generated table holds it.

use super::op::{Immediate, Unit};

/// Kinds that an operand may be; none where there is no operand.
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
    /// Where the result may go.
    pub d: Allowed,
    pub a: Allowed,
    pub b: Allowed,
    pub n: Immediate,
    /// Whether it computes modulo a modulus of the table.
    pub modulus: bool,
    /// Whether it adds to the accumulator.
    pub adds: bool,
}

impl Allowed {
    /// Whether there is no such operand.
    pub const fn nothing(self) -> bool {
        !self.chunk && !self.register && !self.accumulator
    }
}
