// SPDX-License-Identifier: Apache-2.0
//! Macro operations that are linear over the real numbers in every slot.

/// A macro operation whose result in each slot is a linear function, over the real numbers, of the
/// operand's slot. In `crates/isa/defs/macro.toml` such an operation has the word `linear` in the
/// column `message`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linear {
    /// The operation `NEG`, which negates each slot.
    Neg,
    /// The operation `CONJ`, which takes the complex conjugate of each slot.
    Conj,
    /// The operation `TWOREAL`, which takes twice the real part of each slot.
    Tworeal,
}

/// The result of a linear operation on one slot: the slot's number times a factor, its complex
/// conjugate times a factor, or the sum of both.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Terms {
    Slot(f64),
    Conjugate(f64),
    Both { slot: f64, conjugate: f64 },
}

impl Linear {
    pub const fn terms(self) -> Terms {
        match self {
            Self::Neg => Terms::Slot(-1.0),
            Self::Conj => Terms::Conjugate(1.0),
            Self::Tworeal => Terms::Both {
                slot: 1.0,
                conjugate: 1.0,
            },
        }
    }
}
