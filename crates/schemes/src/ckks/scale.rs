// SPDX-License-Identifier: Apache-2.0
//! The annotation of CKKS values: the scale by which a message is multiplied before it is rounded to integers.

use ringmill_isa::Level;
use ringmill_isa::macros::{Note, SCALE_TOLERANCE};

use super::error::CkksError;
use crate::file::{FileError, Reader, Writer};
use crate::rlwe::{Annotation, Ciphertext, Params, Plaintext};

/// The scale of a CKKS value, a finite positive number. [`Annotation::check`] refuses any other.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Scale(pub f64);

impl Scale {
    /// Returns whether two scales are equal, apart from floating-point rounding in another order of computation.
    /// They are if their relative difference is within [`SCALE_TOLERANCE`], which macro programs allow.
    pub fn agrees(self, other: Self) -> bool {
        (self.0 / other.0 - 1.0).abs() <= SCALE_TOLERANCE
    }
}

impl From<f64> for Scale {
    fn from(scale: f64) -> Self {
        Self(scale)
    }
}

impl Annotation for Scale {
    type Error = CkksError;
    const FILE_BYTES: usize = 8;

    fn check(&self, params: &Params, level: Level) -> Result<(), CkksError> {
        if self.0.is_finite() && self.0 > 0.0 {
            return Ok(());
        }
        Err(CkksError::Scale {
            got: self.0,
            max_log2: params.log_q(level),
        })
    }

    fn note(&self) -> Note {
        Note::Scale(self.0)
    }

    fn of_note(note: Note) -> Option<Self> {
        match note {
            Note::Scale(scale) => Some(Self(scale)),
            Note::Bare | Note::Factor(_) => None,
        }
    }

    fn write(&self, to: &mut Writer) {
        to.f64(self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, FileError> {
        Ok(Self(from.f64()?))
    }
}

impl Plaintext<Scale> {
    pub fn scale(&self) -> f64 {
        self.annotation().0
    }
}

impl Ciphertext<Scale> {
    pub fn scale(&self) -> f64 {
        self.annotation().0
    }

    /// Returns the ciphertext with another scale, which changes the numbers in its slots. The caller ensures that
    /// the new numbers are the intended ones. An example is a rescaling by a prime that counts as a division by the
    /// nominal scale.
    pub fn with_scale(self, scale: f64) -> Self {
        self.with_annotation(Scale(scale))
    }
}
