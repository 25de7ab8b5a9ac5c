// SPDX-License-Identifier: Apache-2.0
//! The errors of bootstrapping. Most messages name the expected value, the value found and a cure.

use ringmill_isa::{Galois, Level};
use ringmill_math::digits::DigitError;
use ringmill_math::slots::SlotError;
use thiserror::Error;

use crate::bgv::BgvError;
use crate::rlwe::RlweError;

/// The error of an input that bootstrapping, or a layer below it, refuses.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BootstrapError {
    #[error(transparent)]
    Bgv(#[from] BgvError),
    #[error(transparent)]
    Slots(#[from] SlotError),
    #[error(transparent)]
    Digits(#[from] DigitError),
    #[error(
        "these parameters do not bootstrap: {reason}; build them with further plaintext moduli, p^(r+1) to p^e, and enough primes"
    )]
    Parameters { reason: String },
    #[error(
        "the encapsulated secret is insecure: {reason}; use a larger weight, a larger ring degree, or smaller primes at the lowest levels"
    )]
    Secret { reason: String },
    #[error(
        "a bootstrap fails with a chance of 2^{log2:.1}, above 2^{allowed:.1}; use a larger e or a smaller weight"
    )]
    Chance { log2: f64, allowed: f64 },
    #[error(
        "the ciphertext is at level {got}, expected {needed} or above: no noise is left to bootstrap with; bootstrap earlier"
    )]
    NoLevel { got: Level, needed: Level },
    #[error(
        "after {step} no noise is sure to be left at level {level}; use parameters with more primes"
    )]
    NoRoom { step: &'static str, level: Level },
    #[error(
        "the bootstrapping keys lack the Galois key of element {0}; make them with BootstrapKeys::generate for these parameters"
    )]
    MissingKey(Galois),
}

impl From<RlweError> for BootstrapError {
    fn from(e: RlweError) -> Self {
        Self::Bgv(e.into())
    }
}

impl From<ringmill_math::MathError> for BootstrapError {
    fn from(e: ringmill_math::MathError) -> Self {
        Self::Bgv(e.into())
    }
}

impl From<crate::exact::ExactError> for BootstrapError {
    fn from(e: crate::exact::ExactError) -> Self {
        Self::Bgv(e.into())
    }
}
