// SPDX-License-Identifier: Apache-2.0
//! The row of one vector instruction in the generated table of
//! instructions.

use super::op::{Immediate, Unit};

/// The kinds of place that may hold an operand or the result of an instruction: a chunk of the
/// buffer, a register or the accumulator. If the instruction has no such operand, no kind is
/// allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allowed {
    pub chunk: bool,
    pub register: bool,
    pub accumulator: bool,
}

/// The definition of one instruction of the vector machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    pub mnemonic: &'static str,
    pub unit: Unit,
    /// The kinds of place (chunk, register or accumulator) to which the instruction's result may
    /// go.
    pub d: Allowed,
    pub a: Allowed,
    pub b: Allowed,
    pub n: Immediate,
    /// Whether the instruction computes modulo one of the program's moduli, which its word names.
    pub modulus: bool,
    /// Whether the instruction's result is a sum with the accumulator of the multiply-accumulate unit.
    pub adds: bool,
}

impl Allowed {
    /// Returns true if no kind of place is allowed, because the instruction has no such operand.
    pub const fn nothing(self) -> bool {
        !self.chunk && !self.register && !self.accumulator
    }
}
