// SPDX-License-Identifier: Apache-2.0
//! The word of a program's author about a value inside the program, and the error for data that break it.

use num_complex::Complex64;
use ringmill_isa::macros::Interval;
use ringmill_isa::source::SourceLoc;
use thiserror::Error;

use crate::line::At;

/// A word about a value, and the line that says it.
#[derive(Clone, PartialEq, Debug)]
pub struct Assumption {
    pub interval: Interval,
    pub loc: Option<SourceLoc>,
}

/// A value that is not where the program says.
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
