// SPDX-License-Identifier: Apache-2.0
//! What handles stand for, and arithmetic among constants.

use ringmill_isa::macros::MacroValue;

use super::Slot;

/// What a handle stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    Cipher(Home),
    PlainInput(Home),
    /// A constant vector, by its number; its `ENCODE` is emitted at first use, in each procedure anew.
    Vector(u32),
    /// The same real number in every slot.
    Scalar(f64),
}

/// A value, and the frame whose it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Home {
    pub frame: u32,
    pub value: MacroValue,
}

/// A handle's meaning in the innermost frame, without the vectors themselves.
#[derive(Clone, Copy)]
pub(super) enum Sort {
    Cipher(MacroValue),
    PlainInput(MacroValue),
    Constant,
    Scalar(f64),
}

impl Sort {
    pub fn name(self) -> &'static str {
        match self {
            Self::Cipher(_) => "an encrypted vector",
            Self::PlainInput(_) => "a plain vector",
            Self::Constant | Self::Scalar(_) => "a constant",
        }
    }
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
