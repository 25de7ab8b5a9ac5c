// SPDX-License-Identifier: Apache-2.0
//! The annotation of CKKS: what a message is multiplied by before it is rounded.

use ringmill_isa::Level;
use ringmill_isa::macros::{Note, SCALE_TOLERANCE};

use super::error::CkksError;
use crate::file::{FileError, Reader, Writer};
use crate::rlwe::{Annotation, Ciphertext, Params, Plaintext, SeededCiphertext};

/// A finite positive scale.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Scale(pub f64);

impl Scale {
    /// Whether two scales are one but for the rounding of computing them in another order: within the relative
    /// difference that macro programs allow, [`SCALE_TOLERANCE`].
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

    /// The same ciphertext at another scale: the caller answers for its meaning (a rescale whose prime is taken as the
    /// nominal scale, for instance).
    pub fn with_scale(self, scale: f64) -> Self {
        self.with_annotation(Scale(scale))
    }
}

impl SeededCiphertext<Scale> {
    pub fn scale(&self) -> f64 {
        self.annotation().0
    }
}
