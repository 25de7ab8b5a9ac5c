// SPDX-License-Identifier: Apache-2.0
//! Bounds that a program's author declares for a value inside the program (`rm.bounded`), and the error
//! for data outside them.

use num_complex::Complex64;
use ringmill_isa::macros::Interval;
use ringmill_isa::source::SourceLoc;
use thiserror::Error;

use crate::line::At;

/// A bound that a program's author declares for a value, with the line of the declaration.
#[derive(Clone, PartialEq, Debug)]
pub struct Assumption {
    pub interval: Interval,
    pub loc: Option<SourceLoc>,
}

/// The error for data that make a value lie outside its declared bound.
#[derive(Clone, PartialEq, Debug, Error)]
#[error(
    "{}rm.bounded says that values here are {}, and slot {slot} is {}; give ends that hold the value, or other data",
    At(assumption.loc.clone()), assumption.interval, shown(*value)
)]
pub struct Broken {
    pub assumption: Assumption,
    pub slot: usize,
    pub value: Complex64,
}

fn shown(value: Complex64) -> String {
    match value.im == 0.0 {
        true => format!("{:?}", value.re),
        false => format!("{:?}{:+?}i", value.re, value.im),
    }
}
