// SPDX-License-Identifier: Apache-2.0
//! Operations that are linear in every slot, over the real numbers.

/// What an operation of the message `linear` makes of a slot, each by its mnemonic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linear {
    /// `NEG`: the opposite.
    Neg,
    /// `CONJ`: the complex conjugate.
    Conj,
    /// `TWOREAL`: twice the real part.
    Tworeal,
}

/// A whole number times the slot, another times its complex conjugate, or both.
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
