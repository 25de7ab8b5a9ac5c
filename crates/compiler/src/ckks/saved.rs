//! CKKS programs in files.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use std::sync::Arc;

use num_complex::Complex64;
use ringmill_isa::macros::MacroProgram;
use ringmill_schemes::ckks::file::{self, Accepted, FileError};
use ringmill_schemes::ckks::{Ckks, Params};
use serde::{Deserialize, Serialize};

use super::{InputRange, values};
use crate::saved::{self, Exact, Saves};
pub use crate::saved::{SavedError, arrays, print, print_with_sample};

/// How a saved CKKS program was compiled.
pub type Recipe = saved::Recipe<Ckks>;

/// [`saved::parse`] of a CKKS program.
///
/// # Errors
/// As there.
pub fn parse(
    text: &str,
    accepted: impl Into<Accepted>,
) -> Result<Option<(MacroProgram, Recipe)>, SavedError> {
    saved::parse::<Ckks>(text, accepted)
}

impl Saves for Ckks {
    type KeptRange = KeptRange;
    type KeptSlot = KeptSlot;

    fn keep_range(range: &InputRange) -> KeptRange {
        (*range).into()
    }

    fn range_of(kept: KeptRange) -> Option<InputRange> {
        Some(kept.into())
    }

    fn keep_message(message: &Vec<Complex64>) -> Vec<KeptSlot> {
        message.iter().map(|&z| z.into()).collect()
    }

    fn message_of(kept: Vec<KeptSlot>) -> Vec<Complex64> {
        kept.into_iter().map(Complex64::from).collect()
    }

    fn range_by(sample: &Vec<Complex64>, margin: f64) -> InputRange {
        InputRange::Disc {
            radius: values::as_large(sample, margin),
        }
    }

    fn narrowed(range: &InputRange) -> InputRange {
        values::narrowed(*range)
    }

    fn write_params(params: &Params) -> Vec<u8> {
        file::write_params(params)
    }

    fn read_params(bytes: &[u8], accepted: Accepted) -> Result<Arc<Params>, FileError> {
        file::read_params(bytes, accepted)
    }
}

/// One number for a radius, two for the ends.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KeptRange {
    Disc(Exact),
    Real([Exact; 2]),
}

impl From<InputRange> for KeptRange {
    fn from(range: InputRange) -> Self {
        match range {
            InputRange::Disc { radius } => Self::Disc(Exact(radius)),
            InputRange::Real { lowest, highest } => Self::Real([Exact(lowest), Exact(highest)]),
        }
    }
}

impl From<KeptRange> for InputRange {
    fn from(range: KeptRange) -> Self {
        match range {
            KeptRange::Disc(Exact(radius)) => Self::Disc { radius },
            KeptRange::Real([Exact(lowest), Exact(highest)]) => Self::Real { lowest, highest },
        }
    }
}

/// A slot of a sample: most are real.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KeptSlot {
    Real(Exact),
    Complex([Exact; 2]),
}

impl From<Complex64> for KeptSlot {
    fn from(z: Complex64) -> Self {
        if z.im.to_bits() == 0 {
            Self::Real(Exact(z.re))
        } else {
            Self::Complex([Exact(z.re), Exact(z.im)])
        }
    }
}

impl From<KeptSlot> for Complex64 {
    fn from(slot: KeptSlot) -> Self {
        match slot {
            KeptSlot::Real(Exact(re)) => Self::new(re, 0.0),
            KeptSlot::Complex([Exact(re), Exact(im)]) => Self::new(re, im),
        }
    }
}
