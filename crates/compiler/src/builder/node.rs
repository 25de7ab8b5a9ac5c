//! What handles stand for, and arithmetic among constants.

use ringmill_isa::macros::MacroValue;

use super::Slot;

/// What a handle stands for.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Cipher(MacroValue),
    PlainInput(MacroValue),
    /// A constant vector; its `ENCODE` is emitted at first use.
    Vector {
        values: Vec<Slot>,
        encoded: Option<MacroValue>,
    },
    /// The same real number in every slot.
    Scalar(f64),
}

/// A handle's meaning without the vectors themselves.
#[derive(Clone, Copy)]
pub(super) enum Sort {
    Cipher(MacroValue),
    PlainInput(MacroValue),
    Constant,
    Scalar(f64),
}

/// The two-operand operations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
}

impl Binary {
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "addition",
            Self::Sub => "subtraction",
            Self::Mul => "multiplication",
        }
    }

    pub fn on(self, (a, b): Slot, (c, d): Slot) -> Slot {
        match self {
            Self::Add => (a + c, b + d),
            Self::Sub => (a - c, b - d),
            Self::Mul => (a * c - b * d, a * d + b * c),
        }
    }
}
