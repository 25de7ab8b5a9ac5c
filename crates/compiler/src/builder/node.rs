// SPDX-License-Identifier: Apache-2.0
//! The values that handles of a trace stand for, and arithmetic among constants.

use ringmill_isa::macros::MacroValue;

use super::Slot;

/// The value that a handle stands for: a value of a frame, a constant vector, or a constant number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    Cipher(Home),
    PlainInput(Home),
    /// A constant vector, by its number. Its `ENCODE` is emitted at a use, unless the vector's last `ENCODE` is in the
    /// same frame.
    Vector(u32),
    /// A real number, the same in every slot.
    Scalar(f64),
}

/// A macro value with the frame that it is a value of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Home {
    pub frame: u32,
    pub value: MacroValue,
}

/// The kind of value that a handle stands for in the innermost frame. A constant vector is named
/// without its slots.
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

/// An operation of two operands: sum, difference or product.
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
