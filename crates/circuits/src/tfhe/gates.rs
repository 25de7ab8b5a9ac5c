// SPDX-License-Identifier: Apache-2.0
//! The gates of two bits. Each is a constant plus a factor times the sum of its operands. A bootstrap reads the sign of
//! the result.

/// A gate of two encrypted bits that takes one bootstrap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gate {
    Nand,
    And,
    Or,
    Nor,
    Xor,
    Xnor,
}

/// A gate as a linear sum of its operands a and b: `eighths` / 8 + `factor` (a + b). The operands are 1/8 or -1/8. The
/// gate is true if the sum, reduced modulo 1 to a number from -1/2 to 1/2, is positive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    pub eighths: i8,
    pub factor: i8,
}

impl Gate {
    pub const ALL: [Self; 6] = [
        Self::Nand,
        Self::And,
        Self::Or,
        Self::Nor,
        Self::Xor,
        Self::Xnor,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Nand => "NAND",
            Self::And => "AND",
            Self::Or => "OR",
            Self::Nor => "NOR",
            Self::Xor => "XOR",
            Self::Xnor => "XNOR",
        }
    }

    /// Returns the linear sum of two operands whose sign is the gate's value after the bootstrap.
    pub const fn form(self) -> Form {
        let (eighths, factor) = match self {
            Self::Nand => (1, -1),
            Self::And => (-1, 1),
            Self::Or => (1, 1),
            Self::Nor => (-1, -1),
            Self::Xor => (2, 2),
            Self::Xnor => (-2, -2),
        };
        Form { eighths, factor }
    }

    /// Returns the gate's value for two bits that are not encrypted.
    pub const fn of(self, a: bool, b: bool) -> bool {
        match self {
            Self::Nand => !(a && b),
            Self::And => a && b,
            Self::Or => a || b,
            Self::Nor => !(a || b),
            Self::Xor => a != b,
            Self::Xnor => a == b,
        }
    }
}
